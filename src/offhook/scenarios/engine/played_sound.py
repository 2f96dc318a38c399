"""What was heard of a scenario that was played with sound. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from offhook.kit.json_values import JsonObject


@dataclass(frozen=True, slots=True)
class HeardAnswer:
    """A silence between the caller's last sound and the agent's first. ``turn`` is the place in the scenario's turns."""

    silence_ms: int
    turn: int | None


@dataclass(frozen=True, slots=True)
class HeardInterruption:
    """The caller spoke while the agent did. ``yield_ms`` is how long the agent went on; None when it did not stop."""

    yield_ms: int | None
    turn: int | None


@dataclass(frozen=True, slots=True)
class PlayedSound:
    """``recording`` is a WAV file with the caller left and the agent right, ``hash`` that of its bytes. ``began_at_s`` has
    for each turn of the conversation, beginning with the greeting, when it began in the recording. ``talk_overs`` are the
    turns in which the agent began to speak while the caller did."""

    recording: Path
    hash: str
    began_at_s: Sequence[float]
    answers: Sequence[HeardAnswer] = ()
    interruptions: Sequence[HeardInterruption] = ()
    talk_overs: Sequence[int | None] = ()

    def as_json(self) -> JsonObject:
        silences = [answer.silence_ms for answer in self.answers]
        yields = [found.yield_ms for found in self.interruptions if found.yield_ms is not None]
        return {
            "recording_hash": self.hash,
            "began_at_s": list(self.began_at_s),
            "answers": len(silences),
            "mean_answer_ms": round(sum(silences) / len(silences)) if silences else None,
            "max_answer_ms": max(silences, default=None),
            "interruptions": len(self.interruptions),
            "yields": len(yields),
            "max_yield_ms": max(yields, default=None),
            "talk_overs": len(self.talk_overs),
        }
