"""Domain events of telephony for the domains above it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CallEnded:
    """A carrier reports that the telephone leg of a run has ended; ``status`` is the run's final state."""

    organization_id: int
    run_id: int
    status: str
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class OutcomeCorrected:
    """A carrier reports after the end of a call that a machine answered: the run that counted as answered is a
    voicemail."""

    organization_id: int
    run_id: int


@dataclass(frozen=True, slots=True)
class CallStreamEnded:
    """A carrier reports that the stream of a call to ``media_url`` has ended, for whatever reason."""

    organization_id: int
    run_id: int
    media_url: str
