"""The process that plays scenarios by text: reads an order, and writes one line of JSON for each result, and the verdict.

Its arguments are the processor time in seconds and the folder of models. It has no database and no network to use: what
vendors' models are asked, it asks the process that started it, with a line of JSON. A play that takes more processor time
is ended by the system. It is started for each play, and imports what a conversation consists of, no more; what sound
needs is in :mod:`~offhook.scenarios.plays.sound_program`.
"""

import json
import logging
import math
import resource
import sys
import time
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import structlog

from offhook.kit.json_values import JsonObject
from offhook.kit.processes.priority import lower_priority
from offhook.models.ports import ModelRef
from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.scenarios.answers.model import AnsweredLlm
from offhook.scenarios.answers.pipe import PipedAnswers
from offhook.scenarios.answers.questions import AGENT, PUBLISHED
from offhook.scenarios.engine.player import PlayedTurn, play_scenario
from offhook.scenarios.engine.suite import MakeLlm, Play, ScenarioResult, SuiteResult, run_scenario, run_suite
from offhook.scenarios.gate.verdict import judge_draft, summarize_suite
from offhook.scenarios.offline import build_offline_model
from offhook.scenarios.plays.orders import PlayOrder
from offhook.scenarios.sound.strips import describe_strip

# Behind calls and other jobs, which wait for somebody.
NICENESS: Final = 10
# Of failed calls, the first ones: a recording takes two megabytes a minute.
MAX_RECORDINGS: Final = 20
# What is kept of a verdict beside the results.
_VERDICT: Final = (
    "passed",
    "reasons",
    "warnings",
    "changes",
    "coverage",
    "slowest_answer_s",
    "sound",
    "published_sound",
)


def main() -> int:
    order, models = begin_play(*sys.argv[1:3])
    write_lines(play_order(order, *models))
    return 0


def begin_play(cpu_s: str, models_folder: str) -> tuple[PlayOrder, tuple[MakeLlm, MakeLlm]]:
    """Reads the order from the standard input; limits this process. Returns what makes the models, too: of the version,
    and of the published one."""
    lower_priority(NICENESS)
    # the output is for results; a trace of what went wrong belongs to the worker's own log
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    order = PlayOrder.from_json(json.loads(sys.stdin.readline()))
    models = _choose_models(order, Path(models_folder) if models_folder else None)
    # what it took to start is not the play's
    limit_s = math.ceil(time.process_time()) + int(cpu_s)
    resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s + 1))
    return order, models


def _choose_models(order: PlayOrder, models_folder: Path | None) -> tuple[MakeLlm, MakeLlm]:
    """Returns what makes the model of the version, and of the published one."""
    if not order.models:
        make_llm = build_offline_model(models_folder) if models_folder is not None else BuiltinLlm
        return make_llm, make_llm
    source = PipedAnswers(sys.stdout, sys.stdin)

    def make(asked: str) -> MakeLlm:
        model = order.models.get(asked, order.models[AGENT])
        return partial(AnsweredLlm, source, ModelRef("llm", model.provider, model.model), asked)

    return make(AGENT), make(PUBLISHED)


def write_lines(lines: Iterator[JsonObject]) -> None:
    for line in lines:
        write_line(line)


def write_line(line: JsonObject) -> None:
    sys.stdout.write(json.dumps(line, default=str) + "\n")
    sys.stdout.flush()


def play_order(
    order: PlayOrder,
    make_llm: MakeLlm,
    make_published: MakeLlm | None = None,
    *,
    play: Play = play_scenario,
    play_published: Play = play_scenario,
) -> Iterator[JsonObject]:
    """Yields ``{result, seed}`` for each scenario and seed, and at the end ``{verdict, hash}``. The published version is
    played for the verdict only: its recordings are written elsewhere, and deleted."""
    suites: list[SuiteResult] = []
    kept = 0
    for seed in order.seeds:
        results: list[ScenarioResult] = []
        for scenario in order.scenarios:
            result = run_scenario(order.agent, scenario, make_llm, seed, play=play)
            results.append(result)
            recording = _take_recording(result, has_room=kept < MAX_RECORDINGS)
            kept += bool(recording)
            yield {"seed": seed, "result": {**describe_result(result), **recording}}
        suites.append(SuiteResult(order.agent.name, seed, tuple(results)))
    whole = sha256("".join(suite.hash for suite in suites).encode()).hexdigest()
    yield {
        # of one seed, what `offhook test` prints
        "hash": suites[0].hash if len(suites) == 1 else whole,
        "verdict": _judge(order, suites, make_published or make_llm, play_published)
        if order.policy is not None
        else None,
    }


def _take_recording(result: ScenarioResult, *, has_room: bool) -> JsonObject:
    """Returns the name of a failed call's recording with its strip; deletes it without room for more."""
    sound = result.played.sound if result.played is not None else None
    if result.played is None or sound is None or result.has_passed:
        return {}
    if not has_room:
        sound.recording.unlink(missing_ok=True)
        return {}
    return {"recording": sound.recording.name, "strip": describe_strip(result.played)}


def describe_result(result: ScenarioResult) -> JsonObject:
    """Returns a result with its transcript, caller and agent in turn."""
    played = result.played
    turns: list[Any] = [_describe_turn(turn) for turn in played.turns] if played is not None else []
    return {**result.as_json(), "transcript": turns}


def _describe_turn(turn: PlayedTurn) -> JsonObject:
    move = turn.move
    if move is None:
        return {"caller": None, "agent": turn.reply, "turn": None}
    if move.hangs_up:
        did = "(hangs up)"
    elif move.silence_s is not None:
        did = f"(silent for {move.silence_s:g} s)"
    elif move.press is not None:
        did = f"(presses {move.press})"
    else:
        did = str(move.say)
    return {"caller": did, "agent": turn.reply, "turn": move.turn}


def _judge(order: PlayOrder, suites: list[SuiteResult], make_llm: MakeLlm, play: Play) -> JsonObject:
    """Returns the verdict over all seeds: the first one that is against the draft, else that of the first seed."""
    assert order.policy is not None
    verdicts = []
    for suite in suites:
        before = None
        if order.published is not None:
            played = run_suite(
                order.published, order.scenarios, make_llm, suite.seed, on_result=_forget_recording, play=play
            )
            before = summarize_suite(order.published, played)
        verdicts.append(judge_draft(summarize_suite(order.agent, suite), before, order.policy))
    shown = next((verdict for verdict in verdicts if not verdict.has_passed), verdicts[0])
    plain = shown.as_json()
    # the results are rows of their own
    return {key: plain[key] for key in _VERDICT}


def _forget_recording(result: ScenarioResult) -> bool:
    if result.played is not None and result.played.sound is not None:
        result.played.sound.recording.unlink(missing_ok=True)
    return True
