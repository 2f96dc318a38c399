"""Measures a call on virtual time: the cost of a test of the voice loop, which limits how many tests there can be.

    python -m bench.virtual_time [--minutes N] [--json]

A caller asks a scripted agent a question every six seconds for N minutes (default 1). Prints wall and CPU seconds per
call-minute, the events of the call, and if a repeated call was identical.
"""

import argparse
import json
import time
from typing import Any

from tests.fakes.scripted import says
from tests.voice.phone import Call, simple_agent

from offhook.voice import events


def talk(minutes: int) -> Call:
    length_s = minutes * 60
    questions = range(4, length_s - 6, 6)
    call = Call(simple_agent(), [says(f"Answer number {n} is here.") for n, _ in enumerate(questions)])
    call.configurations = {"max_call_duration": 1200}
    for n, at in enumerate(questions):
        call.says(f"Question {n} please", at=at)
    return call.hangs_up(at=length_s).run()


def measure(minutes: int) -> dict[str, Any]:
    wall, cpu = time.perf_counter(), time.process_time()
    first = talk(minutes)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    second = talk(minutes)
    return {
        "minutes": minutes,
        "wall_s_per_minute": round(wall / minutes, 3),
        "cpu_s_per_minute": round(cpu / minutes, 3),
        "questions_heard": len(first.sink.of(events.CALLER_SAID)),
        "events": len(first.sink.events),
        "is_same_twice": first.sink.events == second.sink.events,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = measure(arguments.minutes)
    if arguments.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:20} {value}")


if __name__ == "__main__":
    main()
