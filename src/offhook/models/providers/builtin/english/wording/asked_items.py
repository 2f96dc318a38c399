"""Asks for several things at once, and for what an author names without a verb: "day, time and if kids". Pure."""

import re
from collections.abc import Iterator
from itertools import groupby, pairwise
from typing import Final

from offhook.models.providers.builtin.english.question_forms import ask_clause, write_question

TELL_ME: Final = "Could you please tell me"
QUESTION_WORD: Final = r"(?:what|which|when|how|where|who|whose|whom|whether|if|why)"
_VALUE: Final = (
    r"(?:names?|surname|number|phone|telephone|mobile|cell|e-?mail|address|street|zip(?: ?code)?|postcode|age|ages|birthday|date of birth|date|day|time|dates|times|place|location|"
    r"size|colou?r|weight|height|breed|make|model|year|mileage|budget|area|insurance|reason|quantity|amount|city|town|state|country|apartment|unit|room|destination|"
    r"arrival|departure|title|author|company|job|position|id|allergies|symptoms|plate|brand|flavou?r|licen[cs]e|nationality|grade|class)"
)
_NAMED: Final = re.compile(
    rf"(?:(?:for )?(?:your|the|a|an|any|our|both|last|first) [\w' -]+|(?:for )?(?:(?!{QUESTION_WORD}\b|do\b|does\b|is\b|are\b)[\w'-]+ ){{0,2}}{_VALUE}\b(?: (?:of|for|on) [\w' -]+)?)",
    re.IGNORECASE,
)
_WHEN: Final = re.compile(r"(?:(?:what|which|a) )?(?P<what>day|date|time|hour|dates|days|times)", re.IGNORECASE)
_IMPERSONAL: Final = re.compile(
    r"(?:date|day|time|dates|times|place|location|weight|breed|make|model|year|mileage|title|author|brand|reason|quantity|amount|plate|time of day|(?:best|easiest|right) [\w ]+ to)\b",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(rf"(?:(?:for|on|at|in|from|since|until|with|by|to) )?{QUESTION_WORD}\b", re.IGNORECASE)
_ASKED: Final = re.compile(
    r"(?:is|are|was|were|does|did|has|had|can|could|will|would|should|may|might|(?:do|have)(?= (?:I|you|we|they)\b)|isn't|aren't|don't|doesn't|didn't|can't)"
    r" (?:I|you|we|it|they|that|this|there|the|your|our|any\w*|some\w*|every\w*|he|she|a|an)\b",
    re.IGNORECASE,
)
_WHICH_PAIR: Final = re.compile(
    rf"(?P<which>what|which) (?!day\b|date\b|time\b)[\w-]+(?:, [\w-]+)*,? and (?!(?:your|the|a|an|{QUESTION_WORD}|names?|phone|number|email|address)\b)[\w-]+",
    re.IGNORECASE,
)
# "if you have a license and a car" is one question
_MORE_OF_IT: Final = re.compile(rf"(?:a|an|the|any|our) (?!(?:[\w-]+ )?{_VALUE}\b).*", re.IGNORECASE)
_SEPARATOR: Final = re.compile(r"\s*,\s*(?:and\s+)?|\s+and\s+(?:also\s+)?")


def ask_directly(words: str) -> str | None:
    """Returns "Do you want it?" for "do you want it": what is a question already; else None."""
    return write_question(words) if _ASKED.match(words) else None


def ask_items(rest: str) -> str | None:
    """Returns one question for a list: "what day, time and name" is "What day and time would you like, and what is your name?".

    None for what is no list of things and questions.
    """
    rest = re.sub(r"\ba (?:\w+ )?(?=message\b)", "your ", re.sub(r"^for ", "", rest.strip()))
    items = [item.strip() for item in _SEPARATOR.split(rest) if item.strip()]
    if all(_WHEN.fullmatch(item) for item in items):
        return write_question(f"what {_join_items([_when_word(item) for item in items])} would you like")
    if which := _WHICH_PAIR.fullmatch(rest):
        return write_question(f"{rest} would you like" if which["which"].lower() == "which" else rest)
    if len(items) == 1 or not all(_item_kind(item) for item in items):
        return None
    kinds = {_item_kind(item) for item in items}
    if all(_CLAUSE.match(item) or _ASKED.match(item) for item in items):
        return None
    if any(
        _item_kind(first) == "clause" and _item_kind(second) == "named" and _MORE_OF_IT.fullmatch(second)
        for first, second in pairwise(items)
    ):
        return None
    is_mixed = kinds == {"named", "when"} and _WHEN.fullmatch(items[0]) and all(_is_personal(item) for item in items)
    if kinds <= {"named", "when"} and not is_mixed:
        named = [_WHEN.sub(r"\g<what>", item) if _WHEN.fullmatch(item) else item for item in items]
        return f"{TELL_ME} {with_article(rest if named == items else _join_items(named))}?"
    asked = [question for kind, group in groupby(items, key=_item_kind) for question in _ask_group(kind, list(group))]
    return write_question(_join_items([asked[0], *(_uncapitalized(part) for part in asked[1:])], pair=", and "))


def _is_personal(item: str) -> bool:
    return _WHEN.fullmatch(item) is not None or with_article(item).startswith("your")


def _item_kind(item: str) -> str:
    if _WHEN.fullmatch(item):
        return "when"
    if _CLAUSE.match(item) or _ASKED.match(item):
        return "clause"
    return "named" if _NAMED.fullmatch(item) and not re.search(r" (?:is|are|do|does|can|will)\b", item) else ""


def _ask_group(kind: str, items: list[str]) -> Iterator[str]:
    if kind == "when":
        yield f"what {_join_items([_when_word(item) for item in items])} would you like"
    elif kind == "named":
        items = [re.sub(r"^for ", "", item) for item in items]
        yield f"what is {with_article(_join_items(items))}"
    else:
        for item in items:
            yield (ask_directly(item) or ask_clause(item)).rstrip("?")


def _when_word(item: str) -> str:
    match = _WHEN.fullmatch(item)
    return match["what"].lower() if match else item


def _uncapitalized(part: str) -> str:
    return part if re.match(r"I\b", part) else f"{part[:1].lower()}{part[1:]}"


def _join_items(parts: list[str], pair: str = " and ") -> str:
    if len(parts) < 3:
        return pair.join(parts)
    return f"{', '.join(parts[:-1])}, and {parts[-1]}"


def with_article(named: str) -> str:
    """Returns "your name" for "name" and "the make and model" for "make and model": a terse author leaves out whose."""
    if re.match(
        r"(?:the|your|our|a|an|any|some\w*|it|this|that|all|both|either|each|one|two|three|how|what|which|more|my|every\w*|which\w*)\b|[\w-]+'s\b",
        named,
        re.IGNORECASE,
    ):
        return named
    if re.match(r"reason for (?:call|calling|visit|appointment|return)", named, re.IGNORECASE):
        return f"the {re.sub('^reason for ', 'reason for your ', named, flags=re.IGNORECASE)}"
    is_impersonal = _IMPERSONAL.match(named) and not re.match(r"date of birth\b", named, re.IGNORECASE)
    return f"the {named}" if is_impersonal or re.search(r" of the\b", named) else f"your {named}"
