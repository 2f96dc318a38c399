"""Faults of speech-to-speech vendors: whole calls over their emulated wires, each with one fault, judged from outside.

    python -m bench.speech_faults --json

Each cell of the table is a call on virtual time in which the caller books something with a tool, interrupts a long answer and
goes on. It passes when the caller waited no longer than 3 s without a sound, the tool ran exactly once, no sentence of the
transcript and of the vendor's memory has more than a word wrong, and the usage is the emulator's to the token. The exit code
is 1 when a cell fails.
"""

import argparse
import json
import multiprocessing
import sys
import time
from dataclasses import dataclass
from typing import Any

from tests.voice.speech_to_speech.fault_list import FAULTS, cells
from tests.voice.speech_to_speech.fault_verdict import Verdict, judge_fault
from tests.voice.speech_to_speech.spoken_call import VENDORS


@dataclass(frozen=True, slots=True)
class Cell:
    """One vendor and fault. ``error``: the call could not be judged."""

    vendor: str
    fault: str
    verdict: Verdict | None
    error: str = ""

    @property
    def problems(self) -> list[str]:
        return self.verdict.problems if self.verdict is not None else [self.error]

    def as_row(self) -> dict[str, Any]:
        row: dict[str, Any] = {"vendor": self.vendor, "fault": self.fault, "problems": self.problems}
        if self.verdict is None:
            return row
        names = ("silence_s", "tools_lost", "tools_doubled", "wrong_words", "forgotten_words", "miscounted")
        more = ("failures", "failovers", "sessions")
        return row | {name: getattr(self.verdict, name) for name in (*names, *more)}


def judge_cell(number: int) -> Cell:
    kind, fault = cells(VENDORS)[number]
    try:
        return Cell(kind.provider, fault.name, judge_fault(kind, fault))
    except (AssertionError, TimeoutError) as error:
        return Cell(kind.provider, fault.name, None, f"{type(error).__name__}: {error}")


def measure(vendor: str, fault: str, processes: int) -> dict[str, Any]:
    began = time.perf_counter()
    numbers = [
        number for number, (kind, found) in enumerate(cells(VENDORS)) if vendor in kind.provider and fault in found.name
    ]
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        table = pool.map(judge_cell, numbers, chunksize=4)
    judged = [cell.verdict for cell in table if cell.verdict is not None]
    by_vendor = {
        name: f"{sum(cell.vendor == name and not cell.problems for cell in table)}/{len(faults)}"
        for name, faults in FAULTS.items()
        if any(cell.vendor == name for cell in table)
    }
    return {
        "cells": len(table),
        "passed": sum(not cell.problems for cell in table),
        "by_vendor": by_vendor,
        "longest_silence_s": round(max((found.silence_s for found in judged), default=0.0), 2),
        "tools_lost": sum(found.tools_lost for found in judged),
        "tools_doubled": sum(found.tools_doubled for found in judged),
        "most_wrong_words": max((found.wrong_words for found in judged), default=0),
        "most_forgotten_words": max((found.forgotten_words for found in judged), default=0),
        "miscounted": sum(found.miscounted for found in judged),
        "seconds": round(time.perf_counter() - began, 1),
        "table": [cell.as_row() for cell in table],
    }


def print_table(figures: dict[str, Any]) -> None:
    for row in figures.pop("table"):
        numbers = f"{row.get('silence_s', 0):5.2f} s  {row.get('wrong_words', '-')} {row.get('forgotten_words', '-')}"
        print(f"{row['vendor']:16} {row['fault']:42} {numbers}  {', '.join(row['problems']) or 'passed'}")
    for name, value in figures.items():
        print(f"{name:20} {value}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vendor", default="", help="only vendors with this in their name")
    parser.add_argument("--fault", default="", help="only faults with this in their name")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = measure(arguments.vendor, arguments.fault, arguments.processes)
    has_passed = figures["passed"] == figures["cells"] > 0
    if arguments.json:
        print(json.dumps(figures))
    else:
        print_table(figures)
    sys.exit(0 if has_passed else 1)


if __name__ == "__main__":
    main()
