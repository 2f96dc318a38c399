"""What a recording of a play shows: how long answers took, how soon the agent stopped, and when it talked over the caller."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from offhook.runs.strips.answer_times import Burst, find_answers, read_speech
from offhook.scenarios.engine.played_sound import HeardAnswer, HeardInterruption, PlayedSound
from offhook.scenarios.sound.caller import CallerAct
from offhook.voice import events
from offhook.voice.events import VoiceEvent

# An agent that stops later than this after the caller has spoken has not stopped because of it.
MAX_YIELD_S: Final = 2.0
# The edge of the caller's own speech, where nobody would say that one spoke over the other.
EDGE_S: Final = 0.1


def measure_sound(path: Path, acts: Sequence[CallerAct], journal: Sequence[VoiceEvent]) -> PlayedSound:
    """Measures a recording. Raises OSError when it cannot be read."""
    with path.open("rb") as file:
        caller, agent = read_speech(file) or ([], [])
    spoken = [act for act in acts if act.spoken_s is not None and not act.is_interruption]
    return PlayedSound(
        recording=path,
        hash=sha256(path.read_bytes()).hexdigest(),
        began_at_s=[round(act.began_s, 3) for act in acts],
        answers=[
            HeardAnswer(answer.silence_ms, _act_at(acts, answer.caller_stopped_s).turn)
            for answer in find_answers(caller, agent)
        ],
        interruptions=[_measure_interruption(act, agent, journal) for act in acts if act.is_interruption],
        talk_overs=[act.turn for act in acts if _is_talked_over(act, agent)],
        turns=len(spoken),
        answered=sum(_is_answered(act, acts, agent) for act in spoken),
    )


def _act_at(acts: Sequence[CallerAct], at_s: float) -> CallerAct:
    return [act for act in acts if act.began_s <= at_s or act.move is None][-1]


def _measure_interruption(act: CallerAct, agent: Sequence[Burst], journal: Sequence[VoiceEvent]) -> HeardInterruption:
    until_s = (act.spoken_s[1] if act.spoken_s is not None else act.began_s) + MAX_YIELD_S
    has_yielded = any(event.type == events.BARGED_IN and act.began_s <= event.at_s <= until_s for event in journal)
    stopped_s = next((end for _, end in agent if end >= act.began_s), act.began_s)
    return HeardInterruption(round((stopped_s - act.began_s) * 1000) if has_yielded else None, act.turn)


def _is_answered(act: CallerAct, acts: Sequence[CallerAct], agent: Sequence[Burst]) -> bool:
    """Returns whether the agent began to speak between this turn and the next one of the caller."""
    assert act.spoken_s is not None
    ended_s = act.spoken_s[1]
    next_s = min((other.began_s for other in acts if other.began_s > act.began_s), default=float("inf"))
    return any(ended_s - EDGE_S <= start < next_s for start, _ in agent)


def _is_talked_over(act: CallerAct, agent: Sequence[Burst]) -> bool:
    if act.spoken_s is None:
        return False
    began_s, ended_s = act.spoken_s
    return any(began_s + EDGE_S < start < ended_s - EDGE_S for start, _ in agent)
