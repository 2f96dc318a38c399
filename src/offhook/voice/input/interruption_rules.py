"""Decides what speech over the agent means: an interruption, or something to talk on through."""

from dataclasses import dataclass, replace
from enum import Enum
from typing import Final, Literal

from offhook.voice.input.sound_evidence import SoundEvidence
from offhook.voice.input.spoken_signals import SpeechSignal, SpokenLexicon

TurnTaking = Literal["eager", "balanced", "patient"]
# A breath, a cough, a sneeze: hardly any of it has a pitch. The sneeze has nearly all of its energy above 1.2 kHz.
MAX_BREATH_VOICING: Final = 0.4
# Someone who has turned away from the handset is quieter than when they spoke to the agent, and duller: words differ
# in how dull they are, so that loudness counts for more.
MIN_DISTANCE_DB: Final = 4.0
MIN_DULLNESS_DB: Final = 3.0
FAR_DB: Final = 6.0
MIN_FAR_DULLNESS_DB: Final = 1.0
# The same where the words were too quiet for the voice detector.
FAINT_DB: Final = 5.0
# A listening sound is drawn out: its spectrum changes less than that of the beginning of a sentence.
MAX_DRAWN_OUT_DB: Final = 2.4
MAX_HUM: Final = 0.6
# Speech that may be so by its first syllable is heard for longer before a silence.
EARLY_FAR_DB: Final = 5.0
# Silence after which sound has ended: one window of the voice detector.
END_S: Final = 0.03
# Without interim words, longer sound is an interruption until its words are known.
MAX_SHORT_S: Final = 0.5
# Words like "one" can become "one second" for so long after the last sound.
UNCLEAR_S: Final = 0.5
# Silence in which a sentence would have gone on.
SURE_END_S: Final = 0.12
# A pause of the agent that is not heard as one: 0.04 s of it are in the far end's buffer.
BRIEF_S: Final = 0.17


class InterruptionVerdict(Enum):
    """``WAIT``: lowered voice, no decision yet; ``HOLD``: silent, no decision yet."""

    WAIT = "wait"
    HOLD = "hold"
    TALK_ON = "talked_on"
    YIELD = "yielded"


@dataclass(frozen=True, slots=True)
class InterruptionTimes:
    """Seconds from the beginning of speech: ``react_s`` until the agent lowers its voice, ``hold_s`` until it is
    silent, ``long_s``: longer sound is no listening sound.

    ``min_words``: words that are in no lexicon and interrupt. ``resume_s``: silence after which speech that was never
    recognized is given up.
    """

    react_s: float
    hold_s: float
    long_s: float
    min_words: int
    resume_s: float = 0.6

    def with_reaction(self, react_s: float | None) -> "InterruptionTimes":
        """Returns these times with the reaction that the agent's settings ask for, if any."""
        if react_s is None:
            return self
        later = max(0.0, react_s - self.react_s)
        return replace(
            self,
            react_s=react_s,
            hold_s=self.hold_s + later,
            long_s=self.long_s + later,
        )


TIMES: Final[dict[TurnTaking, InterruptionTimes]] = {
    "eager": InterruptionTimes(react_s=0.1, hold_s=0.15, long_s=0.5, min_words=1),
    "balanced": InterruptionTimes(react_s=0.12, hold_s=0.33, long_s=0.66, min_words=1),
    "patient": InterruptionTimes(react_s=0.15, hold_s=9.0, long_s=9.0, min_words=2),
}


@dataclass(slots=True)
class SpeechOverlap:
    """What is known of the speech over the agent. Seconds; ``age_s`` counts from its beginning, ``quiet_s`` since its
    last sound. ``held_s``: how long the agent has been silent because of it. ``is_faint``: there are words, and no
    speech that was loud enough. ``is_answer_due``: the agent has just asked something. ``shows_words``: the recognizer
    has interim words, so that they can still interrupt what the sound did not.
    """

    text: str = ""
    age_s: float = 0.0
    quiet_s: float = 0.0
    held_s: float = 0.0
    sound: SoundEvidence | None = None
    distance_db: float = 0.0
    dullness_db: float = 0.0
    is_faint: bool = False
    is_answer_due: bool = False
    shows_words: bool = True
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
            is_away = _is_distant(overlap) and not self._has_stop_word(overlap.text)
            return (
                (InterruptionVerdict.TALK_ON, "turned_away") if is_away else (InterruptionVerdict.YIELD, signal.value)
            )
        if _is_distant(overlap):
            return InterruptionVerdict.TALK_ON, "turned_away"
        if signal is SpeechSignal.BACKCHANNEL and overlap.is_answer_due and self.lexicon.is_answer(overlap.text):
            return InterruptionVerdict.YIELD, "answer"
        if signal is SpeechSignal.BACKCHANNEL and overlap.quiet_s < END_S and overlap.age_s >= self.times.long_s:
            # "okay" may be the beginning of "okay, so how much is it"
            return (
                InterruptionVerdict.HOLD if overlap.held_s else InterruptionVerdict.WAIT
            ), "more_than_a_listening_sound"
        if signal is not SpeechSignal.WORDS:
            return InterruptionVerdict.TALK_ON, signal.value
        count = len(self.lexicon.split(overlap.text))
        is_short = overlap.quiet_s >= SURE_END_S and 0 < overlap.age_s - overlap.quiet_s < MAX_SHORT_S
        if self.lexicon.may_become_aside(overlap.text) and overlap.quiet_s < UNCLEAR_S and overlap.held_s >= BRIEF_S:
            return InterruptionVerdict.TALK_ON, "unclear_words"
        if self.lexicon.may_become_more(overlap.text) and overlap.quiet_s < UNCLEAR_S:
            return self._judge_sound(overlap)[0], "unclear_words"
        if count == 1 and overlap.shows_words and is_short and not overlap.is_answer_due:
            # a recognizer mistakes listening sounds for words: the end of the turn shows whether it was one
            return InterruptionVerdict.TALK_ON, "one_short_word"
        if count < self.times.min_words and not overlap.is_answer_due:
            return InterruptionVerdict.WAIT, "too_few_words"
        return InterruptionVerdict.YIELD, "answer" if overlap.is_answer_due else signal.value

    def _has_stop_word(self, text: str) -> bool:
        signal = self.lexicon.classify(text, stop_words=self._stop_words)
        return signal is SpeechSignal.COMMAND and self.lexicon.classify(text) is not SpeechSignal.COMMAND

    def _judge_sound(self, overlap: SpeechOverlap) -> tuple[InterruptionVerdict, str]:
        times, sound = self.times, overlap.sound
        if 0 < overlap.held_s < BRIEF_S:
            return InterruptionVerdict.HOLD, "speech"
        long_s = times.long_s if overlap.shows_words else min(times.long_s, MAX_SHORT_S)
        is_long = overlap.age_s - overlap.quiet_s >= long_s
        if _is_distant(overlap):
            return InterruptionVerdict.TALK_ON, "turned_away"
        if sound is not None and sound.voiced < MAX_BREATH_VOICING:
            return InterruptionVerdict.TALK_ON, "no_voice"
        if overlap.quiet_s >= times.resume_s:
            return InterruptionVerdict.TALK_ON, "no_words"
        if overlap.quiet_s >= END_S and not is_long and not overlap.is_answer_due:
            return InterruptionVerdict.TALK_ON, "short_sound"
        # a question makes any voice an answer
        if overlap.is_answer_due and overlap.age_s >= times.react_s:
            return InterruptionVerdict.HOLD, "answer"
        may_be_distant = overlap.distance_db >= EARLY_FAR_DB and overlap.dullness_db > 0
        if overlap.age_s < times.hold_s or (may_be_distant and not is_long):
            return InterruptionVerdict.WAIT, "sound"
        is_drawn_out = sound is not None and (sound.change_db < MAX_DRAWN_OUT_DB or sound.hum > MAX_HUM)
        if overlap.held_s and overlap.shows_words and is_drawn_out and not is_long:
            return InterruptionVerdict.TALK_ON, "drawn_out"
        return InterruptionVerdict.HOLD, "long_speech" if is_long else "speech"


def is_turned_away(distance_db: float, dullness_db: float) -> bool:
    """Returns whether speech that is quieter and duller by so much than the caller's voice is for someone else."""
    is_far = distance_db >= FAR_DB and dullness_db >= MIN_FAR_DULLNESS_DB
    return is_far or (distance_db >= MIN_DISTANCE_DB and dullness_db >= MIN_DULLNESS_DB)


def _is_distant(overlap: SpeechOverlap) -> bool:
    if overlap.is_faint and overlap.distance_db >= FAINT_DB:
        return True
    return is_turned_away(overlap.distance_db, overlap.dullness_db)
