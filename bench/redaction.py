"""Redaction of a seeded corpus: recall and precision by kind, and the time of 1,000 turns.

    python -m bench.redaction --json

The corpus is made here, apart from the rules and their tests: sentences of callers and agents around generated numbers, written as recognizers
write them and spoken. Half of the seeds were looked at while the rules were written; the printed figures are of the other half.
"""

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from bench.redaction_people import LISTED_NAMES, make_birth_date, make_name
from bench.redaction_people import make_harmless as make_harmless_of_people
from offhook.kit.redaction.redactor import ALL_KINDS, Redactor

HELD_OUT_SEED: Final = 7_301
SEEN_SEED: Final = 11
TURNS: Final = 12_000

_WORDS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_NAMES: Final = ("maria", "john", "wei", "fatima", "oliver", "priya", "lars", "chen", "sofia", "omar", "kate", "raj")
_SURNAMES: Final = ("smith", "lopez", "nguyen", "olsen", "miller", "khan", "brown", "rossi", "tanaka", "weber")
_HOSTS: Final = ("gmail", "yahoo", "outlook", "icloud", "proton", "acme-dental", "northwind", "fastmail")


@dataclass(frozen=True, slots=True)
class Turn:
    """``secret`` is the part that must go, if there is one; ``before`` the turn before, if there is one."""

    text: str
    kind: str | None = None
    secret: str = ""
    before: str | None = None


def make_corpus(seed: int, turns: int) -> list[Turn]:
    """Half of the turns have something to redact. Sentences about people are of the half that the seed is of."""
    random_ = random.Random(seed)
    half = 0 if seed == SEEN_SEED else 1
    kinds = [*_MAKERS, *_PEOPLE]
    corpus = []
    for index in range(turns):
        if index % 2:
            about_people = random_.random() < 0.3
            corpus.append(Turn(make_harmless_of_people(random_, half) if about_people else _make_harmless(random_)))
        else:
            kind = kinds[index // 2 % len(kinds)]
            is_person = kind in _PEOPLE
            corpus.append(_make_person(random_, kind, half) if is_person else _MAKERS[kind](random_, kind))
    return corpus


def _luhn(random_: random.Random, prefix: str, length: int) -> str:
    body = prefix + "".join(random_.choice("0123456789") for _ in range(length - len(prefix) - 1))
    total = 0
    for index, char in enumerate(reversed(body)):
        doubled = int(char) * 2 if index % 2 == 0 else int(char)
        total += doubled // 10 + doubled % 10
    return body + str(-total % 10)


def _speak(random_: random.Random, digits: str) -> str:
    """Digit by digit, in pairs or with repeats, as people do."""
    way = random_.randrange(4)
    words: list[str] = []
    index = 0
    while index < len(digits):
        pair = digits[index : index + 2]
        if way == 1 and len(pair) == 2 and pair[0] in "23456789" and index % 2 == 0:
            tens = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")[int(pair[0]) - 2]
            words.append(tens if pair[1] == "0" else f"{tens}-{_WORDS[int(pair[1])]}")
            index += 2
            continue
        if way == 2 and len(pair) == 2 and pair[0] == pair[1]:
            words.append(f"double {_WORDS[int(pair[0])]}")
            index += 2
            continue
        words.append("oh" if digits[index] == "0" and way == 3 else _WORDS[int(digits[index])])
        index += 1
    joint = random_.choice((" ", " ", ", "))
    return joint.join(words)


def _group(digits: str, sizes: tuple[int, ...], joint: str) -> str:
    parts, at = [], 0
    for size in sizes:
        parts.append(digits[at : at + size])
        at += size
    return joint.join(part for part in (*parts, digits[at:]) if part)


def _make_card(random_: random.Random, kind: str) -> Turn:
    prefix, length, sizes = random_.choice(
        (
            ("4", 16, (4, 4, 4)),
            ("4", 16, (4, 4, 4)),
            (f"5{random_.randint(1, 5)}", 16, (4, 4, 4)),
            ("37", 15, (4, 6)),
            ("6011", 16, (4, 4, 4)),
        )
    )
    number = _luhn(random_, prefix, length)
    secret = random_.choice(
        (
            number,
            _group(number, sizes, " "),
            _group(number, sizes, "-"),
            _group(number, sizes, ", "),
            _speak(random_, number),
            _speak(random_, number),
        )
    )
    frame = random_.choice(
        (
            "My card number is {}.",
            "Sure, it's {}",
            "{}",
            "you can charge it to {} please",
            "Okay so the Visa is {}, expires next May.",
            "I'll read it: {}",
        )
    )
    return Turn(frame.format(secret), kind, secret)


def _make_cvv(random_: random.Random, kind: str) -> Turn:
    code = "".join(random_.choice("0123456789") for _ in range(random_.choice((3, 3, 4))))
    secret = random_.choice((code, _speak(random_, code), " ".join(code)))
    if random_.random() < 0.5:
        frame = random_.choice(
            ("The security code is {}.", "CVV {}", "and the three digits on the back are {}", "the CVC is {}")
        )
        return Turn(frame.format(secret), kind, secret)
    frame = random_.choice(("{}", "It's {}.", "that's {}"))
    before = random_.choice(
        ("And the security code?", "What is the CVV on the back?", "Could you give me the three digits on the back?")
    )
    return Turn(frame.format(secret), kind, secret, before)


def _make_ssn(random_: random.Random, kind: str) -> Turn:
    area = random_.choice([number for number in range(1, 900) if number != 666])
    number = f"{area:03d}{random_.randint(1, 99):02d}{random_.randint(1, 9999):04d}"
    secret = random_.choice((_group(number, (3, 2), "-"), _group(number, (3, 2), " "), number, _speak(random_, number)))
    if random_.random() < 0.6:
        frame = random_.choice(
            ("My social is {}.", "social security number {}", "The SSN is {}, I think.", "it's my social, {}")
        )
        return Turn(frame.format(secret), kind, secret)
    before = random_.choice(("What is your social security number?", "Can I have your SSN please?"))
    return Turn(random_.choice(("{}", "Yes, {}.", "uh it's {}")).format(secret), kind, secret, before)


def _make_iban(random_: random.Random, kind: str) -> Turn:
    country, letters, digits = random_.choice(
        (("DE", 0, 18), ("FR", 0, 23), ("NL", 4, 10), ("GB", 4, 14), ("ES", 0, 20), ("CH", 0, 17))
    )
    body = "".join(random_.choice("ABCDEFGHJKLMN") for _ in range(letters)) + "".join(
        random_.choice("0123456789") for _ in range(digits)
    )
    numeric = "".join(str(int(char, 36)) for char in f"{body}{country}00")
    iban = f"{country}{98 - int(numeric) % 97:02d}{body}"
    spaced = " ".join(iban[at : at + 4] for at in range(0, len(iban), 4))
    spoken = " ".join(_WORDS[int(char)] if char.isdigit() else char for char in iban)
    secret = random_.choice((iban, spaced, spaced.lower(), spoken))
    frame = random_.choice(("My IBAN is {}.", "please send it to {}", "The account is {}, at my bank.", "{}"))
    return Turn(frame.format(secret), kind, secret)


def _make_email(random_: random.Random, kind: str) -> Turn:
    first, last, host = random_.choice(_NAMES), random_.choice(_SURNAMES), random_.choice(_HOSTS)
    end = random_.choice(("com", "org", "net", "co.uk", "de", "io"))
    year = str(random_.randint(1, 99))
    local = random_.choice((f"{first}.{last}", f"{first}{year}", f"{first}_{last}", f"{first[0]}{last}"))
    written = f"{local}@{host}.{end}"
    spoken = local.replace(".", " dot ").replace("_", " underscore ") + f" at {host} dot {end.replace('.', ' dot ')}"
    spelled = " ".join(first) + f" at {host} dot {end.replace('.', ' dot ')}"
    secret = random_.choice((written, written.title(), spoken, spoken, spelled))
    frame = random_.choice(
        ("My email is {}.", "You can write to {} any time", "it's {}", "Send the invoice to {}, please.")
    )
    return Turn(frame.format(secret), kind, secret)


def _make_phone(random_: random.Random, kind: str) -> Turn:
    number = f"{random_.choice('23456789')}{random_.choice('0234567890')}{random_.choice('23456789')}{random_.choice('23456789')}"
    number += "".join(random_.choice("0123456789") for _ in range(6))
    foreign = random_.choice(("+49 30 ", "+44 20 ", "+33 1 ")) + "".join(random_.choice("0123456789") for _ in range(8))
    secret = random_.choice(
        (number, _group(number, (3, 3), "-"), f"({number[:3]}) {number[3:6]}-{number[6:]}", _group(number, (3, 3), " "), f"+1{number}",
         _group(number, (3, 3), "."), _speak(random_, number), _speak(random_, number), foreign)
    )  # fmt: skip
    frame = random_.choice(
        ("You can reach me at {}.", "my cell is {}", "Call me back on {} after five", "The number is {}.", "{}")
    )
    return Turn(frame.format(secret), kind, secret)


def _make_person(random_: random.Random, kind: str, half: int) -> Turn:
    made = _PEOPLE[kind](random_, half)
    return Turn(made.text, kind, made.secret, made.before)


_PEOPLE: Final = {"birth_date": make_birth_date, "name": make_name}
_MAKERS: Final[dict[str, Callable[[random.Random, str], Turn]]] = {
    "card": _make_card, "cvv": _make_cvv, "ssn": _make_ssn, "iban": _make_iban, "email": _make_email, "phone": _make_phone,
}  # fmt: skip


def _make_harmless(random_: random.Random) -> str:
    """Numbers and words of everyday calls that must stay."""
    number, small = random_.randint(1000, 99999), random_.randint(2, 59)
    spoken = _speak(random_, str(random_.randint(10, 99999)))
    frame = random_.choice(
        (
            "My order number is {n}.", "That will be {s} dollars and {t} cents.", "I live at {n} Oak Street, zip code {z}.",
            "See you at {h} {t} on the {d}th.", "It was about {s} minutes ago.", "I have {s} boxes, maybe {t}.", "Invoice A-{n} from 2025.",
            "my order is {w}", "We met at the station at {h}.", "The flight is LH {f} to Rome.", "There are {m} people in the room.",
            "I would like to book a table for {h} at eight thirty.", "Yes, that works for me.", "No, I said Tuesday, not Thursday.",
            "It cost {m},{p} euros in total.", "Gate {h}, seat {s} C.", "Ticket {k}", "The total is ${m}.{t}.",
            "Your confirmation code is {c}.", "one moment please", "I called two or three times already.", "Look at point one and two.",
            "I was at the office dot and line were strange", "the tracking number is {k}{k}",
        )
    )  # fmt: skip
    return frame.format(
        n=number, s=small, t=f"{random_.randint(10, 59)}", z=f"{random_.randint(10000, 99999)}", h=random_.randint(1, 12),
        d=random_.randint(4, 20), w=spoken, f=random_.randint(100, 999), m=random_.randint(1, 999), p=f"{random_.randint(0, 999):03d}",
        k=f"{random_.randint(100000, 999999)}", c="".join(random_.choice("ABCDEFGH23456789") for _ in range(6)),
    )  # fmt: skip


def measure(seed: int, turns: int) -> dict[str, object]:
    """Returns recall and precision by kind. A secret is found when no part of it that has a letter or digit is left."""
    planted: Counter[str] = Counter()
    found: Counter[str] = Counter()
    redacted: Counter[str] = Counter()
    right: Counter[str] = Counter()
    missed: list[str] = []
    wrong: list[str] = []
    for turn in make_corpus(seed, turns):
        redactor = Redactor(names=LISTED_NAMES)
        if turn.before is not None:
            redactor.redact_turn(turn.before)
        _, findings = redactor.redact_turn(turn.text)
        start = turn.text.rfind(turn.secret) if turn.secret else -1
        end = start + len(turn.secret)
        if turn.kind is not None:
            planted[turn.kind] += 1
            covered = {place for one in findings for place in range(one.start, one.end)}
            if all(place in covered for place in range(start, end) if turn.text[place].isalnum()):
                found[turn.kind] += 1
            else:
                missed.append(turn.text)
        for one in findings:
            redacted[one.kind] += 1
            if turn.kind is not None and one.start < end and one.end > start:
                right[one.kind] += 1
            else:
                wrong.append(f"{one.kind}: {turn.text}")
    kinds = {
        kind: {
            "recall": _share(found[kind], planted[kind]),
            "precision": _share(right[kind], redacted[kind]),
            "planted": planted[kind],
        }
        for kind in ALL_KINDS
    }
    return {
        "seed": seed,
        "turns": turns,
        "recall": _share(found.total(), planted.total()),
        "precision": _share(right.total(), redacted.total()),
        "kinds": kinds,
        "missed": missed[:12],
        "wrong": wrong[:12],
    }


def measure_time(seed: int, turns: int = 5000) -> float:
    """Returns the milliseconds of CPU of 1,000 turns."""
    texts = [turn.text for turn in make_corpus(seed, turns)]
    redactor = Redactor(names=LISTED_NAMES)
    began = time.process_time()
    for text in texts:
        redactor.redact_turn(text)
    return round((time.process_time() - began) * 1e6 / turns, 1)


def _share(part: int, whole: int) -> float:
    return round(part / whole, 5) if whole else 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description="Redaction of a seeded corpus.")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--seen", action="store_true", help="the half that the rules were written with")
    parser.add_argument("--turns", type=int, default=TURNS)
    options = parser.parse_args()
    seed = SEEN_SEED if options.seen else HELD_OUT_SEED
    result = measure(seed, options.turns) | {"ms_per_1000_turns": measure_time(seed)}
    if options.json:
        print(json.dumps(result, indent=1))
        return
    print(
        f"recall {result['recall']:.3%}, precision {result['precision']:.3%}, {result['ms_per_1000_turns']} ms per 1,000 turns"
    )


if __name__ == "__main__":
    main()
