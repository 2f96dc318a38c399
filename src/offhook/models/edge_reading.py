"""The port to the model that reads which edge of a step an answer means, and which fact answers a question; another room
brings the model.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

# Asked where the edges are facts, of which one may answer what was heard: as in training.
ASKS_FACT: Final = "Which fact answers the caller?"


@dataclass(frozen=True, slots=True)
class EdgeText:
    """What an author wrote of an edge. ``examples`` are those that are to be read, the nearest to the answer first."""

    label: str
    condition: str = ""
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerToRead:
    """A caller's answer to what an agent asked, and the edges that it can mean. ``is_second``: for the second model, which
    learned facts, and answers that are near an edge and do not mean it."""

    asked: str
    heard: str
    edges: tuple[EdgeText, ...]
    is_second: bool = False


# The probability of each edge in their order, and at the end that of none of them; together 1.
EdgeOdds: TypeAlias = tuple[float, ...]
ReadEdges: TypeAlias = Callable[[AnswerToRead], Awaitable[EdgeOdds]]


class EdgeReader:
    """Implements ReadEdges with the function that was connected. One per process."""

    def __init__(self) -> None:
        self._read: ReadEdges | None = None

    def connect(self, read: ReadEdges) -> None:
        self._read = read

    async def __call__(self, answer: AnswerToRead) -> EdgeOdds:
        """Returns the odds of the edges; raises LookupError while no model is connected."""
        if self._read is None:
            raise LookupError("no model that reads edges is connected")
        return await self._read(answer)
