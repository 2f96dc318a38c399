"""Rules for when a caller's turn is over and when a caller interrupts the agent, chosen by configuration."""

import re
from dataclasses import dataclass
from typing import Final

from offhook.voice.config import CallConfig

# Longer than any vendor's endpointing default (0.3 to 1.0 s): a final transcript or endpoint comes no more.
MIN_STALE_S: Final = 1.5
# Four windows of 32 ms: shorter bursts are clicks and breath.
INTERRUPT_AFTER_S: Final = 0.12
# English function words that do not end a complete statement.
_OPEN: Final = frozenset(
    {
        "a", "an", "the", "and", "or", "but", "so", "because", "if", "when", "then", "that", "which", "who", "to", "of",
        "for", "from", "with", "at", "in", "on", "by", "about", "into", "than", "as", "my", "your", "his", "her", "our",
        "their", "its", "i", "you", "he", "she", "it's", "i'm", "we're", "is", "are", "was", "were", "am", "be",
        "um", "uh", "erm", "er", "uhm", "hmm", "like", "well", "please", "would", "could", "should", "can", "will",
        "want", "need", "maybe", "actually", "number", "name", "address",
    }
)  # fmt: skip
_LAST_WORD: Final = re.compile(r"([\w'\u2019]+)[^\w]*$")


@dataclass(slots=True)
class CallerTurnState:
    """The caller's turn so far. Seconds; ``silence_s`` counts from the last speech window on the clock.

    ``level_db`` is the loudness of the last frames (dBFS), measured only when a rule needs it.
    """

    text: str = ""
    partial: str = ""
    has_endpoint: bool = False
    is_speaking: bool = False
    speech_s: float = 0.0
    silence_s: float = 0.0
    level_db: float = 0.0


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
    all alike. ``partial_s`` applies to a partial transcript whose final never came, which is better than no answer.
    ``pause_rule`` makes the agent pause and listen without ending its turn.
    """

    silence_s: float
    partial_s: float
    unfinished_s: float | None
    ends_at_endpoint: bool
    interrupt_rule: InterruptRule
    pause_rule: InterruptRule

    def is_over(self, state: CallerTurnState) -> bool:
        if state.is_speaking:
            return False
        if state.partial and state.silence_s >= self.partial_s:
            return True
        if not state.text:
            return False
        if self.unfinished_s is not None and is_unfinished(f"{state.text} {state.partial}"):
            return state.silence_s >= self.unfinished_s
        return (self.ends_at_endpoint and state.has_endpoint) or state.silence_s >= self.silence_s


def choose_turn_rules(config: CallConfig, *, has_endpointing: bool) -> TurnRules:
    """Returns the rules of a call. A recognizer without endpointing always needs the silence rule."""
    silence_s, partial_s, unfinished_s = config.turn_stop_silence_s, MIN_STALE_S, None
    analyzes = config.turn_stop == "turn_analyzer"
    if analyzes:
        unfinished_s = max(config.turn_stop_silence_s, config.smart_turn_stop_s)
        partial_s = max(MIN_STALE_S, unfinished_s)
    if has_endpointing and config.turn_stop != "silence":
        # a vendor that never reports its endpoint must not block the turn
        silence_s = max(MIN_STALE_S, silence_s)
    speech = InterruptRule(
        after_s=config.interrupt_after_s or INTERRUPT_AFTER_S, min_level_db=config.interrupt_min_level_db
    )
    never = InterruptRule()
    interrupt_rule, pause_rule = {
        "never": (never, never),
        "min_words": (InterruptRule(config.turn_start_min_words), never),
        "provisional_vad": (InterruptRule(1), speech),
    }.get(config.turn_start, (speech, never))
    return TurnRules(
        silence_s=silence_s,
        partial_s=partial_s,
        unfinished_s=unfinished_s,
        ends_at_endpoint=analyzes or (has_endpointing and config.turn_stop != "silence"),
        interrupt_rule=interrupt_rule,
        pause_rule=pause_rule,
    )


def is_unfinished(text: str) -> bool:
    """Returns whether more is likely to come, judging by the last word and by a final comma, dash or ellipsis."""
    text = text.strip()
    if text.endswith("?"):
        return False
    if text.endswith((",", "\u2026", "...", "-", "\u2013", "\u2014", ":")):
        return True
    last = _LAST_WORD.search(text)
    return last is not None and last.group(1).lower().replace("\u2019", "'") in _OPEN and len(text.split()) > 1
