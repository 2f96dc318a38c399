"""Finds the names that people give as their own: "my name is", "this is … calling", an answer to the question. Pure."""

import re
from dataclasses import dataclass
from typing import Final

from offhook.kit.redaction.everyday_words import CAPITALIZED_WORDS, FUNCTION_WORDS
from offhook.kit.redaction.name_list import read_spelled_words

_OF_NAME: Final = r"(?:full |first |last |middle |maiden |family |given |legal |sur ?|complete |preferred )?(?:and (?:last|family) )?name"
# After these a name follows, also in texts without capitals.
_STATED: Final = re.compile(
    rf"\b(?:(?:my|the) {_OF_NAME}(?:(?:'|\u2019)s| is| will be|,? it(?:'|\u2019)?s| would be|:)|(?:my |the )?surname(?:(?:'|\u2019)s| is)|"
    r"(?:first|last|family) name(?: is)?:?,?|(?:^|(?<=[.!?,] ))name(?:'|\u2019)s|name on (?:the|my) \w+(?: is|'s)|under the name(?: of)?|in the name of|i(?:'|\u2019)m called|i am called)\s+",
    re.IGNORECASE,
)
# After these a capitalized name may follow.
_SHOWN: Final = re.compile(
    r"\b(?:i(?:'|\u2019)?m|i am|this is|it(?:'|\u2019)?s|it is|call me|i go by|you(?:'|\u2019)re speaking (?:with|to))\s+",
    re.IGNORECASE,
)
_BARE: Final = re.compile(r"\bname,?\s+$", re.IGNORECASE)
_LEAD_IN: Final = re.compile(
    r"^\W*(?:(?:sure|yes|yeah|yep|uh|um|er|okay|ok|oh|hi|hello|hey|well|so|right|of course|certainly|absolutely|fine|alright|all right|great|sure thing|no problem|"
    r"it's|it is|that's|that is|that would be|it's under|it would be|this is|i'm|i am|the name is|my name is|under|for|please|you can use|"
    r"good (?:morning|afternoon|evening))\b[\s,.!-]*)*",
    re.IGNORECASE,
)
_ASKS: Final = re.compile(
    r"\b(?:(?:your|caller's|patient's|customer's|first|last|full|sur|family|legal)(?: (?:full|first|last|legal|complete|and|or|family|sur|given|good))* ?names?|"
    r"who(?:m| is|'s)? (?:am i|do i have|is this|calling|speaking|i am|i'm)|who is (?:this|calling|speaking)|may i (?:ask|know) who|"
    r"what (?:should|can|may|do) i call you|what(?:'s| is) the (?:last |first |full )?name|(?:what|which) (?:last )?name|"
    r"name (?:on|under|for) (?:the|that|this|your)|spell (?:your|that|the)|have a name|get a name|names? please)\b",
    re.IGNORECASE,
)
_NO_PERSON: Final = re.compile(
    r"\b(?:company|business|dog|cat|pet|street|user|product|file|agent|doctor|brand|street|city|server|domain|bank|employer)(?:'s)? ?name",
    re.IGNORECASE,
)
_NAME_WORD: Final = re.compile(r"[^\W\d_][\w'\u2019\u0300-\u036f-]*\.?")
_TITLE: Final = re.compile(r"(?:mr|mrs|ms|mx|dr|miss|doctor|professor|prof|mister|missus)\b\.?\s+", re.IGNORECASE)
_PARTICLES: Final = frozenset(
    [
        "de",
        "del",
        "della",
        "der",
        "den",
        "di",
        "da",
        "dos",
        "das",
        "du",
        "van",
        "von",
        "la",
        "le",
        "el",
        "al",
        "bin",
        "ibn",
        "ben",
        "ter",
        "ten",
        "y",
        "e",
        "st",
    ]
)
# Names too, where nothing but a name is expected.
_NAMES_TOO: Final = frozenset({"will", "may"})
_AFTER_SHOWN: Final = re.compile(
    r"\s*(?:$|[.,!?;\u2014-]|(?:speaking|calling|here|again|from|with|and|by the way|on the line)\b)", re.IGNORECASE
)
# What an answer in small letters goes on with when more was asked for.
_AFTER_LOWER: Final = re.compile(
    r"\s*(?:january|february|march|july|september|october|november|december|the|born|date|[0-9])\b", re.IGNORECASE
)
_CALLS: Final = re.compile(r"\s+(?:speaking|calling|here)\b", re.IGNORECASE)
_CODE: Final = re.compile(
    r"\b(?:code|number|reference|confirmation|plate|e-?mail|order|password|ticket|serial|vin|model|flight)\b",
    re.IGNORECASE,
)
_BEFORE_CALLS: Final = re.compile(r"(?:^|[.,!?]\s*|\b(?:hi|hello|hey|yes|yeah),?\s+)$", re.IGNORECASE)
_MAX_WORDS: Final = 4
_MAX_LOWER_WORDS: Final = 3
_MAX_ANSWER: Final = 5
_SPELLED_AFTER: Final = 30


@dataclass(frozen=True, slots=True)
class OwnName:
    """A name from ``start`` to ``end``. ``is_spelled``: letter by letter, so that its words are not those of the text."""

    start: int
    end: int
    is_spelled: bool = False


def find_own_names(text: str, *, is_asked: bool) -> list[OwnName]:
    """Returns the names that the speaker of a turn gives as their own. ``is_asked``: the turn may answer the question."""
    found: list[OwnName] = []
    for match in _STATED.finditer(text):
        # "on a first name basis"
        takes_lower = _BARE.search(match[0]) is None
        _add(found, _take_name(text, match.end(), takes_lower=takes_lower, max_words=_MAX_WORDS))
    for match in _SHOWN.finditer(text):
        _add(found, _take_shown(text, match.end(), is_asked=is_asked))
    for match in _CALLS.finditer(text):
        _add(found, _take_before(text, match.start()))
    if is_asked and not found:
        _add(found, _take_answer(text))
    # letters that were taken for words belong to what is spelled
    spelled = _find_spelled(text, found, is_asked=is_asked)
    found = [name for name in found if all(name.end <= one.start or name.start >= one.end for one in spelled)]
    return sorted(found + spelled, key=lambda name: name.start)


def asks_for_name(text: str) -> bool:
    """Returns whether a turn asks the other side for their name."""
    asks = [
        match for match in _ASKS.finditer(text) if not _NO_PERSON.search(text[max(0, match.start() - 12) : match.end()])
    ]
    return bool(asks) and ("?" not in text or "?" in text[asks[0].start() :])


def _add(found: list[OwnName], name: OwnName | None) -> None:
    if name is not None and all(name.end <= one.start or name.start >= one.end for one in found):
        found.append(name)


def _take_name(text: str, start: int, *, takes_lower: bool, max_words: int) -> OwnName | None:
    """Takes words as long as they may be a name: capitalized ones, or a few that are no words of everyday speech."""
    title = _TITLE.match(text, start)
    start = title.end() if title else start
    first = _NAME_WORD.match(text, start)
    if first is None or _plain(first[0]) in FUNCTION_WORDS - (_NAMES_TOO if takes_lower else frozenset()):
        return None
    is_capital = first[0][0].isupper() and not text.isupper()
    if not is_capital and not takes_lower:
        return None
    limit = max_words if is_capital else _MAX_LOWER_WORDS
    end, at, count = start, start, 0
    while count < limit:
        word = _NAME_WORD.match(text, at)
        if word is None or not _may_go_on(text, word, is_capital=is_capital, is_first=count == 0):
            break
        plain = word[0]
        if plain.endswith((".",)) and len(plain) > 2:
            plain = plain[:-1]
        stripped = re.sub(r"(?:'|\u2019)s$", "", plain)
        end = at + len(stripped)
        if not (_plain(word[0]) in _PARTICLES and count):
            count += 1
        if stripped != word[0] or text[end : end + 1] != " ":
            break
        at = end + 1
    return OwnName(start, end) if end > start else None


def _may_go_on(text: str, word: re.Match[str], *, is_capital: bool, is_first: bool) -> bool:
    plain = _plain(word[0])
    if plain in _PARTICLES and not is_first:
        after = _NAME_WORD.match(text, word.end() + 1)
        return after is not None and (not is_capital or after[0][0].isupper() or _plain(after[0]) in _PARTICLES)
    if plain in FUNCTION_WORDS - (_NAMES_TOO if is_first else frozenset()) or plain.startswith(("i'", "i\u2019")):
        return False
    if is_capital:
        return word[0][0].isupper()
    return not (plain.endswith("ing") and not is_first) and len(plain) > 1 and not _AFTER_LOWER.match(plain)


def _take_shown(text: str, start: int, *, is_asked: bool) -> OwnName | None:
    name = _take_name(text, start, takes_lower=False, max_words=_MAX_WORDS)
    if name is None:
        lower = _take_name(text, start, takes_lower=True, max_words=_MAX_LOWER_WORDS)
        return lower if lower is not None and _CALLS.match(text, lower.end) else None
    words = text[name.start : name.end].split()
    if any(_plain(word) in CAPITALIZED_WORDS for word in words[:1]) or words[0].rstrip(".").isupper():
        return None
    leads = text[:start].lower().rstrip().endswith(("it's", "its", "it is", "it\u2019s"))
    if leads and not is_asked and not _CALLS.match(text, name.end):
        return None
    return name if _AFTER_SHOWN.match(text, name.end) else None


def _take_before(text: str, end: int) -> OwnName | None:
    """ "Maria Lopez speaking." """
    words = list(_NAME_WORD.finditer(text, 0, end))[-_MAX_WORDS:]
    start, before = end, end
    for word in reversed(words):
        plain = _plain(word[0])
        is_next = text[word.end() : before].strip() == "" and not word[0].endswith(".")
        is_particle = plain in _PARTICLES and start < end
        if not is_next or not (word[0][0].isupper() or is_particle) or plain in FUNCTION_WORDS | CAPITALIZED_WORDS:
            break
        before = word.start()
        start = start if is_particle and not word[0][0].isupper() else before
    return OwnName(start, end) if start < end and _BEFORE_CALLS.search(text[:start]) else None


def _take_answer(text: str) -> OwnName | None:
    lead = _LEAD_IN.match(text)
    start = lead.end() if lead else 0
    name = _take_name(text, start, takes_lower=True, max_words=_MAX_WORDS)
    if name is None:
        return None
    words = text[name.start : name.end].split()
    rest = text[name.end :]
    if not words[0][0].isupper() or text.isupper():
        return name if len(rest.split()) <= 1 or _AFTER_SHOWN.match(rest) or _AFTER_LOWER.match(rest) else None
    if _plain(words[0]) in CAPITALIZED_WORDS:
        return None
    is_clear = len(words) > 1 or _AFTER_SHOWN.match(rest) is not None or rest.strip().startswith(("spelled", "that's"))
    return name if is_clear else None


def _find_spelled(text: str, found: list[OwnName], *, is_asked: bool) -> list[OwnName]:
    """Letters that follow a name, or answer the question for it."""
    names: list[OwnName] = []
    for spelled in read_spelled_words(text):
        start = spelled.start
        # "is A N N A": the name before has taken its first letter
        before = text[max(0, start - 40) : start]
        is_near = any(one.end <= start + 1 and start - one.end <= _SPELLED_AFTER for one in [*found, *names])
        is_stated = re.search(r"\bnames?\b|\bspell", before, re.IGNORECASE) is not None
        if (is_asked or is_near or is_stated) and not _CODE.search(before):
            names.append(OwnName(start, spelled.end, is_spelled=True))
    return names


def _plain(word: str) -> str:
    return word.rstrip(".").lower().replace("\u2019", "'")
