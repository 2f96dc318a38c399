"""How many calls the scenarios' engine plays: 10,000 text calls, or 1,000 minutes of calls with sound, on two processes.

    python -m bench.gate [--calls N] [--processes N] [--models FOLDER] [--json]
    python -m bench.gate --sound [--minutes N]

The scenarios of every template are played with one seed after the other, offline and on virtual time; calls with sound
take 40 s in the mean. Prints how long it took, the CPU of all processes with those that speak, how many calls held what
they expect, and a hash over all event journals and recordings: the same on every run, however many processes there are.
"""

import argparse
import json
import multiprocessing
import resource
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from multiprocessing.pool import Pool
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any, Final

from offhook.models.ports import Llm
from offhook.scenarios import run_scenario
from offhook.scenarios.engine.player import play_scenario
from offhook.scenarios.engine.suite import Play
from offhook.scenarios.offline import build_offline_model
from offhook.scenarios.sound.player import SoundPlayer
from offhook.scenarios.templates import build_template_agent, template_scenarios
from offhook.workflows.catalog.templates import TEMPLATE_IDS, load_template

GOAL_S: Final = 300
# Calls with sound that are begun at a time, until there are enough.
PORTION: Final = 40


@dataclass(frozen=True, slots=True)
class PlayedCall:
    """What came of one call."""

    has_passed: bool
    seconds: float
    hash: str


class _Player:
    """Plays calls by their number, in one process."""

    def __init__(self, models: str, mode: str) -> None:
        self._make_llm = build_offline_model(Path(models))
        self._play: Play = _open_sound_player() if mode == "sound" else play_scenario
        self._scenarios = [
            (build_template_agent(load_template(name)), scenario)
            for name in TEMPLATE_IDS
            for scenario in template_scenarios(name)
        ]

    def play_call(self, number: int) -> PlayedCall:
        seed, at = divmod(number, len(self._scenarios))
        agent, scenario = self._scenarios[at]
        result = run_scenario(agent, scenario, self._make_llm, seed, play=self._play)
        return PlayedCall(result.has_passed, result.played.duration_s if result.played is not None else 0, result.hash)


def _open_sound_player() -> Play:
    player = SoundPlayer(Path(tempfile.mkdtemp(prefix="offhook-bench-")))
    # its CPU counts once its end has been waited for
    Finalize(player, player.close, exitpriority=1)
    return player.play_call


@cache
def _player(models: str, mode: str) -> _Player:
    return _Player(models, mode)


def _play(task: tuple[str, str, int]) -> PlayedCall:
    models, mode, number = task
    return _player(models, mode).play_call(number)


def _play_all(pool: Pool, mode: str, models: str, calls: int, minutes: float) -> list[PlayedCall]:
    """Returns so many text calls, or calls with sound that take so many minutes together; portions are played whole."""
    if mode == "text":
        return pool.map(_play, [(models, mode, number) for number in range(calls)], chunksize=50)
    done: list[PlayedCall] = []
    while sum(call.seconds for call in done) < minutes * 60:
        portion = range(len(done), len(done) + PORTION)
        done += pool.map(_play, [(models, mode, number) for number in portion], chunksize=1)
    return done


def measure(mode: str, calls: int, minutes: float, processes: int, models: str) -> dict[str, Any]:
    # prepared once: the processes would do it side by side
    maker = build_offline_model(Path(models))
    llm: Llm = maker()
    began, cpu_before = time.perf_counter(), _cpu_of_children()
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        done = _play_all(pool, mode, models, calls, minutes)
        took = time.perf_counter() - began
        pool.close()
        pool.join()
    call_minutes = sum(call.seconds for call in done) / 60
    goal_s = GOAL_S * (call_minutes / 1000 if mode == "sound" else len(done) / 10_000)
    cpu_s = _cpu_of_children() - cpu_before
    return {
        "mode": mode,
        "calls": len(done),
        "call_minutes": round(call_minutes, 1),
        "processes": processes,
        "model": str(llm.model_ref.model),
        "seconds": round(took, 1),
        "cpu_s": round(cpu_s, 1),
        "cpu_s_per_call_minute": round(cpu_s / call_minutes, 3),
        "passed": sum(call.has_passed for call in done),
        "failed": sum(not call.has_passed for call in done),
        "hash": sha256("".join(call.hash for call in done).encode()).hexdigest(),
        "is_within_goal": took <= goal_s,
    }


def _cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sound", action="store_true", help="whole calls with sound instead of text")
    parser.add_argument("--calls", type=int, default=10_000, help="text calls")
    parser.add_argument("--minutes", type=float, default=1000, help="minutes of calls with sound")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--models", help="the folder that keeps the prepared offline model")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    mode = "sound" if given.sound else "text"
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(mode, given.calls, given.minutes, given.processes, given.models or folder)
    if given.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:22} {value}")


if __name__ == "__main__":
    main()
