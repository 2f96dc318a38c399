"""Answers callers' questions with what the author wrote, and says what a situation demands."""

import re
from typing import Final

from offhook.models.providers.builtin.english.overlap import count_shared_words
from offhook.models.providers.builtin.english.persona import PersonaFacts
from offhook.models.providers.builtin.english.utterance import CallerUtterance
from offhook.models.providers.builtin.english.words import content_stems, word_tokens
from offhook.models.providers.builtin.meaning import SentenceMeaning

UNKNOWN: Final = "I'm afraid I don't have that information."
_MIN_ANSWER: Final = 0.42
_CUE_WEIGHT: Final = 0.4
_WORD_WEIGHT: Final = 0.16
_MIN_SITUATION: Final = 0.33
# Of a wish: who asks for something says so in words that are near to many a situation.
_MIN_SITUATION_OF_WISH: Final = 0.42
# Danger to life, whatever words the author has for it.
_EMERGENCY: Final = re.compile(
    r"\b(?:can not breathe|(?:trouble|hard|difficulty|difficult|struggling) (?:to )?breath\w*|swollen|swelling|unconscious|passed out|fainted|bleed\w*|blood|"
    r"chest pain|heart attack|stroke|overdose|guns?|knife|weapon|(?:threaten|attack|stalk|assault)(?:s|ed|ing)?|break(?:ing)? in(?:to)?|(?:hurt|hit|beat|kill|follow|chas)\w* (?:me|us|her|him)|not safe|on fire|gas leak|suicid\w*|emergency|agony|excruciating|unbearable|knocked out)\b"
)
_CALLS_HELP: Final = re.compile(r"\b(?:emergency|911|999|112|ambulance|police)\b", re.IGNORECASE)
_WISHES: Final = re.compile(r"\b(?:need|want|like|have) to (?:see|come|book|make|get|talk|speak|change|move|cancel)\b")
# What a question asks for and what its answer looks like.
_CUES: Final = tuple(
    (re.compile(asked), re.compile(answer, re.IGNORECASE))
    for asked, answer in (
        (
            r"\b(where (?:are|is|do|can|about|abouts|you|it|that|the)|address|located|location|directions|how (?:do|can) (?:i|we) (?:get|find)|which (?:street|road|part)|what (?:street|road|part)|find you|get to you|near)\b",
            r"\b(address|street|road|avenue|square|lane|located|floor|opposite|near)\b",
        ),
        (
            r"\b(how much|price\w*|cost\w*|fee\w*|charge\w*|expensive|pay|what do you (?:charge|take)|rates?|cheap|quote|for free|is it free|free of charge)\b",
            r"\b(costs?|dollars?|euros?|pounds?|cents?|price\w*|fees?|free|charge\w*|payable)\b|[$€£]",
        ),
        (
            r"\b(how long (?:does|will|is|do|would|can|have)|duration|take long|how many (?:minutes|hours|days)|time limit|deadline)\b",
            r"\b(takes?|lasts?|within|half an hour)\b",
        ),
        (
            r"\b(open|close|closed|closing|opening|hours|saturdays?|sundays?|weekends?|holidays?|how late|how early|what days|which days|lunch ?time|evenings?)\b",
            r"\b(open|closed|hours|from \w+ (?:am|o'clock|to)|monday to friday)\b",
        ),
        (
            r"\b(what (?:times|slots|do you have|have you got|is available|is free)|which times|available|availability|free (?:times|slots)|earliest|soonest|latest|any (?:slots|times|openings))\b",
            r"\b(free times|available|slots?)\b",
        ),
        (r"\b(bring|prepare|form|early|fill (?:in|out)|paperwork)\b", r"\b(bring|form|early|prepare)\b"),
        (r"\b(return\w*|send (?:it|them) back|refund\w*|money back)\b", r"\b(returns?|refund\w*|money back)\b"),
        (r"\b(deliver\w*|shipping|postage|ship)\b", r"\b(deliver\w*|shipping|postage)\b"),
    )
)


def answer_question(heard: str, facts: PersonaFacts, meaning: SentenceMeaning) -> str | None:
    """Returns the author's sentence that answers a question; None when no sentence does."""
    said = " ".join(word_tokens(heard))
    cues = [answer for asked, answer in _CUES if asked.search(said)]

    def score_fact(fact: str) -> float:
        near = meaning.similarity(heard, fact) + _WORD_WEIGHT * count_shared_words(heard, fact)
        return near + _CUE_WEIGHT * any(answer.search(fact) for answer in cues)

    best = max(facts.facts, key=score_fact, default=None)
    return best if best is not None and score_fact(best) >= _MIN_ANSWER else None


def situation_sentence(said: CallerUtterance, facts: PersonaFacts, meaning: SentenceMeaning) -> str | None:
    """Returns what an author wants said in the caller's situation ("is in strong pain or bleeding"); else None."""
    for rule in facts.rules:
        shared = set(content_stems(said.heard)) & set(content_stems(rule.situation)) - {"not", "strong", "bad"}
        is_asked_about = rule.situation.startswith(("asks", "ask ", "wants", "want "))
        if is_asked_about or said.polarity == "no":
            continue
        is_urgent = _CALLS_HELP.search(rule.sentence) is not None and _EMERGENCY.search(
            " ".join(word_tokens(said.heard))
        )
        near = meaning.similarity(said.standing, rule.situation)
        if shared or is_urgent or near >= (_MIN_SITUATION_OF_WISH if _WISHES.search(said.standing) else _MIN_SITUATION):
            return rule.sentence
    return None
