"""Finds the possible locations of a list's numbers, in a separate process with limits: see ``preflight``.

preflight_program.py NUMBERS

NUMBERS is a file with one number per line. Prints a JSON array of ``[time zones, country, line type, count]``.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from offhook.kit.phone_numbers import PhoneNumberInvalid, parse_phone_number

Kind = tuple[tuple[str, ...], str | None, str]


def classify_numbers(numbers: Path) -> list[tuple[tuple[str, ...], str | None, str, int]]:
    """Classifies the numbers; one that cannot be dialed has line type ``invalid``."""
    kinds: Counter[Kind] = Counter()
    with numbers.open(encoding="utf-8") as file:
        for line in file:
            try:
                phone = parse_phone_number(line.strip())
            except PhoneNumberInvalid:
                kinds[(), None, "invalid"] += 1
            else:
                kinds[phone.time_zones, phone.country, phone.line_type] += 1
    return [(*kind, number) for kind, number in kinds.most_common()]


if __name__ == "__main__":
    print(json.dumps(classify_numbers(Path(sys.argv[1]))))  # noqa: T201 - its answer
