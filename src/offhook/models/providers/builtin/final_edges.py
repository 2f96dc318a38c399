"""Tells whether a caller's words carry an edge behind which the call ends and nothing can be taken back. Pure."""

import re
from collections.abc import Collection
from typing import Final

from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin import edge_matching, edge_values
from offhook.models.providers.builtin.edge_polarity import UNSURE, edge_polarity
from offhook.models.providers.builtin.english import assent, spoken_values
from offhook.models.providers.builtin.english.assent import has_yes_word
from offhook.models.providers.builtin.english.idioms import idiom_score
from offhook.models.providers.builtin.english.overlap import NEGATIONS
from offhook.models.providers.builtin.english.polarity import polarity_of
from offhook.models.providers.builtin.english.utterance import CallerUtterance, parse_utterance
from offhook.models.providers.builtin.english.words import (
    CONDITION_STOP,
    answer_polarity,
    content_stems,
    essential_tokens,
    is_plain_polarity,
    stem_word,
    word_tokens,
)

_REFUSES_PERSON: Final = re.compile(
    r"\bnot (?:talk|speak) (?:long|much|loud)|\b(?:was|were) (?:\w+ )?(?:talking|speaking|rude|nice|helpful)\b|\b(?:not|never|no) (?:\w+ ){0,4}(?:person|human|someone|somebody|operator|agent|representative|call ?back|colleague)\b"
)


# Asked for a fact or an opinion. To any other question a yes is leave to act, and what is beside it may be a condition.
_ASKS_OPINION: Final = re.compile(
    r"\b(?:would you (?!like|want|prefer|agree|accept|be)|do you (?!want|agree|accept)|did you|(?<!i )have you|is it|is the|are you)\b",
    re.IGNORECASE,
)
_ASKS_IF_RIGHT: Final = re.compile(r"\bis that (?:all )?(?:right|correct|true)\b", re.IGNORECASE)
# "Yes, that's everything, thanks."
_IS_ALL: Final = re.compile(
    r"^\W*(?:yes|yeah|yep|yup|right|correct|exactly)\b.{0,20}\bthat(?:'s| is) (?:everything|all|it|right|correct)\b",
    re.IGNORECASE,
)
_ASKS_PERMISSION: Final = re.compile(r"\b(?:shall|should|may|can|could) (?:i|we)\b", re.IGNORECASE)
# Verbs that anything may be said with.
_COMMON: Final = frozenset(
    map(
        stem_word,
        (
            "work",
            "come",
            "call",
            "make",
            "take",
            "give",
            "go",
            "do",
            "want",
            "need",
            "time",
            "day",
            "mind",
            "good",
            "thing",
            "able",
            "one",
            "late",
            "know",
            "nothing",
            "anything",
            "thanks",
            "own",
            "pay",
        ),
    )
)
_COMPLAINS: Final = re.compile(
    r"\b(?:(?:did|has|have|had) not (?:get|got|gotten|received|helped|answered|heard|finished|asked|understood|understand)\b(?! (?:the |any )?time)|nobody (?:has|have|had|called|helped|answered)|(?:it|that|this|they) (?:is|are) not (?:here|there|come|arrived|been delivered|working|good|acceptable)\b|you (?:have |just )?(?:got|get|have|heard|wrote|put|took) (?:\w+ )?(?:wrong(?! (?:number|person|house|guy|gal|lady|man|one))|down wrong|backwards?)|(?:misheard|mistook|misunders\w+)|not what (?:i|we)|not my (?:order|name|number|appointment|account|address|parcel|package)|misunderst\w+|"
    r"nothing (?:else |that )?(?:works|helps|fits|happens)|(?:is|are|am) not (?:\w+ )?(?:an? )?(?:bad|busy)|never mind (?!it|that|thanks|then|i\b)\w+ing|"
    r"(?:goodbye|bye) is|was going to)\b"
)
_HAD_PERSON: Final = re.compile(r"\b(?:called|rang|phoned|texted|talked|spoke|told|said|wrote|left)\b")
# "Can I talk to somebody, ah actually you'll do"
_THINKS_BETTER: Final = re.compile(
    r"\byou (?:will|can|would) (?:probably |maybe |perhaps |just )?(?:do|help)\b|^(?:just )?(?:check|look up|find|tell|book|move)\b"
)
_TAKES_BACK: Final = re.compile(r"\b(?:no wait|oh wait|wait no|actually)\b")
# Something is to be told or done before it.
_FIRST: Final = re.compile(r"\b(?:before|tell me|explain|remind me)\b")
_HAS_NO_TIME: Final = re.compile(r"\bnot (?:really )?have (?:the |any |much )?time\b")
_POSTPONES: Final = re.compile(r"\b(?:later|another time|not sure|undecided|busy)\b", re.IGNORECASE)
_PARTS: Final = re.compile(r"[,;.!?]| but ", re.IGNORECASE)
_LONG_NUMBER: Final = 4
MAX_SHORT_LEAVE: Final = 4
_TAKES_EITHER: Final = re.compile(r"\byes or no\b", re.IGNORECASE)
_NEVER_SAID: Final = re.compile(r"\b(?:never|not) (?:said?|want(?:ed)?|ask(?:ed)?|mean|meant|told|tell)\b")
_LIMITS: Final = re.compile(
    r"\b(?:if|unless|only|except|but|depend\w*|not|no|never|maybe|perhaps|hardly|doubt\w*|once|wait|hold on|until|provided|though)\b|n't\b",
    re.IGNORECASE,
)
_BUT: Final = re.compile(r" but |, (?:just|only) not ", re.IGNORECASE)
# "No, that's grand, thanks."
_IS_CONTENT: Final = re.compile(r"^(?:that|it|this) is (?!right\b|correct\b|it\b|the one\b)\w+$")
_ACKNOWLEDGES: Final = frozenset({"please", "ok", "okay", "right", "alright", "all right", "good", "fine", "great"})
_LEAVING: Final = frozenset({"leave", "no", "later"})
_HEDGE: Final = re.compile(r"\b(?:maybe|perhaps)\b", re.IGNORECASE)


# "don't hang up", "I'd rather not speak to a colleague", "not yet"
_DOES_NOT_WANT: Final = re.compile(
    r"(?<!\bi )(?<!\bwe )(?<!\bthey )\bdo not\b|\b(?:rather not|not want to)\b|\bnot (?:\w+ ){0,4}not\b|\bnot (?:yet|so fast|finished|done)\b|\b(?:hang|hold) on\b|\bstill\b|\bi do have\b|\b(?:one|another) (?:more )?(?:question|thing)\b"
)


def may_decline(said: CallerUtterance, edge: EdgeHint) -> bool:
    """Returns True for an edge that commits to nothing, and words that say neither yes nor what else is wanted: "nope, we
    already signed with somebody else"."""
    if edge_polarity(edge) == "yes" or said.polarity == "yes" or has_yes_word(said.heard):
        return False
    words = " ".join(word_tokens(said.heard))
    is_open = said.is_question or said.asks_to_wait or said.wants_to_stop
    return not is_open and not any(sign.search(words) for sign in (_COMPLAINS, _TAKES_BACK, _FIRST, _DOES_NOT_WANT))


def is_carried_by(said: CallerUtterance, edge: EdgeHint, *, told: str, is_asked_again: bool) -> bool:
    """Returns True when everything that was said belongs to the edge.

    A yes with anything left over is none, until it was asked again; a goodbye with a wish, and a wish with a condition,
    a doubt or somebody else's will in it, are none either. ``told`` is what the agent said.
    """
    if is_written(said, edge):
        return "?" not in said.heard or not said.is_question
    if said.asks_to_wait and not said.wants_to_stop:
        return False
    if (
        edge_polarity(edge) is None
        and _NEVER_SAID.search(" ".join(word_tokens(said.heard)))
        and _orders(said.heard, edge)
    ):
        # "cancel it? I never said that"
        return False
    described = ". ".join((edge.label, edge.condition, *edge.examples))
    if edge_matching.is_person(edge):
        return (
            not _goes_on(said)
            and not assent.denies_leaving(said.heard)
            and not assent.is_about_others(said.heard)
            and not _REFUSES_PERSON.search(" ".join(word_tokens(said.heard)))
            and not _is_thought_better(said)
        )
    if edge_polarity(edge) == "yes":
        return _is_yes(said, edge, told, is_asked_again=is_asked_again)
    if (said.is_question and not said.statement) or _is_denied(said.heard, edge):
        return False
    takes_value = bool(edge_values.asked_value_kinds(edge)) or edge_matching.takes_any_answer(edge)
    if assent.answers_nothing(said.heard) or (not takes_value and _names_other_number(said.heard, described)):
        return False
    is_refusal = edge_matching.is_closing(edge) or edge_polarity(edge) == "no" or _POSTPONES.search(described)
    if is_refusal:
        return _is_refusal(said, edge, told)
    if polarity_of(said.heard) == "yes" and assent.is_outright_yes(said.heard, told, described):
        return True
    if not (takes_value or shares_words(said.heard, edge)):
        return False
    if polarity_of(_PARTS.split(said.heard.strip(" .!?"))[-1]) == "no":
        return _TAKES_EITHER.search(described) is not None
    is_ordered = (
        _orders(said.heard, edge)
        and "?" not in said.heard
        and not _NEVER_SAID.search(" ".join(word_tokens(said.heard)))
    )
    may_deny = is_ordered or re.search(r"\bnot\b", " ".join(word_tokens(described))) is not None
    text = said.standing if said.is_correction else said.heard
    # "maybe Tuesday" names a day
    text = _HEDGE.sub(" ", text) if takes_value else text
    return not assent.has_reservation(text, described, may_deny=may_deny)


def only_remarks(said: CallerUtterance, asked: str) -> bool:
    """Returns True for a yes to a question after an opinion, with a remark: "yes, but I'd tell them to take a taxi"."""
    is_opinion = _ASKS_OPINION.search(asked) is not None and _ASKS_PERMISSION.search(asked) is None
    first, _, remark = said.heard.partition(", ")
    is_wish = said.is_question or assent.wants_to_go_on(remark)
    if is_opinion and remark and polarity_of(first) == "yes" and not (is_wish or _LIMITS.search(remark)):
        # "I already did, my brother is going there next month"
        return said.polarity == "yes"
    first, *then = _BUT.split(said.heard, maxsplit=1)
    remark = " ".join(then)
    if not (is_opinion and remark and polarity_of(first) == "yes" and assent.has_yes_word(first)):
        return False
    return not said.is_question and not assent.has_reservation(remark) and not said.wants_change


def contradicts(said: CallerUtterance, act: str, *, is_certain: bool) -> bool:
    """Returns True where single words speak against an act: "I don't need a person", "no, I still have a question".

    ``is_certain``: only those count that no other word can outweigh.
    """
    parts = [" ".join(word_tokens(part)) for part in _PARTS.split(said.heard)]
    if act == "person" and (_is_thought_better(said) or any(map(_REFUSES_PERSON.search, parts))):
        return True
    if is_certain:
        return False
    stops = act in _LEAVING and said.wants_to_stop
    if (said.is_question and not stops) or said.asks_to_wait:
        return True
    if act == "person" and edge_matching.asks_for_person(said.heard):
        # "the third time today"
        return any(map(_HAD_PERSON.search, parts))
    named = said.standing if said.refused else said.heard
    if spoken_values.day_phrase(named) or spoken_values.time_of_day(named):
        return True
    if act == "person":
        return any(map(_HAD_PERSON.search, parts))
    if act == "yes":
        waits = _FIRST.search(" ".join(word_tokens(said.heard))) is not None
        return waits or assent.answers_nothing(said.heard) or assent.has_reservation(said.heard)
    if act == "yes_but":
        return False
    return _stays(said) or assent.contrasts(said.heard) or _goes_on(said) or assent.is_past(said.heard)


def _is_thought_better(said: CallerUtterance) -> bool:
    takes_back = said.is_correction or _TAKES_BACK.search(" ".join(word_tokens(said.heard))) is not None
    return takes_back and _THINKS_BETTER.search(" ".join(word_tokens(said.standing))) is not None


def _stays(said: CallerUtterance) -> bool:
    """Returns True for a "no" or a "bye" in words of a caller who goes on: "no, nobody has helped me yet"."""
    # "and could you take my number off your list" is no wish that is left
    parts = [
        part for part in _PARTS.split(said.heard) if not (said.wants_to_stop and parse_utterance(part).wants_to_stop)
    ]
    return (
        assent.denies_leaving(said.heard)
        or assent.wants_to_go_on(said.standing if said.is_goodbye else ". ".join(parts))
        or _COMPLAINS.search(" ".join(word_tokens(said.heard))) is not None
    )


def ends_in(said: CallerUtterance, acts: Collection[str]) -> bool:
    """Returns True for a plain yes or no at the end, whatever was said before: "yes, hmm, no, honestly, no"."""
    parts = [part for part in _PARTS.split(said.heard) if essential_tokens(part)]
    return bool(parts) and is_plain_polarity(parts[-1]) and polarity_of(parts[-1]) in acts


def takes_doubt(edge: EdgeHint) -> bool:
    """Returns True for an edge that takes a "not sure" too."""
    return UNSURE.search(f"{edge.label}. {edge.condition}") is not None


def is_written(said: CallerUtterance, edge: EdgeHint) -> bool:
    """Returns True for what an author has written of the edge, word by word."""
    spoken = essential_tokens(said.heard)
    return any(essential_tokens(phrase) == spoken for phrase in (edge.label, *edge.examples))


def _is_denied(heard: str, edge: EdgeHint) -> bool:
    """Returns True where a "not" is about what the edge says without one: "I don't rent" and "I rent"."""
    denied = assent.denied_stems(heard)
    phrases = [phrase for phrase in (edge.label, *edge.examples) if content_stems(phrase)]
    own = {stem for phrase in phrases for stem in content_stems(phrase) if stem not in assent.denied_stems(phrase)}
    own_denied = {stem for phrase in phrases for stem in assent.denied_stems(phrase)}
    affirmed = set(content_stems(heard)) - denied
    return bool(((denied & own) - own_denied - _COMMON) or (affirmed & assent.denied_stems(edge.label)) - own)


def _names_other_number(heard: str, known: str) -> bool:
    """Returns True for "I'm nineteen" where seventeen was meant. A number of many digits stands for any other."""
    if len(spoken_values.all_digits(known)) >= _LONG_NUMBER:
        return False
    expected = set(spoken_values.all_numbers(known))
    return bool(expected) and bool(set(spoken_values.all_numbers(heard)) - expected)


def _is_refusal(said: CallerUtterance, edge: EdgeHint, told: str) -> bool:
    """Returns True for a refusal, a goodbye or a "later" without a wish, a yes or a complaint beside it."""
    if _stays(said):
        return False
    described = ". ".join((edge.label, edge.condition, *edge.examples))
    if assent.goes_elsewhere(said.heard, told):
        return True
    if _goes_on(said) or (assent.is_past(said.heard) and not assent.is_past(described)):
        return False
    parts = [part for part in _PARTS.split(said.heard) if essential_tokens(part)]
    left = [part for part in parts if not assent.is_outright_no(part, described) and len(content_stems(part)) > 1]
    if edge_matching.is_closing(edge) and left and not _takes_leave(said, edge):
        # "no, the faucet just drips": something is left to be heard
        return False
    if _HAS_NO_TIME.search(" ".join(word_tokens(said.heard))):
        return True
    if (
        said.is_goodbye
        or shares_words(said.heard, edge)
        or any(assent.is_outright_no(part, described) for part in parts)
    ):
        return True
    # "not even to my worst enemy" to "would you recommend us?"
    return polarity_of(said.heard) == "no" and answer_polarity(said.heard) is None


def _takes_leave(said: CallerUtterance, edge: EdgeHint) -> bool:
    """Returns True where more than a "no" says that nothing is needed: "never mind", "I changed my mind", "bye"."""
    return (
        said.wants_to_stop
        or shares_words(said.heard, edge)
        or any(
            essential_tokens(example)[0] != "no"
            and f" {' '.join(essential_tokens(example))} " in f" {' '.join(essential_tokens(said.heard))} "
            # a word of a longer sentence is no leave: "two weeks ago and nothing"
            and (len(essential_tokens(example)) > 1 or len(essential_tokens(said.heard)) <= MAX_SHORT_LEAVE)
            for example in edge.examples
            if essential_tokens(example)
        )
    )


def _goes_on(said: CallerUtterance) -> bool:
    """Returns True for a yes behind something else: "I'm at work, but go ahead"."""
    parts = [part for part in _PARTS.split(said.heard) if essential_tokens(part)]
    said_then = [" ".join(word_tokens(part)) for part in parts[1:]]
    meant = [part for part in said_then if part not in _ACKNOWLEDGES and not _IS_CONTENT.match(part)]
    return any(polarity_of(part) == "yes" and polarity_of(part.split()[0]) != "no" for part in meant)


def shares_words(heard: str, edge: EdgeHint) -> bool:
    """Returns True where the caller's words are the edge's, and not only a "no" or a common verb."""
    described = f"{edge.label}. {edge.condition}"
    own = {stem for phrase in (edge.label, *edge.examples) for stem in content_stems(phrase)}
    own |= set(content_stems(edge.condition, extra_stop=CONDITION_STOP))
    shared = (set(content_stems(heard)) & own) - NEGATIONS - _COMMON
    return bool(shared) or idiom_score(heard, described) > 0


def _is_yes(said: CallerUtterance, edge: EdgeHint, told: str, *, is_asked_again: bool) -> bool:
    if said.is_question or (said.heard.rstrip().endswith("?") and not assent.has_yes_word(said.heard)):
        return False
    if only_remarks(said, told):
        return True
    described = ". ".join((edge.label, edge.condition, *edge.examples))
    if assent.is_outright_yes(said.heard, told, described):
        return True
    if assent.has_reservation(said.heard) or assent.answers_nothing(said.heard):
        return False
    if assent.only_acknowledges(said.heard) and not shares_words(said.heard, edge):
        return False
    if _orders(said.heard, edge):
        return True
    if _ASKS_OPINION.search(told) or (_ASKS_IF_RIGHT.search(told) and _IS_ALL.search(said.heard)):
        # "yes, I need somebody to send me my invoice" is not done with
        return not assent.wants_to_go_on(said.heard)
    return is_asked_again and polarity_of(said.heard) == "yes" and assent.has_yes_word(said.heard)


def _orders(heard: str, edge: EdgeHint) -> bool:
    """Returns True when a part of what was said is the author's wording of the act: "she agrees, so book it"."""
    parts = [essential_tokens(part) for part in _PARTS.split(heard)]
    acts = [essential_tokens(example) for example in edge.examples if not is_plain_polarity(example)]
    return any(len(part) > 1 and part in acts for part in parts)
