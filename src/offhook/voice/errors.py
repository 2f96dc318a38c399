"""Errors of a turn on our side of the models."""


class EmptyTurn(Exception):
    """The model answered with neither words nor a tool call, twice."""


class AllModelsFailed(Exception):
    """Every configured model of one kind failed; ``last`` is the last failure."""

    def __init__(self, kind: str, last: Exception | None = None) -> None:
        super().__init__(f"every {kind} failed: {last}")
        self.kind = kind
        self.last = last
