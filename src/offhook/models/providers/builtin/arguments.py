"""Extracts values from callers' words: tool arguments and node variables. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from offhook.models.providers.builtin import spoken_values
from offhook.models.providers.builtin.edge_matching import count_shared_words
from offhook.models.providers.builtin.words import answer_polarity, content_stems, word_tokens

SpokenLine = tuple[Literal["caller", "agent"], str]

_KINDS: Final = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        ("email", r"e-?mail"),
        (
            "digits",
            (
                r"\b(digits?|phone|telephone|mobile|zip|postcode|postal code|pin)\b|"
                r"\b(order|account|reference|invoice|booking|customer|member|confirmation|ticket|policy|card|tracking|case)"
                r"[ _]?(number|code|id|no)\b"
            ),
        ),
        ("day", r"\b(day|date|weekday)\b"),
        ("time", r"\b(time|hour|o'clock)\b"),
        ("name", r"\b(full |first |last |sur)?name\b"),
        ("number", r"\b(rating|score|rate|how many|amount|quantity|count|age|number of)\b"),
    )
)
_ABOUT_AGENT: Final = re.compile(r"\b(the )?agent (said|told|answered|offered|promised)\b", re.IGNORECASE)
_LEADING: Final = re.compile(
    r"^((yes|yeah|well|um|uh|so|okay|ok|oh|please|maybe|probably|i think|i guess|i'd say|i would say|it was|it is|it's|"
    r"that was|that's|that is|because|mostly|the|a|an|my|our)\b[\s,]*)+",
    re.IGNORECASE,
)
# An agent's sentence about itself says nothing about the caller's matter.
_SELF_STATEMENT: Final = re.compile(
    r"^$|^(sure|please|hello|hi|thank|sorry|i'm sorry|(sure, )?i (can|will|'ll)|i'll)\b", re.IGNORECASE
)
_RANGE: Final = re.compile(
    r"\b(?:from|between)?\s*(\d+|zero|one)\s*(?:to|and|-|\u2013)\s*(\d+|three|five|seven|ten)\b", re.IGNORECASE
)
_NEGATED_TRUTH: Final = re.compile(r"\b(not|never|no|new)\b|n't\b", re.IGNORECASE)


def kind_of(name: str, described: str) -> str | None:
    """Returns the vocabulary of a value, by its name first and then by its description."""
    for text in (name.replace("_", " "), described):
        for kind, pattern in _KINDS:
            if pattern.search(text):
                return kind
    return None


def value_of(text: str, name: str, schema: Mapping[str, Any], *, may_be_whole: bool = False) -> Any:
    """Extracts one value of a JSON schema, or None. ``may_be_whole``: free text may be the whole utterance."""
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
        said = strip_lead_in(text)
        return said if may_be_whole and content_stems(text) else None
    return string_of(text, kind, may_be_whole=may_be_whole)


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
            return spoken_values.person_name(text, may_be_whole=may_be_whole)
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


# -- variables ---------------------------------------------------------------------------------------------------


def parse_lines(conversation: str) -> list[SpokenLine]:
    """Parses ``Caller: …`` and ``Agent: …`` lines; a line without a speaker continues the one before."""
    lines: list[SpokenLine] = []
    for raw in conversation.splitlines():
        speaker, colon, text = raw.partition(":")
        who = speaker.strip().lower()
        if colon and who in ("caller", "user", "customer"):
            lines.append(("caller", text.strip()))
        elif colon and who in ("agent", "assistant"):
            lines.append(("agent", text.strip()))
        elif lines and raw.strip():
            lines[-1] = (lines[-1][0], f"{lines[-1][1]} {raw.strip()}")
    return lines


def extract_variables(
    conversation: str, schema: Mapping[str, Any], variables: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Returns a value or None for each property of the schema."""
    lines = parse_lines(conversation)
    prompts = {str(v.get("name")): str(v.get("prompt") or "") for v in variables}
    properties = schema.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    return {
        name: _extract_variable(lines, name, prompts.get(name) or str(described.get("description") or ""), described)
        for name, described in properties.items()
        if isinstance(described, Mapping)
    }


def _extract_variable(lines: Sequence[SpokenLine], name: str, prompt: str, schema: Mapping[str, Any]) -> Any:
    declared = schema.get("type")
    types = set(declared) if isinstance(declared, list) else {declared}
    about = f"{name.replace('_', ' ')}. {prompt}"
    if "boolean" in types:
        return _extract_boolean(lines, name, prompt)
    if _ABOUT_AGENT.search(prompt):
        return _agent_said(lines, about)
    answers = _answers(lines, about)
    described = {**schema, "description": prompt}
    if types & {"integer", "number"} or "enum" in schema or kind_of(name, prompt) not in (None, "name"):
        everything = [*answers, *(text for who, text in reversed(lines) if who == "caller")]
        found = (value_of(text, name, described) for text in everything)
        return next((value for value in found if value is not None), None)
    for index, text in enumerate(answers):
        value = value_of(text, name, described, may_be_whole=index == 0)
        if value is not None:
            return value
    if kind_of(name, prompt) == "name":
        said = (spoken_values.person_name(text, may_be_whole=False) for who, text in reversed(lines) if who == "caller")
        return next((value for value in said if value is not None), None)
    return None


def _answers(lines: Sequence[SpokenLine], about: str) -> list[str]:
    """Returns the caller's answers right after the agent asked about this, best question first, latest answer first."""
    return [text for _, _, text in _rated_answers(lines, about)]


def _rated_answers(lines: Sequence[SpokenLine], about: str) -> list[tuple[int, int, str]]:
    rated = []
    for at, (who, text) in enumerate(lines):
        if who != "agent":
            continue
        following = [said for speaker, said in lines[at + 1 : at + 2] if speaker == "caller"]
        if following and (score := count_shared_words(text, about)):
            rated.append((score, at, following[0]))
    return sorted(rated, reverse=True)


def _extract_boolean(lines: Sequence[SpokenLine], name: str, prompt: str) -> bool | None:
    """Extracts a yes or no to the question about it; "True when … not …" inverts the answer."""
    about = f"{name.replace('_', ' ')}. {prompt}"
    rated = _rated_answers(lines, about)
    callers = [text for who, text in lines if who == "caller"]
    # the last question most likely belongs to the node; answers to other questions do not count
    last = max(rated, key=lambda answer: answer[1], default=None)
    texts = [text for score, _, text in rated if score == rated[0][0]] if rated else callers[-1:]
    if last is not None and lines[-1] == ("caller", last[2]):
        texts = [last[2], *texts]
    for text in texts:
        if (truth := _boolean_in(text, name, prompt)) is not None:
            return truth
    return None


def _boolean_in(text: str, name: str, prompt: str) -> bool | None:
    is_inverted = _NEGATED_TRUTH.search(prompt) is not None
    said = set(content_stems(text))
    if (answer := answer_polarity(text)) is not None:
        return (answer == "yes") != is_inverted
    is_denied = bool(said & {"not", "never", "no"})
    if set(content_stems(name.replace("_", " "))) & said:
        return not is_denied
    # "I have been there before" repeats the question
    asked = set(content_stems(prompt)) - {"tru", "not", "no"}
    return (not is_denied) != is_inverted if asked & said - {"not", "never", "no"} else None


def _agent_said(lines: Sequence[SpokenLine], about: str) -> str | None:
    """Returns the agent's statement about it, without the question that follows."""
    best: tuple[int, int, str] | None = None
    for at, (who, text) in enumerate(lines):
        if who != "agent":
            continue
        for sentence in re.findall(r"[^.!?]+[.!?]*", text):
            if _SELF_STATEMENT.match(sentence.strip()) or sentence.strip().endswith("?"):
                continue
            if score := count_shared_words(sentence, about):
                best = max(best or (0, 0, ""), (score, at, sentence.strip()))
    return best[2] if best else None
