"""Extracts a node's variables from the conversation about it. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin.acts.last_answer import UNKNOWN_ANSWER, LastAnswer
from offhook.models.providers.builtin.arguments import (
    drop_other_numbers,
    min_digits,
    scale_of,
    string_of,
    value_of,
)
from offhook.models.providers.builtin.edge_matching import choose_edge
from offhook.models.providers.builtin.edge_polarity import edge_polarity
from offhook.models.providers.builtin.english import names, offered_options, spoken_values
from offhook.models.providers.builtin.english.assent import is_not_yet
from offhook.models.providers.builtin.english.choices import drop_mentions
from offhook.models.providers.builtin.english.corrections import corrected_part, replace_part, values_in
from offhook.models.providers.builtin.english.numbers.ratings import changes_to_number, rating_in, says_it_again
from offhook.models.providers.builtin.english.overlap import count_shared_words
from offhook.models.providers.builtin.english.polarity import polarity_of
from offhook.models.providers.builtin.english.questions import FILLERS
from offhook.models.providers.builtin.english.refusals import postpones, puts_off
from offhook.models.providers.builtin.english.utterance import CallerUtterance, parse_utterance, shorten_utterance
from offhook.models.providers.builtin.english.words import answer_polarity, content_stems, word_tokens
from offhook.models.providers.builtin.hearing.punctuation import punctuate
from offhook.models.providers.builtin.outright_edges import edge_said_outright
from offhook.models.providers.builtin.value_kinds import asks_address, kind_of, street_address

SpokenLine = tuple[Literal["caller", "agent"], str]

# Values with a vocabulary of their own: a later one replaces an earlier one.
CORRECTED_KINDS: Final = frozenset({"day", "time", "digits", "email"})
_ABOUT_AGENT: Final = re.compile(r"\b(the )?agent (said|told|answered|offered|promised)\b", re.IGNORECASE)
# An agent's sentence about itself says nothing about the caller's matter.
_SELF_STATEMENT: Final = re.compile(
    r"^$|^(sure|please|hello|hi|thank|sorry|i'm sorry|(sure, )?i (can|will|'ll)|i'll)\b", re.IGNORECASE
)
_ASKS_TIME: Final = re.compile(r"\b(?:what|which) times?\b|\btime (?:is|would be) best\b", re.IGNORECASE)
_ASKS_NAME: Final = re.compile(r"\b(?:who|whom|name)\b", re.IGNORECASE)
_NEGATED_TRUTH: Final = re.compile(r"\b(not|never|no)\b|n't\b", re.IGNORECASE)
# "True for a new patient" is the opposite of "Have you been here before?", not of "Is this a new order?".
_NEW: Final = re.compile(r"\b(new|first)\b", re.IGNORECASE)
_BEFORE: Final = re.compile(r"\b(before|already|ever|existing|returning|been|earlier)\b", re.IGNORECASE)
# "I can lift that, no bother" denies nothing.
_NO_TROUBLE: Final = re.compile(
    r"\bno (?:bother|problems?|trouble|sweat|issues?|worries|doubt|big deal)\b", re.IGNORECASE
)
# "Forget the return, I'll keep it"
_TAKES_BACK: Final = re.compile(r"\b(?:forget|never ?mind|scrap|skip)\b", re.IGNORECASE)


def parse_lines(conversation: str) -> list[SpokenLine]:
    """Parses ``Caller: …`` and ``Agent: …`` lines; a line without a speaker continues the one before."""
    lines: list[SpokenLine] = []
    for raw in conversation.splitlines():
        speaker, colon, text = raw.partition(":")
        who = speaker.strip().lower()
        if colon and who in ("caller", "user", "customer"):
            lines.append(("caller", shorten_utterance(text)))
        elif colon and who in ("agent", "assistant"):
            lines.append(("agent", text.strip()))
        elif lines and raw.strip():
            lines[-1] = (lines[-1][0], shorten_utterance(f"{lines[-1][1]} {raw}"))
    return [(who, punctuate(text) if who == "caller" else text) for who, text in lines]


def extract_variables(
    conversation: str,
    schema: Mapping[str, Any],
    variables: Sequence[Mapping[str, Any]],
    known: Sequence[Mapping[str, Any]] = (),
    edges: Sequence[EdgeHint] = (),
    answer: LastAnswer = UNKNOWN_ANSWER,
) -> dict[str, Any]:
    """Returns a value or None for each property of the schema, and of ``known`` variables those that were corrected.

    ``edges`` are the node's: the one that the last answer takes says what the answer means. ``answer`` is what a
    classifier knows of it.
    """
    lines = parse_lines(conversation)
    taken = _edge_of_last_answer(lines, edges) or answer.edge
    prompts = {str(v.get("name")): str(v.get("prompt") or "") for v in variables}
    properties = schema.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    question = next((text for who, text in reversed(lines) if who == "agent"), "")
    # "no, Wednesday at four" to "shall I book Tuesday?" is no answer to what was asked before
    changes_value = _names_value(question) and bool(lines) and _names_value(lines[-1][1])
    found: dict[str, Any] = {}
    for name, described in properties.items():
        if not isinstance(described, Mapping):
            continue
        about = f"{name.replace('_', ' ')}. {prompts.get(name) or ''}"
        is_elsewhere = changes_value and not count_shared_words(question, about)
        found[name] = None if is_elsewhere else _meaning_of_edge(taken, prompts.get(name) or "", question, described)
        if found[name] is None:
            prompt = prompts.get(name) or str(described.get("description") or "")
            is_said_now = not is_elsewhere or kind_of(name, prompt) in CORRECTED_KINDS
            is_said_now = is_said_now and not (answer.rates_nothing and _is_number(described))
            found[name] = _extract_variable(lines if is_said_now else lines[:-1], name, prompt, described)
    said_again = [text for who, text in reversed(lines) if who == "caller" and says_it_again(text)]
    for variable in known:
        name, prompt = str(variable.get("name")), str(variable.get("prompt") or "")
        if variable.get("type") in ("integer", "number"):
            ratings = (rating_in(text, scale_of(prompt)) for text in said_again)
            rating = next((rating for rating in ratings if rating is not None), None)
            found |= {name: _as_declared(rating, {variable["type"]})} if rating is not None else {}
        if variable.get("type", "string") == "string" and (kind := kind_of(name, prompt)) in CORRECTED_KINDS:
            found[name] = _newest_value(lines, f"{name.replace('_', ' ')}. {prompt}", kind)
        if variable.get("type", "string") == "string" and (whole := _corrected_value(lines, name, prompt)) is not None:
            found[name] = whole
    return found


def _corrected_value(lines: Sequence[SpokenLine], name: str, prompt: str) -> str | None:
    """Returns the value of an earlier answer with the part that the caller has corrected since."""
    for at in range(len(lines) - 1, 0, -1):
        who, text = lines[at]
        if who == "caller" and (part := corrected_part(text)) is not None:
            before = _extract_variable(lines[:at], name, prompt, {"type": "string"})
            if isinstance(before, str) and (whole := replace_part(before, *part)) is not None:
                return whole
    return None


def _is_number(schema: Mapping[str, Any]) -> bool:
    declared = schema.get("type")
    return bool({"integer", "number"} & (set(declared) if isinstance(declared, list) else {declared}))


def _names_value(text: str) -> bool:
    return spoken_values.day_phrase(text) is not None or spoken_values.clock_time(text) is not None


def _edge_of_last_answer(lines: Sequence[SpokenLine], edges: Sequence[EdgeHint]) -> EdgeHint | None:
    if not lines or lines[-1][0] != "caller":
        return None
    said = parse_utterance(lines[-1][1])
    if said.is_modified or not (text := said.statement or said.standing):
        return None
    choice = edge_said_outright(said, choose_edge(text, edges), edges)
    if choice is None or (said.polarity is None and is_not_yet(said.heard)):
        return None
    return choice.edge


def _is_inverted(prompt: str, question: str) -> bool:
    """Returns True when a yes to the question makes what the prompt describes false."""
    is_new = _NEW.search(prompt) is not None and _BEFORE.search(prompt) is None
    return _NEGATED_TRUTH.search(prompt) is not None or (is_new and _BEFORE.search(question) is not None)


def _meaning_of_edge(edge: EdgeHint | None, prompt: str, question: str, schema: Mapping[str, Any]) -> Any:
    """Returns the truth or the number that an edge stands for: "first visit" is a no, "five" is 5; else None."""
    declared = schema.get("type")
    types = set(declared) if isinstance(declared, list) else {declared}
    if edge is None:
        return None
    if "boolean" in types and (polarity := edge_polarity(edge)) is not None:
        return (polarity == "yes") != _is_inverted(prompt, question)
    if types & {"integer", "number"} and (number := spoken_values.first_number(edge.label)) is not None:
        return int(number) if number.is_integer() else number
    return None


def _newest_value(lines: Sequence[SpokenLine], about: str, kind: str) -> str | None:
    """Returns the value that stands in the end: the newest answer, or a later remark that names one outright."""
    part: str | None = None
    for at in range(len(lines) - 1, -1, -1):
        who, text = lines[at]
        said = parse_utterance(text)
        is_asked_back = said.is_question and not said.statement and not said.wants_change and kind in ("day", "time")
        if who != "caller" or not said.standing or is_asked_back:
            continue
        before = next((line for speaker, line in reversed(lines[:at]) if speaker == "agent"), "")
        is_answer = count_shared_words(before, about) > 0
        if kind == "time" and is_answer and (picked := _picked_time(before, said)) is not None:
            return picked
        # "did you say two? I meant four"
        is_asked_and_said = said.is_correction and said.is_question and bool(values_in(said.statement))
        stated = said.statement if is_asked_and_said else said.standing
        stated = drop_mentions(stated, f"{before} {about}") if kind in ("day", "time") else stated
        stated = drop_other_numbers(stated, about) if kind == "digits" else stated
        value = string_of(stated, kind, may_be_whole=False)
        may_be_lone = (
            bool(offered_options.offered_hours(before))
            or changes_to_number(said, stated)
            or bool(_ASKS_TIME.search(before))
        )
        if kind == "time" and is_answer and value is None and may_be_lone:
            value = spoken_values.time_of_day(stated)
        if kind == "day" and is_answer and value is None and not offered_options.offered_hours(before):
            value = offered_options.answered_day(stated)
        if kind == "time" and not is_answer:
            value = _remarked_time(before, said, stated)
            part = part or (spoken_values.time_of_day(said.standing, may_be_lone=False) if said.is_correction else None)
        if kind == "digits" and value is not None and len(value) < min_digits(about):
            value = None
        if value is not None:
            # "actually, the afternoon would be better" replaces a morning, no hour
            return part if part is not None and part != value and value.startswith("in the") else value
    return None


def _remarked_time(before: str, said: CallerUtterance, stated: str) -> str | None:
    """Returns a clock time that was not asked for: "nine" to "shall I book two o'clock?", "make it four instead"."""
    words = word_tokens(stated)
    is_lone = len(words) <= 2 and spoken_values.clock_time(before) is not None
    may_be_lone = is_lone or changes_to_number(said, stated)
    found = spoken_values.time_of_day(stated, may_be_lone=may_be_lone)
    return None if found is None or found.startswith("in the") else found


def _picked_time(before: str, said: CallerUtterance) -> str | None:
    """Returns the offered time that "the later one" picks; None when a time was named."""
    hours = offered_options.offered_hours(before)
    named = spoken_values.time_of_day(said.standing)
    if (
        not hours
        or spoken_values.clock_time(said.standing)
        or (named is not None and offered_options.hour_of(named) in hours)
    ):
        return None
    picked = offered_options.pick_hour(hours, said.standing)
    return None if picked is None else offered_options.spoken_hour(picked)


def _extract_variable(lines: Sequence[SpokenLine], name: str, prompt: str, schema: Mapping[str, Any]) -> Any:
    declared = schema.get("type")
    types = set(declared) if isinstance(declared, list) else {declared}
    about = f"{name.replace('_', ' ')}. {prompt}"
    if "boolean" in types:
        return _extract_boolean(lines, name, prompt)
    if _ABOUT_AGENT.search(prompt):
        return _agent_said(lines, about)
    kind = kind_of(name, prompt)
    if "string" in types and "enum" not in schema and kind in CORRECTED_KINDS:
        return _newest_value(lines, about, kind)
    # best question first, latest answer first
    answers = [text for _, _, text in _rated_answers(lines, about)]
    if types & {"integer", "number"} and (scale := scale_of(about)):
        corrected = lines[-1][1] if lines and lines[-1][0] == "caller" else ""
        ratings = [rating_in(text, scale) for text in ((corrected,) if says_it_again(corrected) else answers)]
        return next((_as_declared(rating, types) for rating in ratings if rating is not None), None)
    described = {**schema, "description": prompt}
    if types & {"integer", "number"} or "enum" in schema or kind_of(name, prompt) not in (None, "name"):
        return _first_of(value_of(text, name, described) for text in (*answers, *_said_by_caller(lines)))
    if asks_address(name, prompt) and (place := _first_of(map(street_address, _said_by_caller(lines)))) is not None:
        return place
    return _extract_text(lines, name, prompt, described, answers)


def _extract_text(
    lines: Sequence[SpokenLine], name: str, prompt: str, described: Mapping[str, Any], answers: list[str]
) -> Any:
    """Returns the answer that a caller gave in their own words, or a name. ``answers``: the likeliest first."""
    about, kind = f"{name.replace('_', ' ')}. {prompt}", kind_of(name, prompt)
    if kind is None and lines and lines[-1][0] == "caller" and len(content_stems(lines[-1][1])) > 1:
        answers = [offered_options.drop_reason(lines[-1][1], lines[-2][1] if len(lines) > 1 else ""), *answers]
    if kind is None and _answers_nothing(lines, about):
        return None
    # "I said four, not five" is about another question
    answers = [text for text in answers if not (says_it_again(text) and spoken_values.all_numbers(text))]
    for index, text in enumerate(filter(None, map(_without_leave, map(_without_question, answers)))):
        value = value_of(text, name, described, may_be_whole=index == 0)
        if value is not None:
            return value
    if kind == "name":
        who_asked = len(lines) > 1 and lines[-1][0] == "caller" and _ASKS_NAME.search(lines[-2][1]) is not None
        if who_asked and (answered := names.person_name(lines[-1][1])) is not None:
            return answered
        return _first_of(names.person_name(text, may_be_whole=False) for text in _said_by_caller(lines))
    return None


def _said_by_caller(lines: Sequence[SpokenLine]) -> Iterator[str]:
    """Yields what the caller said, the newest first."""
    return (text for who, text in reversed(lines) if who == "caller")


def _first_of(values: Iterable[Any]) -> Any:
    return next((value for value in values if value is not None), None)


def _answers_nothing(lines: Sequence[SpokenLine], about: str) -> bool:
    """Returns True for a caller who only takes leave, or hangs up at the question."""
    is_open = bool(lines) and lines[-1][0] == "agent" and count_shared_words(_question_in(lines[-1][1]), about) > 0
    return is_open or not _without_leave(next((text for who, text in reversed(lines) if who == "caller"), "-"))


def _as_declared(value: float, types: set[Any]) -> int | float:
    return int(value) if "integer" in types or value.is_integer() else value


def _without_question(text: str) -> str:
    """Returns what a caller states: "do you have parking?" in between is not the answer."""
    said = parse_utterance(text)
    return said.statement if said.is_question else text


def _without_leave(text: str) -> str:
    """Returns what a caller says before taking leave: "I've got to run, my bus is here" answers nothing."""
    said = parse_utterance(text)
    if not said.wants_to_stop:
        return text
    clauses = [clause for clause in said.standing.split(", ") if content_stems(clause)]
    leaves = [parse_utterance(clause).wants_to_stop for clause in clauses]
    before = clauses[: leaves.index(True)] if True in leaves else clauses
    return ", ".join(clause for clause in before if set(content_stems(clause)) - FILLERS)


def _rated_answers(lines: Sequence[SpokenLine], about: str) -> list[tuple[int, int, str]]:
    """Returns ``(words shared with the question, index of the question, answer)``, best first."""
    rated = []
    for at, (who, text) in enumerate(lines):
        if who != "agent":
            continue
        following = [said for speaker, said in lines[at + 1 : at + 2] if speaker == "caller"]
        if following and (score := count_shared_words(_question_in(text), about)):
            rated.append((score, at, following[0]))
    return sorted(rated, reverse=True)


def _question_in(text: str) -> str:
    """Returns the questions of what an agent said, all of it where it asks none: "this is Harbor Hotel" asks nothing."""
    asked = [sentence for sentence in re.findall(r"[^.!?]+[.!?]*", text) if sentence.rstrip().endswith("?")]
    return " ".join(asked) or text


def _extract_boolean(lines: Sequence[SpokenLine], name: str, prompt: str) -> bool | None:
    """Extracts a yes or no to the question about it; "True when … not …" inverts the answer."""
    latest = next((text for who, text in reversed(lines) if who == "caller"), "")
    if puts_off(latest) or (postpones(latest) and answer_polarity(latest) != "yes"):
        return None
    about = f"{name.replace('_', ' ')}. {prompt}"
    if lines and lines[-1][0] == "agent" and count_shared_words(_question_in(lines[-1][1]), about):
        # who hangs up at "shall I book it?" has confirmed nothing
        return None
    rated = _rated_answers(lines, about)
    callers = [at for at, (who, _) in enumerate(lines) if who == "caller"]
    # the last question most likely belongs to the node; answers to other questions do not count
    last = max((asked_at for _, asked_at, _ in rated), default=None)
    asked = [at for score, at, _ in rated if score == rated[0][0]] if rated else [at - 1 for at in callers[-1:]]
    if last is not None and callers[-1:] == [last + 1]:
        # "depends" to this question is not the "okay" to another one that names the hotel too
        topic = _topic_of(lines[last][1], about)
        asked = [last, *(at for at in asked if _topic_of(lines[at][1], about) == topic)]
    for at in asked:
        question = lines[at][1] if at >= 0 and lines[at][0] == "agent" else ""
        if (truth := _boolean_in(lines[at + 1][1], name, prompt, question)) is not None:
            return truth
    return None


def _topic_of(question: str, about: str) -> set[str]:
    return set(content_stems(question)) & set(content_stems(about))


def _boolean_in(text: str, name: str, prompt: str, question: str) -> bool | None:
    is_inverted = _is_inverted(prompt, question)
    said_in_full = parse_utterance(text)
    if said_in_full.is_modified and _changes_value(said_in_full):
        return None
    is_corrected = said_in_full.is_correction and polarity_of(said_in_full.standing)
    text = said_in_full.standing if is_corrected else said_in_full.heard
    said = set(content_stems(_NO_TROUBLE.sub(" ", text)))
    if word_tokens(text) == ["please"]:
        return not is_inverted
    if (answer := polarity_of(text)) is not None:
        return (answer == "yes") != is_inverted
    if is_not_yet(text):
        return None
    is_denied = bool(said & {"not", "never", "no"}) or _TAKES_BACK.search(text) is not None
    if set(content_stems(name.replace("_", " "))) & said:
        return not is_denied
    # "I have been there before" repeats the question
    asked = set(content_stems(prompt)) - {"tru", "not", "no"}
    return (not is_denied) != is_inverted if asked & said - {"not", "never", "no"} else None


def _changes_value(said: CallerUtterance) -> bool:
    """Returns True for "yes, but could it be four instead?", which confirms nothing yet."""
    return bool(values_in(said.standing) & {"day", "time"}) or changes_to_number(said, said.standing)


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
