"""Rules for when a caller's turn is over and when a caller interrupts the agent, chosen by configuration."""

import re
from dataclasses import dataclass
from typing import Final, Literal

from offhook.voice.config import CallConfig
from offhook.voice.dialog.asked_values import ENGLISH_VALUES, ValueReader, is_question, values_in
from offhook.voice.dialog.expected_values import ValueProgress
from offhook.voice.input.interruption_rules import TurnTaking
from offhook.voice.input.spoken_signals import WORD_CHARACTERS, SpokenLexicon, lexicon_for

# Longer than any vendor's endpointing default (0.3 to 1.0 s): a final transcript or endpoint comes no more.
MIN_STALE_S: Final = 1.5
# Silence after which an unfinished sentence is over where nothing is configured, by the way of turn-taking, and the
# same after a number that may not be whole.
UNFINISHED_S: Final[dict[TurnTaking, float]] = {"eager": 0.9, "balanced": 1.5, "patient": 2.2}
NUMBER_S: Final[dict[TurnTaking, float]] = {"eager": 0.8, "balanced": 1.45, "patient": 2.0}
# The same after a part of what the step asks for, such as six digits of a telephone number: longer than the breath
# between two groups.
VALUE_S: Final[dict[TurnTaking, float]] = {"eager": 1.4, "balanced": 1.8, "patient": 2.4}
# Words that no longer change after this silence are probably all; a word is shown up to half a second after its end.
STEADY_S: Final = 0.3
# Silence after which a turn is over that a turn detector takes for complete: as soon as vendors report an endpoint.
COMPLETE_S: Final[dict[TurnTaking, float]] = {"eager": 0.3, "balanced": 0.4, "patient": 0.6}
# Four windows of 32 ms: shorter bursts are clicks and breath.
INTERRUPT_AFTER_S: Final = 0.12
# "Please" ends a request ("a table for two, please"), but not behind these ("could you please").
_BEFORE_PLEASE: Final = frozenset({"you", "can", "could", "would", "will"})
# These words alone are a beginning.
_BEGINNINGS: Final = frozenset({"so", "and", "but", "because", "well", "um", "uh", "if", "when", "actually"})
_WORD: Final = re.compile(f"[{WORD_CHARACTERS}]+")
# What a turn detector makes of a pause by its sound; nothing where it is not sure, or is not asked.
EndSays = Literal["", "complete", "incomplete"]


@dataclass(slots=True)
class CallerTurnState:
    """The caller's turn so far. Seconds; ``silence_s`` counts from the last speech window on the clock.

    ``level_db`` is the loudness of the last frames (dBFS), measured only when a rule needs it.
    """

    text: str = ""
    partial: str = ""
    has_endpoint: bool = False
    # the vendor expects that nothing follows, and is not sure yet
    is_likely_end: bool = False
    # the vendor has said so in this call: words alone are no evidence then
    tells_ends: bool = False
    # of what was said last, no word is final yet
    awaits_final: bool = False
    # how long the words that are shown have been the same
    steady_s: float = 0.0
    changed_at: float | None = 0.0
    is_speaking: bool = False
    speech_s: float = 0.0
    silence_s: float = 0.0
    level_db: float = 0.0
    final_at: float | None = 0.0
    # the last final came in the silence, not within the speech
    is_final_last: bool = False
    end_says: EndSays = ""

    def begin_speech(self) -> None:
        self.has_endpoint = self.is_likely_end = False
        self.awaits_final = True

    def show_words(self, text: str, *, is_likely_end: bool) -> None:
        """Takes a partial transcript."""
        if text != self.partial:
            self.changed_at = None
        self.partial, self.is_likely_end = text, is_likely_end and bool(text)
        self.tells_ends = self.tells_ends or is_likely_end
        if text:
            # words after a reported end: the caller has gone on
            self.has_endpoint = False

    def add_final(self, text: str, *, is_endpoint: bool) -> None:
        self.text, self.partial = f"{self.text} {text}".strip(), ""
        self.has_endpoint = is_endpoint or self.has_endpoint
        self.is_likely_end = False
        self.awaits_final = self.awaits_final and not text
        if text:
            self.final_at = None

    def measure_silence(self, now: float, stopped_at: float) -> None:
        """Takes the time; the clock is looked at once for each step of a call."""
        if self.changed_at is None:
            self.changed_at = now
        self.steady_s = now - self.changed_at
        if self.final_at is None:
            self.final_at = now
        self.is_final_last = self.final_at > stopped_at
        self.silence_s = 0.0 if self.is_speaking else now - stopped_at


@dataclass(frozen=True, slots=True)
class AskedValue:
    """What the caller is to say: ``kinds`` of the step (``Expectation.kinds``), and the agent's last sentence."""

    kinds: tuple[str, ...] = ()
    sentence: str = ""

    def value_kinds(self, values: ValueReader) -> tuple[str, ...]:
        """Returns what the sentence asks for, or what the step does where it is no question.

        A step may ask one thing after the other: "four" is all of an answer to "For how many people?".
        """
        asked = values.asked_kinds(self.sentence)
        return asked if asked or is_question(self.sentence) else self.kinds


NOTHING_ASKED: Final = AskedValue()


@dataclass(frozen=True, slots=True)
class InterruptRule:
    """Interrupts after ``min_words`` recognized words, so that "mhm" and noise do not count; or, without them, after
    ``after_s`` of speech of at least ``min_level_db`` (a television is quieter); with neither, never.
    """

    min_words: int | None = None
    after_s: float | None = None
    min_level_db: float | None = None

    def should_interrupt(self, state: CallerTurnState) -> bool:
        """Returns whether to interrupt; called while the agent is audible."""
        if self.min_words is not None:
            return len(f"{state.text} {state.partial}".split()) >= self.min_words
        if self.after_s is None or (self.min_level_db is not None and state.level_db < self.min_level_db):
            return False
        return state.is_speaking and state.speech_s >= self.after_s

    def should_cut_off(self, text: str) -> bool:
        """Returns whether a whole turn, which has not interrupted yet, may do so at its end.

        A turn that may not is answered when the agent has finished.
        """
        if self.min_words is not None:
            return len(text.split()) >= self.min_words
        return self.after_s is not None and self.min_level_db is None


@dataclass(frozen=True, slots=True)
class TurnRules:
    """The rules of one call. A turn ends after the silence of its kind; ``ends_at_endpoint``: also when the
    recognizer reports its end.

    ``unfinished_s`` applies instead after a sentence that sounds unfinished ("my number is", "and um"); None treats
    all alike. ``value_s`` applies after a part of what the step asks for, and ``whole_s`` after all of it, or after a
    plain "yes" where it asks that. ``partial_s`` applies to a partial transcript whose final never came, which is better than no answer.
    ``pause_rule`` makes the agent pause and listen without ending its turn. ``complete_s`` and ``incomplete_s`` apply to
    what a turn detector judges by the sound where the words leave it open; None: there is none, or another one decides.
    """

    silence_s: float
    partial_s: float
    unfinished_s: float | None
    number_s: float | None
    value_s: float | None
    whole_s: float | None
    complete_s: float | None
    incomplete_s: float | None
    ends_at_endpoint: bool
    interrupt_rule: InterruptRule
    pause_rule: InterruptRule
    open_words: frozenset[str]
    lexicon: SpokenLexicon
    values: ValueReader

    def is_over(self, state: CallerTurnState, asked: AskedValue = NOTHING_ASKED) -> bool:
        if state.is_speaking:
            return False
        progress = self._measure(state, asked)
        if progress is ValueProgress.PART and self.value_s is not None:
            return state.silence_s >= (self.value_s if state.text else max(self.value_s, self.partial_s))
        if state.partial and state.silence_s >= self.partial_s:
            return True
        if not state.text:
            return False
        if progress is ValueProgress.WHOLE and self.whole_s is not None and not state.partial:
            return (self.ends_at_endpoint and state.has_endpoint) or state.silence_s >= self.whole_s
        text = f"{state.text} {state.partial}"
        if self.unfinished_s is not None and is_unfinished(text, self.open_words):
            return state.silence_s >= self.unfinished_s
        if self.number_s is not None and self.values.ends_in_number(text):
            return state.silence_s >= self.number_s
        if self.incomplete_s is not None and state.end_says == "incomplete" and state.silence_s < self.incomplete_s:
            return False
        return (self.ends_at_endpoint and state.has_endpoint) or state.silence_s >= self._silence_s(state)

    def _silence_s(self, state: CallerTurnState) -> float:
        """Returns the silence after which words that leave it open are a turn."""
        has_all_words = state.is_final_last and not state.partial
        if self.complete_s is not None and state.end_says == "complete" and has_all_words:
            return self.complete_s
        return self.silence_s

    def is_likely_over(self, state: CallerTurnState, asked: AskedValue = NOTHING_ASKED) -> bool:
        """Returns whether the words so far may be all of a turn that is not over yet."""
        text = f"{state.text} {state.partial}".strip()
        if not text or (state.is_speaking and not state.is_likely_end) or state.end_says == "incomplete":
            return False
        is_steady = min(state.steady_s, state.silence_s) >= STEADY_S or _ends_sentence(state.partial)
        is_final = bool(state.text) and not state.partial and not state.awaits_final
        if not (state.is_likely_end or is_final or (state.partial and is_steady and not state.tells_ends)):
            return False
        is_part = self._measure(state, asked) is ValueProgress.PART
        return not is_part and not is_unfinished(text, self.open_words) and not self.values.ends_in_number(text)

    def _measure(self, state: CallerTurnState, asked: AskedValue) -> ValueProgress:
        text = f"{state.text} {state.partial}".strip()
        if not text or (self.value_s is None and self.whole_s is None):
            return ValueProgress.UNKNOWN
        is_answer = self.lexicon.is_plain_answer(text) and not is_unfinished(text, self.open_words)
        if is_answer and self.values.is_yes_no(asked.sentence, asked.kinds):
            return ValueProgress.WHOLE
        return self.values.measure(text, asked.value_kinds(self.values))


def choose_turn_rules(
    config: CallConfig, *, has_endpointing: bool, judges_turns: bool = False, language: str = "en"
) -> TurnRules:
    """Returns the rules of a call in a language. A recognizer without endpointing always needs the silence rule; of one
    that judges itself whether a turn is over, no other detector is asked."""
    silence_s, partial_s = config.turn_stop_silence_s, MIN_STALE_S
    unfinished_s: float | None = None
    number_s: float | None = None
    if config.turn_stop == "default" and has_endpointing:
        unfinished_s, number_s = UNFINISHED_S[config.turn_taking], NUMBER_S[config.turn_taking]
        partial_s = max(MIN_STALE_S, unfinished_s)
    values = values_in(language)
    value_s = VALUE_S[config.turn_taking] if values is not None and config.turn_stop == "default" else None
    whole_s = config.turn_stop_silence_s if value_s is not None else None
    analyzes = config.turn_stop == "turn_analyzer"
    if analyzes:
        unfinished_s = max(config.turn_stop_silence_s, config.smart_turn_stop_s)
        partial_s = max(MIN_STALE_S, unfinished_s)
    if has_endpointing and config.turn_stop != "silence":
        # a vendor that never reports its endpoint must not block the turn
        silence_s = max(MIN_STALE_S, silence_s)
    complete_s: float | None = None
    incomplete_s: float | None = None
    if config.has_turn_detector and not judges_turns and config.turn_stop in ("default", "turn_analyzer"):
        complete_s = min(COMPLETE_S[config.turn_taking], silence_s)
        incomplete_s = unfinished_s or UNFINISHED_S[config.turn_taking]
    speech = InterruptRule(
        after_s=config.interrupt_after_s or INTERRUPT_AFTER_S, min_level_db=config.interrupt_min_level_db
    )
    never = InterruptRule()
    interrupt_rule, pause_rule = {
        "never": (never, never),
        "min_words": (InterruptRule(config.turn_start_min_words), never),
        "provisional_vad": (InterruptRule(1), speech),
    }.get(config.turn_start, (speech, never))
    lexicon = lexicon_for(language)
    return TurnRules(
        silence_s=silence_s,
        partial_s=partial_s,
        unfinished_s=unfinished_s,
        number_s=number_s,
        value_s=value_s,
        whole_s=whole_s,
        complete_s=complete_s,
        incomplete_s=incomplete_s,
        ends_at_endpoint=analyzes or (has_endpointing and config.turn_stop != "silence"),
        interrupt_rule=interrupt_rule,
        pause_rule=pause_rule,
        # no complete statement ends with them
        open_words=lexicon.open | lexicon.fillers,
        lexicon=lexicon,
        values=values or ENGLISH_VALUES,
    )


def _ends_sentence(text: str) -> bool:
    return text.endswith((".", "?", "!"))


def is_unfinished(text: str, open_words: frozenset[str]) -> bool:
    """Returns whether more is likely to come, judging by the last word and by a final comma, dash or ellipsis."""
    text = text.strip()
    if text.endswith("?"):
        return False
    if text.endswith((",", "\u2026", "...", "-", "\u2013", "\u2014", ":")):
        return True
    *before, word = [""] + [found.lower().replace("\u2019", "'") for found in _WORD.findall(text)]
    if word == "please":
        return before[-1] in _BEFORE_PLEASE
    return word in (open_words if len(text.split()) > 1 else _BEGINNINGS)
