"""Clauses of a caller that later ones take back, reverse or replace: "Tuesday, no, Thursday". Pure."""

import re
from typing import Final

from offhook.models.providers.builtin.english import spoken_values
from offhook.models.providers.builtin.english.polarity import polarity_of
from offhook.models.providers.builtin.english.words import content_stems, word_tokens

# What comes after one of these replaces what came before.
_TAKES_BACK: Final = re.compile(
    r"\b(no wait|wait|hang on|hold on|scratch that|i mean|i meant(?! to (?:call|dial|reach|phone))|i ment|make (?:that|it)|or rather|rather|actually|instead|"
    r"change (?:that|it) to|correction|my mistake|on second thoughts?|better|let us say|(?:it|that) (?:will|would) have to be|i should have said|(?<!said )(?<!say )(?<!saying )sorry(?! to )|oops|never mind)\b"
)
# Said by itself between two statements, or before the second, it takes back the first.
_NO_BETWEEN: Final = re.compile(
    r"^(?:(?:oh|well|um|uh|so|and|wait|sorry|actually|hang on|hold on) )*(?:no|nope|i mean(?:t(?! to (?:call|dial|reach|phone)))?|scratch that|correction|or rather|i said|make that|no wait|wait no)"
    r"(?: (?:no|wait|sorry|actually|hang on|hold on|well|i mean(?:t(?! to (?:call|dial|reach|phone)))?))*(?= |$)(?! (?:problems?|bother|trouble|sweat|issue|worries|doubt|question|thanks|thank|need|idea|reason|more|one|way|chance|longer|"
    r"plans?|rush|hurry|emergency|labels?|stairs|gate|elevator|lift|pets?|dogs?|kids|guests?|company|allerg\w+|preference|interest|signal|internet|lights?|heat|power|complaints?|comments?|notes?|surprise|good|luck|offense|later|earlier|sooner|gluten|meat|dairy|nuts)\b)(?! (?:\w+ ){1,2}(?:for (?:me|us)|here|at all)$)"
)
_RATHER_THAN: Final = re.compile(r" (?:more than|rather than|instead of|not) (?:the |my |our |your )?(?P<what>\w+)$")
_EXCUSES: Final = re.compile(r"\b(?:is|was|were|are) (?:all right|alright|fine|okay|ok|good|great|not bad)$")
# "I was going to move it, but you know what, cancel it."
_WAS_GOING: Final = re.compile(
    r"^(?:(?:well|oh|so|um|uh|actually) )*(?:i|we) (?:was|were|had been) (?:going|meaning|planning|hoping|about) to\b"
)
# What would have been is not what is: "it would have been five".
_COUNTERFACTUAL: Final = re.compile(
    r"\b(?:would|could|might|(?<!i )should) (?:not )?have (?:been|given|said)\b(?! (?:here|there|delivered|shipped|done|home))"
)
_LEAD_WORDS: Final = re.compile(
    r"^(?:(?:well|oh|um|uh|hmm|actually|honestly|wait|sorry|i mean|and|so|hang on|hold on)\b ?)+(?=\w)"
)
# "It is not green, it is red", "my name is right but the number is not".
_IS_NOT: Final = re.compile(r"^(?P<what>it|that|this|they|mine) (?:is|are|was|were) not \w+(?: \w+)?$")
_IS: Final = re.compile(r"^(?P<what>it|that|this|they|mine) (?:is|are|was|were) (?!not\b)\w")
_AFFIRMED: Final = re.compile(r"\b(?:is|are|was) (?:right|correct|fine|good|okay|ok)$")
_NOT_RIGHT: Final = re.compile(r"\b(?:is|are|was) (?:not(?: (?:right|correct))?|wrong|incorrect|off)$")
# What explains a mistake is no answer: "two, sorry, I thought one was best, four".
_THOUGHT: Final = re.compile(
    r"^(?:(?:sorry|oh|no|well|because) )*i (?:thought|figured|assumed|misheard|misread|mixed)\b"
)
# "I thought you asked whether we had complaints" is not what the caller says now.
_MISHEARD: Final = re.compile(
    r"\bi thought (?:that )?(?:you|it|this) (?:asked|said|meant|(?:were|was) (?:asking|about|on about))\b"
)
# "eleven, so I can catch the ten-twenty bus" gives a reason
_MOVES_ON: Final = re.compile(r"\b(?:no|so(?! (?:that|i|we|he|she|they|it)\b)|well)\b")
# "Thursday instead, sorry, I've my grandkids on the Wednesday" says why
_CHOSEN: Final = re.compile(r"\b(?:instead|rather|make it|better|please|works|would do)\b")
_REASON: Final = re.compile(
    r"^(?:because |as |since )?(?:i|we|he|she|they|my \w+|our \w+)(?: (?:have|has|had|am|is|are|got|work|works|would have|will be|can not|do not|does not)\b)"
)
_EMPHASIS: Final = re.compile(r"^(?:and )?i mean\b ?", re.IGNORECASE)
# Around what is said, these say nothing.
_HEDGE: Final = re.compile(
    r"(?<=\w) (?:i (?:guess|think|suppose|believe|reckon)|or (?:something|whatever|so)(?: like that)?|you know)$"
)
_PERPLEXED: Final = re.compile(
    r"^(?:(?:so|and|well|um|uh|honestly) )*i (?:really )?(?:do not|have no) (?:know|idea) (?:what (?:else )?to do|where to (?:start|begin|go)|"
    r"how (?:this|it) works|who (?:else )?to (?:call|ask)|what to (?:say|ask))$"
)


def values_in(text: str) -> set[str]:
    """Returns the kinds of value in a text."""
    kinds = set()
    if spoken_values.day_phrase(text):
        kinds.add("day")
    if spoken_values.time_of_day(text, may_be_lone=False):
        kinds.add("time")
    if spoken_values.all_numbers(text):
        kinds.add("number")
    return kinds


# "The last part's wrong, it's 0112, not 0121", "did I say 41? It's 14".
_PARTS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:did|had) i say (?P<old>[\w' -]+?)[?,.]+ (?:no[, ]+)?(?:sorry[, ]+)?(?:it's|it is|i meant?|that's|should be|make (?:it|that)) (?P<new>[\w' -]+)",
        r"\b(?:it's|it is|that's|should be|make (?:it|that)|i meant?) (?P<new>[\w' -]+?),? (?:and )?not (?P<old>[\w' -]+)",
        r"\bnot (?P<old>[\w' -]+?), (?:but |it's |it is )?(?P<new>[\w' -]+)",
    )
)


# "The last bit's 0109", of a number that was given.
LAST: Final = "last"
_LAST_PART: Final = re.compile(
    r"\blast (?:bit|part|(?:two |three |four )?(?:digits|numbers)|two|three|four|digit|number)(?:'s| is| are| was| should be| should have been) (?P<new>\d[\d -]*|(?:(?:zero|oh|one|two|three|four|five|six|seven|eight|nine)\b ?)+)",
    re.IGNORECASE,
)


def corrected_part(text: str) -> tuple[str, str] | None:
    """Returns what was said and what is to stand in its place, where only a part of a value is corrected."""
    for pattern in _PARTS:
        if match := pattern.search(text):
            return match["old"].strip(), match["new"].strip()
    if match := _LAST_PART.search(text):
        return LAST, match["new"].strip()
    return None


def replace_part(value: str, old: str, new: str) -> str | None:
    """Returns a value with its corrected part; None where the old part is not in it."""
    had, has = spoken_values.all_digits(old), spoken_values.all_digits(new)
    if old == LAST:
        digits = spoken_values.all_digits(value)
        return digits[: -len(has)] + has if 0 < len(has) < len(digits) else None
    if had and has and not re.search(r"[a-z]", value, re.IGNORECASE):
        return value.replace(had, has) if had in value else None
    replaced, count = re.subn(rf"\b{re.escape(old)}\b", lambda _: new, value, flags=re.IGNORECASE)
    return replaced if count else None


def drop_hedges(clauses: list[str]) -> list[str]:
    """Drops "I guess" at an end and "I don't know what to do" beside something else."""
    shorter = [_HEDGE.sub("", clause) if len(content_stems(clause)) > 1 else clause for clause in clauses]
    told = [clause for clause in shorter if not _PERPLEXED.match(" ".join(word_tokens(clause)))]
    told = told if any(content_stems(clause) for clause in told) else shorter
    return [
        clause
        for at, clause in enumerate(told)
        if not (_THOUGHT.match(clause) and any(map(values_in, told[at + 1 :])))
        and not (_MISHEARD.search(clause) and any(map(content_stems, told[at + 1 :])))
    ]


def drop_contrasted(clauses: list[str]) -> list[str]:
    """Drops what only leads to its opposite: "it is not green" before "it is red", "the name is right" before "but"."""
    kept, is_other_right = [], False
    for at, clause in enumerate(clauses):
        after = clauses[at + 1] if at + 1 < len(clauses) else ""
        denied, named = _IS_NOT.match(clause), _IS.match(after)
        if denied and named and denied["what"] == named["what"]:
            continue
        if denied and any(content_stems(other) and not _IS_NOT.match(other) for other in clauses[at + 1 :]):
            continue
        if _AFFIRMED.search(clause) and _NOT_RIGHT.search(after):
            is_other_right = True
            continue
        kept.append(f"{clause} right" if is_other_right and clause.endswith(" not") else clause)
    return kept


def drop_reversed(clauses: list[str]) -> list[str]:
    """Drops a yes or a no that a later clause reverses: "no… well, actually yes, send it"."""
    kinds = [polarity_of(_LEAD_WORDS.sub("", clause)) for clause in clauses]
    bearing = [at for at, kind in enumerate(kinds) if kind is not None]
    if len(bearing) < 2 or kinds[bearing[-1]] == kinds[bearing[0]] or bearing[0] > 1:
        return clauses
    return clauses[bearing[-1] :]


def drop_denied(clauses: list[str]) -> tuple[list[str], bool]:
    """Drops what comes before "no, …" in the middle, unless it has values that what follows does not replace."""
    clauses = _drop_counterfactual(clauses)
    at = max((index for index, clause in enumerate(clauses) if index and _NO_BETWEEN.match(clause)), default=0)
    after = [*filter(None, [_NO_BETWEEN.sub("", clauses[at]).strip()]), *clauses[at + 1 :]] if at else []
    if not any(content_stems(clause) for clause in after) or not any(content_stems(clause) for clause in clauses[:at]):
        return clauses, False
    new = set().union(*map(values_in, after))
    before = [clause for clause in clauses[:at] if values_in(clause) - new or (new and not values_in(clause))]
    gone = {stem for clause in clauses[:at] if clause not in before for stem in content_stems(clause)}
    return [*before, *_drop_excused(after, gone)], len(before) < at


def _drop_excused(clauses: list[str], gone: set[str]) -> list[str]:
    """Drops what is only said of what was taken back: "(the food, sorry,) the room, the food was all right"."""
    shorter = [
        clause[: match.start()] if match is not None and set(content_stems(match["what"])) <= gone else clause
        for clause in clauses
        for match in [_RATHER_THAN.search(clause)]
    ]
    kept = [clause for clause in shorter if values_in(clause) or not _is_excused(clause, gone)]
    return kept if any(map(content_stems, kept)) else clauses


def _is_excused(clause: str, gone: set[str]) -> bool:
    match = _EXCUSES.search(clause)
    return match is not None and set(content_stems(clause[: match.start()])) <= gone


def _drop_counterfactual(clauses: list[str]) -> list[str]:
    real = [
        clause
        for at, clause in enumerate(clauses)
        if not _COUNTERFACTUAL.search(clause)
        and not (
            _WAS_GOING.search(clause) and values_in(clause) <= {"number"} and any(map(content_stems, clauses[at + 1 :]))
        )
    ]
    return real if any(content_stems(clause) for clause in real) else clauses


def drop_emphasis(clauses: list[str]) -> list[str]:
    """Drops what only says once more what was just said: "it is pouring, I mean pouring"."""
    return [
        clause
        for at, clause in enumerate(clauses)
        if not (
            at
            and _EMPHASIS.match(clause)
            and set(content_stems(_EMPHASIS.sub("", clause))) <= set(content_stems(clauses[at - 1]))
        )
    ]


def drop_taken_back(clauses: list[str]) -> tuple[list[str], bool]:
    """Drops clauses whose value a later clause replaces; True when a later one takes something back."""
    takes_back = any(_TAKES_BACK.search(clause) and values_in(clause) for clause in clauses)
    takes_back = takes_back or (
        any(map(_TAKES_BACK.search, clauses)) and len([clause for clause in clauses if values_in(clause)]) > 0
    )
    kept: list[str] = []
    for index, whole in enumerate(clauses):
        halves = _split_at_marker(whole)
        is_half = halves is not None and values_in(halves[0]) & values_in(halves[1])
        clause = halves[1] if halves is not None and is_half else whole
        later = clauses[index + 1 :]
        own = values_in(clause)
        is_replaced = own and any(
            own & values_in(other)
            and not (_CHOSEN.search(clause) and _REASON.match(other))
            and (_TAKES_BACK.search(" , ".join(later)) or _MOVES_ON.search(" , ".join(later)))
            for other in later
        )
        if not is_replaced:
            kept.append(clause)
    return kept, takes_back


def _split_at_marker(clause: str) -> tuple[str, str] | None:
    match = None
    for match in _TAKES_BACK.finditer(clause):  # noqa: B007 - the last one
        pass
    return None if match is None or match.start() == 0 else (clause[: match.start()], clause[match.end() :])
