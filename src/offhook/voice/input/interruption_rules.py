"""Decides what speech over the agent means: an interruption, or something to talk on through."""

from dataclasses import dataclass, replace
from enum import Enum
from typing import Final, Literal

from offhook.voice.input.sound_evidence import SoundEvidence
from offhook.voice.input.spoken_signals import SpeechSignal, SpokenLexicon

TurnTaking = Literal["eager", "balanced", "patient"]
# A breath, a cough, a sneeze: hardly any of it has a pitch. The sneeze has nearly all of its energy above 1.2 kHz.
MAX_BREATH_VOICING: Final = 0.4
# Somebody who has turned away from the handset is quieter and duller than when they spoke to the agent.
MIN_DISTANCE_DB: Final = 4.0
MIN_DULLNESS_DB: Final = 4.0


class InterruptionVerdict(Enum):
    """``WAIT``: lowered voice, no decision yet; ``HOLD``: silent, no decision yet."""

    WAIT = "wait"
    HOLD = "hold"
    TALK_ON = "talked_on"
    YIELD = "yielded"


@dataclass(frozen=True, slots=True)
class InterruptionTimes:
    """Seconds from the beginning of speech: ``react_s`` until the agent lowers its voice, ``hold_s`` until it is
    silent, ``decide_s`` until sound that has ended is taken for a listening sound. ``min_words``: words that are in no
    lexicon and interrupt. ``resume_s``: silence after which speech that was never recognized is given up.
    """

    react_s: float
    hold_s: float
    decide_s: float
    min_words: int
    resume_s: float = 0.6

    def with_reaction(self, react_s: float | None) -> "InterruptionTimes":
        """Returns these times with the reaction that the agent's settings ask for, if any."""
        if react_s is None:
            return self
        later = max(0.0, react_s - self.react_s)
        return replace(self, react_s=react_s, hold_s=self.hold_s + later, decide_s=self.decide_s + later)


TIMES: Final[dict[TurnTaking, InterruptionTimes]] = {
    "eager": InterruptionTimes(react_s=0.1, hold_s=0.14, decide_s=0.34, min_words=1),
    "balanced": InterruptionTimes(react_s=0.12, hold_s=0.32, decide_s=0.5, min_words=1),
    "patient": InterruptionTimes(react_s=0.15, hold_s=9.0, decide_s=9.0, min_words=2),
}


@dataclass(slots=True)
class SpeechOverlap:
    """What is known of the speech over the agent. Seconds; ``age_s`` counts from its beginning, ``quiet_s`` since its
    last sound. ``is_answer_due``: the agent asked something with the sentence that it speaks.
    """

    text: str = ""
    age_s: float = 0.0
    quiet_s: float = 0.0
    sound: SoundEvidence | None = None
    distance_db: float = 0.0
    dullness_db: float = 0.0
    is_answer_due: bool = False
    agent_text: str = ""


class InterruptionRules:
    """The rules of one call; ``stop_words`` are the agent's own words that always interrupt."""

    def __init__(self, times: InterruptionTimes, lexicon: SpokenLexicon, stop_words: tuple[str, ...] = ()) -> None:
        self.times = times
        self.lexicon = lexicon
        self._stop_words = stop_words

    def judge(self, overlap: SpeechOverlap) -> tuple[InterruptionVerdict, str]:
        """Returns the verdict and its reason."""
        signal = self.lexicon.classify(overlap.text, agent_text=overlap.agent_text, stop_words=self._stop_words)
        if signal is not SpeechSignal.NONE:
            return self._judge_words(overlap, signal)
        return self._judge_sound(overlap)

    def is_ignorable(self, text: str, *, is_answer_due: bool, agent_text: str) -> str:
        """Returns why a whole turn that was said over the agent needs no answer; empty if it needs one."""
        overlap = SpeechOverlap(text=text, is_answer_due=is_answer_due, agent_text=agent_text)
        verdict, reason = self.judge(overlap)
        return reason if verdict is not InterruptionVerdict.YIELD and text else ""

    def _judge_words(self, overlap: SpeechOverlap, signal: SpeechSignal) -> tuple[InterruptionVerdict, str]:
        if signal is SpeechSignal.COMMAND:
            return InterruptionVerdict.YIELD, signal.value
        if signal is SpeechSignal.BACKCHANNEL and overlap.is_answer_due and self.lexicon.is_answer(overlap.text):
            return InterruptionVerdict.YIELD, "answer"
        if signal is not SpeechSignal.WORDS:
            return InterruptionVerdict.TALK_ON, signal.value
        if _is_distant(overlap):
            return InterruptionVerdict.TALK_ON, "turned_away"
        count = len(self.lexicon.split(overlap.text))
        if self.lexicon.may_become_aside(overlap.text) and overlap.quiet_s < 0.5:
            return self._judge_sound(overlap)[0], "unclear_words"
        if count < self.times.min_words and not overlap.is_answer_due:
            return InterruptionVerdict.WAIT, "too_few_words"
        return InterruptionVerdict.YIELD, "answer" if overlap.is_answer_due else signal.value

    def _judge_sound(self, overlap: SpeechOverlap) -> tuple[InterruptionVerdict, str]:
        times, sound = self.times, overlap.sound
        if _is_distant(overlap):
            return InterruptionVerdict.TALK_ON, "turned_away"
        if sound is not None and sound.voiced < MAX_BREATH_VOICING:
            return InterruptionVerdict.TALK_ON, "no_voice"
        if overlap.quiet_s > 0.1 and overlap.age_s - overlap.quiet_s < times.decide_s:
            return InterruptionVerdict.TALK_ON, "short_sound"
        if overlap.quiet_s >= times.resume_s:
            return InterruptionVerdict.TALK_ON, "no_words"
        return (
            (InterruptionVerdict.HOLD, "speech")
            if overlap.age_s >= times.hold_s
            else (InterruptionVerdict.WAIT, "sound")
        )


def _is_distant(overlap: SpeechOverlap) -> bool:
    return overlap.distance_db >= MIN_DISTANCE_DB and overlap.dullness_db >= MIN_DULLNESS_DB
