"""Decides what was said: a sentence of the grammar, a free sentence, or nothing. Pure."""

from typing import Any, Final

import structlog

from offhook.models.ports import Expectation, SttEvent
from offhook.models.providers.builtin.english.overlap import phrase_fit
from offhook.models.providers.builtin.hearing.grammar import SpeechGrammar

log = structlog.get_logger(__name__)

# How far the grammar's log score per frame may be below that of free phones: over all frames, and over the frames that
# it takes for speech. Measured with espeak-ng's voices through a telephone band: 95 of 100 correctly heard sentences
# are kept, 98 of 100 unexpected ones dropped (bench/stt_offline.py).
MIN_MARGIN: Final = -26.0
MIN_SPEECH_MARGIN: Final = -52.0
# Share of the loud frames that the grammar takes for words: below 0.6 for prose read aloud, above 0.85 for a match.
MIN_COVERED: Final = 0.75
# A sentence of the grammar that fits so well is certain: it is not compared with a free one.
SURE_MARGIN: Final = -15.0
# A sentence of the grammar that misses its limits by so much still wins when the free sentence means the same.
NEARLY: Final = 1.25
MIN_SAME_MEANING: Final = 0.5
# Free sentences. Noise is heard as one word; a sentence that is not of the grammar is long and fits as well as the
# grammar's (bench/ears.py).
MIN_SENTENCE_MARGIN: Final = -33.0
MIN_SENTENCE_WORDS: Final = 2
MIN_WORDS_AGAINST_GRAMMAR: Final = 5
MARGIN_ALLOWANCE: Final = 2.0
# A long run of digits fits any speech somehow.
DIGITS_ALLOWANCE: Final = 8.0
SENTENCE_CONFIDENCE: Final = 0.5
DIGITS: Final = frozenset(
    {"zero", "oh", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "double", "please"}
)


def judge_result(found: dict[str, Any], grammar: SpeechGrammar) -> SttEvent:
    """Returns the final of an utterance: a whole sentence of the grammar, or nothing when it was probably another."""
    if found.get("error"):
        log.warning("grammar_refused", error=found["error"], grammar=grammar.name)
    margin = found["margin"]
    if margin is None:
        return SttEvent("final", "", 0.0)
    confidence = round(min(max(1 + found["speech_margin"] / 80, 0.0), 1.0), 2)
    text = _sentence_of_grammar(found, grammar, 1.0)
    return SttEvent("final", "", min(confidence, 0.3)) if text is None else SttEvent("final", text, confidence)


def is_certain(found: dict[str, Any], event: SttEvent) -> bool:
    """Returns True when the grammar's sentence needs no comparison with a free one."""
    return bool(event.text) and found["margin"] >= SURE_MARGIN


def choose_hypothesis(
    found: dict[str, Any], heard: dict[str, Any], grammar: SpeechGrammar, expectation: Expectation
) -> SttEvent:
    """Returns the final of an utterance that may not be of the grammar; ``heard`` is its free sentence.

    The free sentence wins over one of the grammar when it is long and fits the sound about as well; over nothing when
    it is a sentence at all. A sentence of the grammar that was nearly good enough wins when both mean the same.
    """
    of_grammar = judge_result({**found, "error": None}, grammar)
    sentence, margin = str(heard["text"]), heard["margin"]
    words = len(sentence.split())
    if margin is None or margin < MIN_SENTENCE_MARGIN or words < MIN_SENTENCE_WORDS or heard["covered"] < MIN_COVERED:
        return of_grammar
    free = SttEvent("final", sentence, SENTENCE_CONFIDENCE)
    if of_grammar.text:
        number = of_grammar.text.split()
        is_long_number = len(number) >= MIN_WORDS_AGAINST_GRAMMAR and DIGITS.issuperset(number)
        allowance = DIGITS_ALLOWANCE if is_long_number else MARGIN_ALLOWANCE
        is_better = words >= MIN_WORDS_AGAINST_GRAMMAR and margin >= found["margin"] - allowance
        return free if is_better else of_grammar
    nearly = _sentence_of_grammar(found, grammar, NEARLY) if found["margin"] is not None else None
    if nearly is not None and len(nearly.split()) > 1:
        fit = phrase_fit(sentence, (nearly,))
        if fit >= MIN_SAME_MEANING and fit >= phrase_fit(sentence, expectation.phrases):
            return SttEvent("final", nearly, SENTENCE_CONFIDENCE)
    return free


def _sentence_of_grammar(found: dict[str, Any], grammar: SpeechGrammar, tolerance: float) -> str | None:
    is_good = (
        found["margin"] >= MIN_MARGIN * tolerance
        and found["speech_margin"] >= MIN_SPEECH_MARGIN * tolerance
        and found["covered"] >= MIN_COVERED / tolerance
    )
    return grammar.complete_sentence(found["text"]) if is_good else None
