"""Where the panel's measures are lost: one row for each event, and their counts by kind, outcome and reason."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final

from bench.turns.call import PanelCall, Stimulus
from offhook.kit.audio import FRAME_S
from offhook.voice import events

# Decisions that are made this long after a stimulus still belong to it.
DECISION_S: Final = 2.5


@dataclass(slots=True)
class EventRow:
    """One stimulus and what came of it. Seconds; ``silent_after_s`` from its start to the agent's silence,
    ``silence_s`` how long that lasted. ``reasons``: each decision with the seconds from the start.
    """

    voice: str
    noise_db: float | None
    kind: str
    text: str
    over: bool
    is_distant: bool
    at_s: float
    seconds: float
    is_right: bool
    silent_after_s: float | None
    silence_s: float | None
    reasons: list[str]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def describe_event(call: PanelCall, stimulus: Stimulus, *, is_right: bool, silent: int, begun: int | None) -> EventRow:
    """``silent`` and ``begun``: frames at which the agent fell silent and spoke again."""
    at_s, until_s = stimulus.start * FRAME_S, stimulus.end * FRAME_S + DECISION_S
    reasons = []
    for event in call.sink.events:
        if event.type == events.INTERRUPTION_JUDGED and at_s <= event.at_s < until_s:
            reasons.append(f"{event.data['decision']}:{event.data['reason']}@{event.at_s - at_s:.2f}")
        elif event.type == events.CALLER_SAID and at_s <= event.at_s < until_s:
            reasons.append(f"said:{event.data.get('ignored', '')}@{event.at_s - at_s:.2f}")
    return EventRow(
        voice=call.voice_name,
        noise_db=call.noise_db,
        kind=stimulus.kind,
        text=stimulus.text,
        over=stimulus.over,
        is_distant=stimulus.is_distant,
        at_s=round(at_s, 2),
        seconds=round((stimulus.end - stimulus.start) * FRAME_S, 2),
        is_right=is_right,
        silent_after_s=round((silent - stimulus.start) * FRAME_S, 2) if stimulus.over else None,
        silence_s=round((begun - silent) * FRAME_S, 2) if stimulus.over and begun is not None else None,
        reasons=reasons,
    )


def count_reasons(rows: Iterable[EventRow]) -> dict[str, dict[str, int]]:
    """Returns, for each kind of event and whether it went right, how often each first reason was given."""
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        name = f"{row.kind}{'' if row.over else ' (silent line)'} {'right' if row.is_right else 'wrong'}"
        reason = row.reasons[0].partition("@")[0] if row.reasons else "none"
        counts.setdefault(name, Counter())[reason] += 1
    return {name: dict(found.most_common()) for name, found in sorted(counts.items())}
