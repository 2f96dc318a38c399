"""Extracts values and tools' arguments from callers' words. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from offhook.models.providers.builtin.english import names, spoken_values
from offhook.models.providers.builtin.english.utterance import parse_utterance
from offhook.models.providers.builtin.english.words import answer_polarity, content_stems, word_tokens
from offhook.models.providers.builtin.value_kinds import kind_of

# A shorter number, said where it was not asked for, may be anything.
MIN_REMARKED_DIGITS: Final = 4
MAX_SCALE: Final = 10
MIN_PHONE_DIGITS: Final = 7
_PHONE: Final = re.compile(r"\b(?:phone|telephone|mobile|cell)\b", re.IGNORECASE)
_LEADING: Final = re.compile(
    r"^((yes|yeah|well|um|uh|so|okay|ok|oh|please|maybe|probably|i think|i guess|i'd say|i would say|it was|it is|it's|"
    r"that was|that's|that is|because|mostly|the|a|an|my|our)\b[\s,]*)+",
    re.IGNORECASE,
)
_RANGE: Final = re.compile(
    r"\b(?:from|between)?\s*(\d+|zero|one)\s*(?:to|and|-|\u2013)\s*(\d+|three|five|seven|ten)\b", re.IGNORECASE
)


def min_digits(described: str) -> int:
    """Returns how many digits a number has at least: fewer are a part of it."""
    return MIN_PHONE_DIGITS if _PHONE.search(described) else MIN_REMARKED_DIGITS


_OTHER_NUMBER: Final = re.compile(
    r"\b(?:my|our|the|his|her) (?:\w+ )?(?P<what>phone|cell|mobile|telephone|zip|account|card|customer|member|house|apartment|tracking|invoice|fax|extension|social security)"
    r"(?: (?:number|code))?(?: is| ends)?[ :]+(?=(?:\w+ )*?(?:\d|zero|oh|one|two|three|four|five|six|seven|eight|nine|double|triple))(?:(?! and )[^,;.!?])*",
    re.IGNORECASE,
)


# "Will my phone number work? It's …"
_OFFERED_NUMBER: Final = re.compile(
    r"(?P<number>\bmy (?:\w+ )?(?:phone|cell|mobile|telephone|zip)(?: (?:number|code))?)(?: \w+){0,3}\? ?(?:(?:it|that)(?:'s| is) )?",
    re.IGNORECASE,
)


def drop_other_numbers(text: str, about: str) -> str:
    """Returns a text without a number that is named as something else: "my phone is …" to "your order number?"."""
    return _OTHER_NUMBER.sub(
        lambda match: match.group() if match["what"].lower() in about.lower() else " ",
        _OFFERED_NUMBER.sub(r"\g<number> is ", text),
    )


def value_of(text: str, name: str, schema: Mapping[str, Any], *, may_be_whole: bool = False) -> Any:
    """Extracts one value of a JSON schema from what stands of an utterance, or None.

    ``may_be_whole``: free text may be the whole utterance.
    """
    said = parse_utterance(text)
    if said.refused or said.is_correction:
        text = said.standing
    options = schema.get("enum")
    if isinstance(options, list):
        return _matching_option(text, options)
    declared = schema.get("type")
    types = declared if isinstance(declared, list) else [declared]
    if "boolean" in types:
        answer = answer_polarity(text)
        return None if answer is None else answer == "yes"
    if "integer" in types or "number" in types:
        found = spoken_values.first_number(text)
        if found is None or not _is_in_range(found, f"{name} {schema.get('description') or ''}"):
            return None
        return int(found) if "integer" in types or found.is_integer() else found
    if not {"string", None} & set(types):
        return None
    kind = kind_of(name, str(schema.get("description") or ""))
    if kind is None:
        answer_text = strip_lead_in(text)
        return answer_text if may_be_whole and content_stems(text) else None
    if kind == "digits":
        text = drop_other_numbers(text, f"{name} {schema.get('description') or ''}")
    return string_of(text, kind, may_be_whole=may_be_whole)


def scale_of(described: str) -> tuple[float, ...]:
    """Returns the whole numbers of the scale that a description names ("from 1 to 5"); none when it names none."""
    match = _RANGE.search(described)
    low, high = (spoken_values.first_number(end) for end in match.groups()[:2]) if match is not None else (None, None)
    if low is None or high is None or not 0 < high - low <= MAX_SCALE:
        return ()
    return tuple(float(number) for number in range(int(low), int(high) + 1))


def _is_in_range(value: float, described: str) -> bool:
    """Returns True when a number is on the scale that a description names ("from 1 to 5") or there is none."""
    match = _RANGE.search(described)
    if match is None:
        return True
    low, high = spoken_values.first_number(match[1]), spoken_values.first_number(match[2])
    return low is None or high is None or low <= value <= high


def string_of(text: str, kind: str, *, may_be_whole: bool = True) -> str | None:
    match kind:
        case "digits":
            return spoken_values.all_digits(text) or None
        case "email":
            return spoken_values.email_address(text)
        case "day":
            return spoken_values.day_phrase(text)
        case "time":
            return spoken_values.time_of_day(text, may_be_lone=len(word_tokens(text)) <= 4)
        case "name":
            return names.person_name(text, may_be_whole=may_be_whole)
        case _:
            found = spoken_values.first_number(text)
            return None if found is None else f"{found:g}"


def _matching_option(text: str, options: Sequence[Any]) -> Any:
    words = set(content_stems(text))
    said = f" {' '.join(word_tokens(text))} "
    for option in options:
        if isinstance(option, str) and f" {' '.join(word_tokens(option.replace('_', ' ')))} " in said:
            return option
    rated = [
        (len(words & set(content_stems(option.replace("_", " ")))), -at, option)
        for at, option in enumerate(options)
        if isinstance(option, str)
    ]
    best = max(rated, default=(0, 0, None))
    if best[0] > 0:
        return best[2]
    found = spoken_values.first_number(text)
    return next((o for o in options if isinstance(o, int | float) and not isinstance(o, bool) and o == found), None)


def strip_lead_in(text: str) -> str:
    """Returns an answer without its lead-in: "well, it was the food." → "food"."""
    return _LEADING.sub("", text.strip()).strip(" .!?,;") or text.strip(" .!?,;")


def extract_arguments(
    parameters: Mapping[str, Any], utterances: Sequence[str], *, is_asked: bool
) -> tuple[dict[str, Any], list[str]]:
    """Extracts a tool's arguments from utterances, newest first, and names the missing required ones.

    ``is_asked``: the agent has asked for the one required free text, so the whole answer may be it.
    """
    properties = parameters.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    required = [name for name in parameters.get("required") or () if name in properties]
    found: dict[str, Any] = {}
    for name, schema in properties.items():
        if not isinstance(schema, Mapping):
            continue
        for index, text in enumerate(utterances):
            whole = is_asked and index == 0 and required == [name]
            value = value_of(text, name, schema, may_be_whole=whole)
            if value is not None:
                found[name] = value
                break
        else:
            if "default" in schema:
                found[name] = schema["default"]
    return found, [name for name in required if name not in found]


def is_too_short(parameters: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    """Returns True for digits that may be anything: "I have two things"."""
    properties = parameters.get("properties") or {}
    return any(
        kind_of(name, str(properties.get(name, {}))) == "digits" and len(str(value)) < MIN_REMARKED_DIGITS
        for name, value in found.items()
    )
