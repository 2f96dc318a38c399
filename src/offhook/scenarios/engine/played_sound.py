"""What was heard of a scenario that was played with sound. Pure."""

from collections.abc import Mapping, Sequence
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
    turns in which the agent began to speak while the caller did. ``turns`` counts what the caller said while the agent was
    silent, and ``answered`` those of them that were answered before the caller spoke again."""

    recording: Path
    hash: str
    began_at_s: Sequence[float]
    answers: Sequence[HeardAnswer] = ()
    interruptions: Sequence[HeardInterruption] = ()
    talk_overs: Sequence[int | None] = ()
    turns: int = 0
    answered: int = 0

    def panel(self) -> Mapping[str, float | None]:
        """Returns the figures of turn-taking that can be measured; None where there is nothing to measure."""
        silences = [answer.silence_ms for answer in self.answers]
        yields = [found.yield_ms for found in self.interruptions if found.yield_ms is not None]
        spoken = self.turns + len(self.interruptions)
        return {
            "L_R": round(sum(silences) / len(silences) / 1000, 3) if silences else None,
            "R_R": round(self.answered / self.turns, 3) if self.turns else None,
            "L_Y": round(sum(yields) / len(yields) / 1000, 3) if yields else None,
            "R_Y": round(len(yields) / len(self.interruptions), 3) if self.interruptions else None,
            "I_A": round(len(self.talk_overs) / spoken, 3) if spoken else None,
        }

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
            "panel": dict(self.panel()),
        }
