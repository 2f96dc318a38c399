"""Finds what must not be kept in a text: cards, codes, identity and account numbers, addresses, phone numbers, dates of birth
and names. Pure."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from offhook.kit.json_values import JsonObject
from offhook.kit.redaction.bank_accounts import find_ibans
from offhook.kit.redaction.birth_dates import BirthDateFinder, is_birth_date_name
from offhook.kit.redaction.email_addresses import find_email_addresses
from offhook.kit.redaction.person_names import PersonNameFinder, is_person_name, may_be_person
from offhook.kit.redaction.spoken_digits import Digit, read_digit_runs

RedactedKind = Literal["card", "cvv", "ssn", "iban", "email", "phone", "birth_date", "name"]
ALL_KINDS: Final[tuple[RedactedKind, ...]] = get_args(RedactedKind)

_CVV_WORDS: Final = re.compile(
    r"\b(cvv2?|cvc2?|csc|c\.?\s?v\.?\s?[vc]|security code|verification code|card code|code on the back|three digits)\b",
    re.IGNORECASE,
)
_SSN_WORDS: Final = re.compile(
    r"\b(s\.?s\.?n|social(?! media)( security)?( number)?|tax(payer)? id\w*)\b", re.IGNORECASE
)
_PHONE_WORDS: Final = re.compile(
    r"\b(phones?|call(ing|ed)?|cell|mobile|telephone|reach|text|ring|dial|contact|fax|callback|line|whatsapp)\b",
    re.IGNORECASE,
)
# How far before a number its name may stand.
_NAME_REACH: Final = 60
# Networks by the first digits, with the lengths of their numbers.
_CARDS: Final = (
    (re.compile(r"4"), (13, 16, 19)),
    (re.compile(r"5[1-5]|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)"), (16,)),
    (re.compile(r"3[47]"), (15,)),
    (re.compile(r"6(?:011|4[4-9]|5)|62|35(?:2[89]|[3-8])"), (16, 17, 18, 19)),
    (re.compile(r"3(?:0[0-5]|[689])"), (14, 16, 19)),
    (re.compile(r"5[06-8]|6"), (13, 14, 15, 16, 17, 18, 19)),
)
_NAME_PARTS: Final = re.compile(r"[_\W]+|(?<=[a-z])(?=[A-Z])")
_SSN_GROUPS: Final = re.compile(r"(?<![0-9])[0-9]{3}[- .][0-9]{2}[- .][0-9]{4}(?![0-9])")


@dataclass(frozen=True, slots=True, order=True)
class SensitivePart:
    """A part of a text, from ``start`` up to but not including ``end``."""

    start: int
    end: int
    kind: RedactedKind


@dataclass(frozen=True, slots=True)
class RedactionRules:
    """What is redacted. ``names`` are found besides those that callers give as their own, if ``name`` is a kind."""

    kinds: Collection[RedactedKind] = ()
    names: Collection[str] = ()


class Redactor:
    """Redacts one conversation, in order: what was asked before tells what an answer is, and who said a name or a date of birth
    has it redacted when the agent repeats it."""

    def __init__(self, kinds: Collection[RedactedKind] = ALL_KINDS, names: Collection[str] = ()) -> None:
        self._kinds = frozenset(kinds)
        self._before = ""
        self._had_card = False
        self._births = BirthDateFinder()
        self._names = PersonNameFinder(names)

    def redact_text(self, text: str, *, is_caller: bool = True) -> str:
        """Returns one turn with ``[card]`` and the like in place of what was found."""
        return self.redact_turn(text, is_caller=is_caller)[0]

    def redact_turn(self, text: str, *, is_caller: bool = True) -> tuple[str, list[SensitivePart]]:
        """Returns the text of one turn without what was found, and the places where it was. Names that a caller gives
        as their own are found in turns of the caller only."""
        own = self._names.follow_turn(text, is_caller=is_caller) if "name" in self._kinds else []
        findings = self.find(text, own)
        self._had_card = any(finding.kind == "card" for finding in findings) or (
            self._had_card and not any(finding.kind == "cvv" for finding in findings)
        )
        self._before = text[-2 * _NAME_REACH :]
        if "birth_date" in self._kinds:
            self._births.follow_turn(text)
        wanted = [finding for finding in findings if finding.kind in self._kinds]
        return _replace(text, wanted), wanted

    def redact_partial(self, text: str) -> str:
        """Returns what was understood of a turn of the caller so far; nothing is remembered of it."""
        own = self._names.find_given(text) if "name" in self._kinds else []
        return _replace(text, [finding for finding in self.find(text, own) if finding.kind in self._kinds])

    def redact_value(self, value: Any, *, is_about_caller: bool = False) -> Any:
        """Returns a JSON value that is no turn (arguments, variables) with its texts redacted. ``is_about_caller``: its
        ``name`` is that of a person."""
        if isinstance(value, str):
            return _replace(value, [finding for finding in self.find(value) if finding.kind in self._kinds])
        if isinstance(value, Mapping):
            return {name: self._redact_named(str(name), part, is_about_caller) for name, part in value.items()}
        if isinstance(value, list | tuple):
            return [self.redact_value(part, is_about_caller=is_about_caller) for part in value]
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 9_999_999:
            redacted = self.redact_value(str(value))
            return value if redacted == str(value) else redacted
        return value

    def find(self, text: str, own_names: Collection[tuple[int, int]] = ()) -> list[SensitivePart]:
        """Returns what there is in a text, in order and without overlaps. ``own_names`` are places that are known before."""
        found: list[SensitivePart] = []
        for start, end in find_email_addresses(text):
            _add(found, SensitivePart(start, end, "email"))
        for start, end in find_ibans(text):
            _add(found, SensitivePart(start, end, "iban"))
        runs = read_digit_runs(text)
        if any(digit.is_spoken for run in runs for digit in run) and not any(_find_card(_join(run)) for run in runs):
            for run in read_digit_runs(text, joins_tens=False):
                place = _find_card(_join(run))
                if place is not None:
                    _add(found, SensitivePart(run[place[0]].start, run[place[1] - 1].end, "card"))
        if "birth_date" in self._kinds:
            for start, end in self._births.find(text):
                _add(found, SensitivePart(start, end, "birth_date"))
        for run in runs:
            self._classify(text, run, found)
        if "name" in self._kinds:
            # what stays in the text anyway must not hide a name: "ann@example.com"
            found = [finding for finding in found if finding.kind in self._kinds]
            for start, end in (*own_names, *self._names.find(text)):
                _add(found, SensitivePart(start, end, "name"))
        return sorted(found)

    def snapshot(self) -> JsonObject:
        """Returns what another process needs to go on with the conversation."""
        return {"births": self._births.snapshot(), "names": self._names.snapshot()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes on from the result of :meth:`snapshot`."""
        self._births.restore(state["births"])
        self._names.restore(state["names"])

    def _redact_named(self, name: str, value: Any, is_about_caller: bool) -> Any:
        """The name of a variable says what its value is, as a question does."""
        # "dateOfBirth" and "date_of_birth" are "date of birth"
        words = " ".join(_NAME_PARTS.sub(" ", name).lower().split())
        if "birth_date" in self._kinds and is_birth_date_name(words) and not isinstance(value, bool):
            return _replace_scalars(value, "birth_date")
        is_name = "name" in self._kinds and (is_person_name(words) or (is_about_caller and words == "name"))
        if is_name and isinstance(value, str) and may_be_person(value):
            return "[name]"
        if isinstance(value, str | int) and not isinstance(value, bool):
            prefix = f"{words}: "
            found = [finding for finding in self.find(prefix + str(value)) if finding.kind in self._kinds]
            moved = [
                SensitivePart(one.start - len(prefix), one.end - len(prefix), one.kind)
                for one in found
                if one.start >= len(prefix)
            ]
            return _replace(str(value), moved) if moved else value
        return self.redact_value(value, is_about_caller=is_about_caller)

    def _classify(self, text: str, run: Sequence[Digit], found: list[SensitivePart]) -> None:
        """Takes what it knows from a group of digits, and looks at the rest again."""
        if len(run) < 3:
            return
        digits = _join(run)
        name = self._name_before(text, run[0].start)
        place = _find_card(digits)
        if place is not None:
            begin, end = place
            _add(found, SensitivePart(run[begin].start, run[end - 1].end, "card"))
            self._classify(text, run[:begin], found)
            rest = run[end:]
            if 3 <= len(rest) <= 4:
                _add(found, SensitivePart(rest[0].start, rest[-1].end, "cvv"))
            else:
                self._classify(text, rest, found)
            return
        kind = self._name_kind(text, run, digits, name, found)
        if kind is not None:
            start = run[0].start
            # The sign and the bracket belong to the number.
            while start > 0 and text[start - 1] in "+(":
                start -= 1
            _add(found, SensitivePart(start, run[-1].end, kind))

    def _name_kind(
        self, text: str, run: Sequence[Digit], digits: str, name: str, found: Sequence[SensitivePart]
    ) -> RedactedKind | None:
        if 3 <= len(digits) <= 4:
            has_card = self._had_card or any(one.kind == "card" and one.start < run[0].start for one in found)
            is_alone = len(text) - (run[-1].end - run[0].start) <= 24
            return "cvv" if _CVV_WORDS.search(name) or (has_card and is_alone and len(digits) == 3) else None
        is_possible_ssn = len(digits) == 9 and digits[:3] not in {"000", "666"} and digits[0] != "9"
        is_grouped = _SSN_GROUPS.search(text[max(0, run[0].start - 1) : run[-1].end + 1])
        if is_possible_ssn and (is_grouped or _last_name(name) == "ssn"):
            return "ssn"
        has_plus = (run[0].start > 0 and text[run[0].start - 1] == "+") or name.rstrip().endswith("plus")
        if _is_phone_number(digits, has_plus=has_plus, is_named=_last_name(name) == "phone"):
            return "phone"
        return None

    def _name_before(self, text: str, start: int) -> str:
        before = text[max(0, start - _NAME_REACH) : start]
        return before if start >= _NAME_REACH else f"{self._before[-_NAME_REACH:]} {before}"


def _join(run: Sequence[Digit]) -> str:
    return "".join(digit.char for digit in run)


def _find_card(digits: str) -> tuple[int, int] | None:
    for length in range(min(19, len(digits)), 12, -1):
        for begin in range(len(digits) - length + 1):
            if _is_card(digits[begin : begin + length]):
                return begin, begin + length
    return None


def _is_card(digits: str) -> bool:
    if not any(prefix.match(digits) and len(digits) in lengths for prefix, lengths in _CARDS):
        return False
    total = 0
    for index, char in enumerate(reversed(digits)):
        value = int(char) * (1 + index % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0 and len(set(digits)) > 1


def _is_phone_number(digits: str, *, has_plus: bool, is_named: bool) -> bool:
    if has_plus:
        return 8 <= len(digits) <= 15
    national = digits[1:] if len(digits) == 11 and digits[0] == "1" else digits
    if len(national) == 10 and national[0] in "23456789" and national[3] in "23456789" and national[1:3] != "11":
        return True
    return is_named and 7 <= len(digits) <= 15


def _last_name(name: str) -> str | None:
    """Returns what was named last before a number."""
    last = {
        kind: max((found.end() for found in words.finditer(name)), default=-1)
        for kind, words in (("ssn", _SSN_WORDS), ("phone", _PHONE_WORDS))
    }
    kind = max(last, key=lambda one: last[one])
    return kind if last[kind] >= 0 else None


def _add(found: list[SensitivePart], finding: SensitivePart) -> None:
    if all(finding.end <= one.start or finding.start >= one.end for one in found):
        found.append(finding)


def _replace(text: str, findings: Iterable[SensitivePart]) -> str:
    for finding in sorted(findings, reverse=True):
        text = f"{text[: finding.start]}[{finding.kind}]{text[finding.end :]}"
    return text


def _replace_scalars(value: Any, kind: RedactedKind) -> Any:
    if isinstance(value, Mapping):
        return {name: _replace_scalars(part, kind) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_scalars(part, kind) for part in value]
    return value if value in (None, "") else f"[{kind}]"
