"""Decides what speech over the agent means: an interruption, or something to talk on through."""

from dataclasses import dataclass, replace
from enum import Enum
from typing import Final, Literal

from offhook.voice.input.sound_evidence import SoundEvidence
from offhook.voice.input.spoken_signals import SpeechSignal, SpokenLexicon

TurnTaking = Literal["eager", "balanced", "patient"]
# Why words that are said to somebody else are ignored.
TURNED_AWAY: Final = "turned_away"
# A breath, a cough, a sneeze: hardly any of it has a pitch. The sneeze has nearly all of its energy above 1.2 kHz.
MAX_BREATH_VOICING: Final = 0.4
# Someone who has turned away from the handset is quieter than when they spoke to the agent, and duller: words differ
# in how dull they are, so that loudness counts for more.
MIN_DISTANCE_DB: Final = 2.5
MIN_DULLNESS_DB: Final = 0.5
MAX_DULLNESS_DB: Final = 9.0
DULLNESS_SHARE: Final = 0.5
AWAY_DB: Final = 5.5
# The same where the words were too quiet for the voice detector.
FAINT_DB: Final = 2.5
# A listening sound is drawn out: its spectrum changes less than that of the beginning of a sentence.
MAX_DRAWN_OUT_DB: Final = 2.4
MAX_HUM: Final = 0.6
# Speech that may be so by its first syllable is heard for longer before a silence.
EARLY_FAR_DB: Final = 5.0
# Silence after which sound has ended: one window of the voice detector, and two before the agent has paused for it.
END_S: Final = 0.03
GAP_S: Final = 0.07
# A gap between two words, and not within one.
PAUSE_S: Final = 0.1
# A word takes longer than this to be said and recognized, and a small one is over by the second time.
MIN_WORD_S: Final = 0.25
MAX_FRAGMENT_S: Final = 0.4
# Without interim words, longer sound is an interruption until its words are known.
MAX_SHORT_S: Final = 0.5
# Words like "one" can become "one second" for so long after the last sound.
UNCLEAR_S: Final = 0.5
# Silence in which a sentence would have gone on.
SURE_END_S: Final = 0.12
# A pause of the agent that is not heard as one.
BRIEF_S: Final = 0.17
CLOCK_S: Final = 0.002
# Whoever interrupts speaks as loudly as before, or louder; listening sounds are quieter. A raised voice silences the
# agent sooner and keeps it silent until its words are known; one that is softer than usual does not keep it silent.
RAISED_DB: Final = 1.5
# Who is louder by more than this was away from the telephone before: nothing is known of their usual voice.
MAX_RAISED_DB: Final = 4.0
# Words that a raised voice has said are known by then.
RAISED_WAIT_S: Final = 0.35


class InterruptionVerdict(Enum):
    """``WAIT``: lowered voice, no decision yet; ``HOLD``: silent, no decision yet."""

    WAIT = "wait"
    HOLD = "hold"
    TALK_ON = "talked_on"
    YIELD = "yielded"


@dataclass(frozen=True, slots=True)
class InterruptionTimes:
    """Seconds from the beginning of speech: ``react_s`` until the agent lowers its voice, ``hold_s`` until it is
    silent, ``loud_hold_s`` the same for a raised voice, ``long_s``: longer sound is no listening sound.

    ``min_words``: words that are in no lexicon and interrupt. ``resume_s``: silence after which speech that was never
    recognized is given up.
    """

    react_s: float
    loud_hold_s: float
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
            loud_hold_s=self.loud_hold_s + later,
            hold_s=self.hold_s + later,
            long_s=self.long_s + later,
        )


TIMES: Final[dict[TurnTaking, InterruptionTimes]] = {
    "eager": InterruptionTimes(react_s=0.1, loud_hold_s=0.12, hold_s=0.15, long_s=0.5, min_words=1),
    "balanced": InterruptionTimes(react_s=0.12, loud_hold_s=0.15, hold_s=0.33, long_s=0.66, min_words=1),
    "patient": InterruptionTimes(react_s=0.15, loud_hold_s=9.0, hold_s=9.0, long_s=9.0, min_words=2),
}


@dataclass(slots=True)
class SpeechOverlap:
    """What is known of the speech over the agent. Seconds; ``age_s`` counts from its beginning, ``quiet_s`` since its
    last sound. ``held_s``: for how long the caller has heard nothing because of it, negative while the far end plays
    its last frames, None where the agent goes on. ``is_faint``: there were words, and no speech that was loud enough.
    ``is_answer_due``: the agent has just asked something. ``shows_words``: the recognizer has interim words, so that
    they can still interrupt what the sound did not.
    """

    text: str = ""
    age_s: float = 0.0
    quiet_s: float = 0.0
    held_s: float | None = None
    sound: SoundEvidence | None = None
    distance_db: float = 0.0
    dullness_db: float = 0.0
    is_faint: bool = False
    is_answer_due: bool = False
    shows_words: bool = True
    agent_text: str = ""

    @property
    def is_voice_known(self) -> bool:
        """Returns whether the sound can be compared with how the caller usually speaks."""
        return self.distance_db > -MAX_RAISED_DB and bool(self.distance_db or self.dullness_db)

    @property
    def is_raised(self) -> bool:
        """Returns whether the caller speaks louder than usual."""
        return self.is_voice_known and self.distance_db < -RAISED_DB

    @property
    def is_held_briefly(self) -> bool:
        """Returns whether the agent is silent, for too short a time to be noticed."""
        return self.held_s is not None and self.held_s < BRIEF_S - CLOCK_S


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
            return (InterruptionVerdict.TALK_ON, TURNED_AWAY) if is_away else (InterruptionVerdict.YIELD, signal.value)
        if _is_distant(overlap):
            return InterruptionVerdict.TALK_ON, TURNED_AWAY
        if signal is SpeechSignal.BACKCHANNEL and overlap.is_answer_due and self.lexicon.is_answer(overlap.text):
            return InterruptionVerdict.YIELD, "answer"
        if signal is SpeechSignal.BACKCHANNEL and overlap.quiet_s < END_S and overlap.age_s >= self.times.long_s:
            # "okay" may be the beginning of "okay, so how much is it"
            is_held = overlap.held_s is not None
            return (InterruptionVerdict.HOLD if is_held else InterruptionVerdict.WAIT), "more_than_a_listening_sound"
        if signal is SpeechSignal.FRAGMENT and not overlap.is_answer_due and not self._is_followed(overlap):
            # a recognizer writes "the" for a sound that it did not understand
            return self._judge_sound(overlap)[0], signal.value
        if signal not in (SpeechSignal.WORDS, SpeechSignal.FRAGMENT):
            return InterruptionVerdict.TALK_ON, signal.value
        count = len(self.lexicon.split(overlap.text))
        is_short = overlap.quiet_s >= SURE_END_S and 0 < overlap.age_s - overlap.quiet_s < MAX_SHORT_S
        is_unclear = self.lexicon.may_become_aside(overlap.text) and overlap.quiet_s < UNCLEAR_S
        if is_unclear and overlap.held_s is not None and not overlap.is_held_briefly and not overlap.is_answer_due:
            return InterruptionVerdict.TALK_ON, "unclear_words"
        if self.lexicon.may_become_more(overlap.text) and overlap.quiet_s < UNCLEAR_S:
            return self._judge_sound(overlap)[0], "unclear_words"
        if count == 1 and overlap.shows_words and is_short and not overlap.is_answer_due:
            # a recognizer mistakes listening sounds for words: the end of the turn shows whether it was one
            return InterruptionVerdict.TALK_ON, "one_short_word"
        if count < self.times.min_words and not overlap.is_answer_due:
            return InterruptionVerdict.WAIT, "too_few_words"
        return InterruptionVerdict.YIELD, "answer" if overlap.is_answer_due else SpeechSignal.WORDS.value

    def _is_followed(self, overlap: SpeechOverlap) -> bool:
        """Returns whether there is more speech after the words that are known, of which no listening sound begins."""
        is_going_on = overlap.quiet_s < END_S and overlap.age_s >= MAX_FRAGMENT_S
        return is_going_on and not self.lexicon.may_become_more(overlap.text)

    def _has_stop_word(self, text: str) -> bool:
        signal = self.lexicon.classify(text, stop_words=self._stop_words)
        return signal is SpeechSignal.COMMAND and self.lexicon.classify(text) is not SpeechSignal.COMMAND

    def _judge_sound(self, overlap: SpeechOverlap) -> tuple[InterruptionVerdict, str]:
        times, sound = self.times, overlap.sound
        if overlap.is_held_briefly:
            return InterruptionVerdict.HOLD, "speech"
        long_s = times.long_s if overlap.shows_words else min(times.long_s, MAX_SHORT_S)
        is_long = overlap.age_s - overlap.quiet_s >= long_s
        if _is_distant(overlap):
            return InterruptionVerdict.TALK_ON, TURNED_AWAY
        if sound is not None and sound.voiced < MAX_BREATH_VOICING:
            return InterruptionVerdict.TALK_ON, "no_voice"
        if overlap.quiet_s >= times.resume_s:
            return InterruptionVerdict.TALK_ON, "no_words"
        if self._has_ended(overlap) and not is_long and not overlap.is_answer_due:
            return InterruptionVerdict.TALK_ON, "short_sound"
        # a question makes any voice an answer
        if overlap.is_answer_due and overlap.age_s >= times.react_s:
            return InterruptionVerdict.HOLD, "answer"
        may_be_distant = overlap.distance_db >= EARLY_FAR_DB and overlap.dullness_db > 0
        hold_s = times.loud_hold_s if overlap.is_raised else times.hold_s
        if overlap.held_s is None and (overlap.age_s < hold_s or (may_be_distant and not is_long)):
            return InterruptionVerdict.WAIT, "sound"
        if overlap.held_s is not None and overlap.shows_words and not is_long:
            if overlap.is_voice_known and overlap.distance_db >= 0:
                return InterruptionVerdict.TALK_ON, "soft_sound"
            if not overlap.is_voice_known and sound is not None and _is_drawn_out(sound):
                return InterruptionVerdict.TALK_ON, "drawn_out"
        return InterruptionVerdict.HOLD, "long_speech" if is_long else "speech"

    def _has_ended(self, overlap: SpeechOverlap) -> bool:
        """Returns whether the sound is over; the words of a caller who interrupts have gaps."""
        if overlap.held_s is None:
            return overlap.quiet_s >= GAP_S
        if overlap.is_raised:
            return overlap.quiet_s >= RAISED_WAIT_S
        is_usual = overlap.is_voice_known and overlap.distance_db < 0
        return overlap.quiet_s >= (PAUSE_S if is_usual else END_S)


def _is_drawn_out(sound: SoundEvidence) -> bool:
    return sound.change_db < MAX_DRAWN_OUT_DB or sound.hum > MAX_HUM


def is_turned_away(distance_db: float, dullness_db: float) -> bool:
    """Returns whether speech that is quieter and duller by so much than the caller's voice is for someone else."""
    if distance_db < MIN_DISTANCE_DB or dullness_db < MIN_DULLNESS_DB:
        return False
    return distance_db + DULLNESS_SHARE * min(dullness_db, MAX_DULLNESS_DB) >= AWAY_DB


def _is_distant(overlap: SpeechOverlap) -> bool:
    if overlap.is_faint and overlap.distance_db >= FAINT_DB:
        return True
    return is_turned_away(overlap.distance_db, overlap.dullness_db)
