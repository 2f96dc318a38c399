"""How many text calls the scenarios' engine plays: 10,000 calls of the catalog's templates on two processes.

    python -m bench.gate [--calls N] [--processes N] [--models FOLDER] [--json]

Every template's scenarios are played with one seed after the other, offline and on virtual time. Prints calls per second, how many held what
they expect, and a hash over all event journals: the same on every run, however many processes there are.
"""

import argparse
import json
import multiprocessing
import tempfile
import time
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from offhook.models.ports import Llm
from offhook.scenarios import run_scenario
from offhook.scenarios.offline import build_offline_model
from offhook.scenarios.templates import build_template_agent, template_scenarios
from offhook.workflows.catalog.templates import TEMPLATE_IDS, load_template

GOAL_S: Final = 300


class _Player:
    """Plays calls by their number, in one process."""

    def __init__(self, models: str) -> None:
        self._make_llm = build_offline_model(Path(models))
        self._scenarios = [
            (build_template_agent(load_template(name)), scenario)
            for name in TEMPLATE_IDS
            for scenario in template_scenarios(name)
        ]

    def play_call(self, number: int) -> tuple[bool, str]:
        seed, at = divmod(number, len(self._scenarios))
        agent, scenario = self._scenarios[at]
        result = run_scenario(agent, scenario, self._make_llm, seed)
        return result.has_passed, result.hash


@cache
def _player(models: str) -> _Player:
    return _Player(models)


def _play(task: tuple[str, int]) -> tuple[bool, str]:
    models, number = task
    return _player(models).play_call(number)


def measure(calls: int, processes: int, models: str) -> dict[str, Any]:
    # prepared once: the processes would do it side by side
    maker = build_offline_model(Path(models))
    llm: Llm = maker()
    began = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        done = pool.map(_play, [(models, number) for number in range(calls)], chunksize=50)
    took = time.perf_counter() - began
    return {
        "calls": calls,
        "processes": processes,
        "model": str(llm.model_ref.model),
        "seconds": round(took, 1),
        "calls_per_second": round(calls / took, 1),
        "passed": sum(passed for passed, _ in done),
        "failed": sum(not passed for passed, _ in done),
        "hash": sha256("".join(found for _, found in done).encode()).hexdigest(),
        "is_within_goal": took <= GOAL_S * calls / 10_000,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--models", help="the folder that keeps the prepared offline model")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(arguments.calls, arguments.processes, arguments.models or folder)
    if arguments.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:20} {value}")


if __name__ == "__main__":
    main()
