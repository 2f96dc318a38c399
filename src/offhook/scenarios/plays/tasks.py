"""The job that plays scenarios: a process of its own for each play, so that calls and other jobs keep their CPU."""

import asyncio
import contextlib
import json
import signal
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import structlog

from offhook.errors import DomainError
from offhook.jobs.registry import read_number
from offhook.kit.database.database import Database
from offhook.kit.json_values import JsonObject, sanitize_json
from offhook.scenarios.answers.desk import AnswerDesk, WantedAnswers
from offhook.scenarios.answers.play_answers import PlayAnswers
from offhook.scenarios.answers.questions import AGENT, BUILT_IN, OVER_BUDGET, PUBLISHED
from offhook.scenarios.errors import ModelRequired
from offhook.scenarios.plays import repository
from offhook.scenarios.plays.content import PlayContent, gather_content
from offhook.scenarios.plays.orders import AnsweringModel, PlayOrder
from offhook.scenarios.plays.recordings import PlayRecordings
from offhook.scenarios.processes import quick_command, start_program
from offhook.scenarios.tables import SOUND, TEXT, ScenarioPlay
from offhook.webhooks.service import publish_event

# They get the processor time in seconds, the folder of models and one for recordings as their arguments.
PROGRAM: Final = quick_command("offhook.scenarios.plays.program")
SOUND_PROGRAM: Final = quick_command("offhook.scenarios.plays.sound_program")
# How often results are stored, and a cancellation is looked for.
STORE_INTERVAL_S: Final = 0.5
# Waiting for a processor is not the play's fault: its processor time is what is limited.
WALL_FACTOR: Final = 10
# With answers of vendors, who are asked one question after the other.
ANSWERS_LIMIT_S: Final = 5400.0
KEPT_PLAYS: Final = 50
# What is stored of a result's conversation beside its words.
_OUTCOME: Final = (
    "edges",
    "keyed_edges",
    "nodes",
    "tools",
    "failed_tools",
    "end",
    "outcome",
    "duration_s",
    "sound",
    "strip",
    "verdicts",
    "cost_cents",
)
log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Progress:
    """What a play has said so far. ``unstored`` are results that no row has yet, ``recordings`` the names of files in
    ``folder`` for some of them."""

    folder: str = ""

    passed: int = 0
    # failed by an assertion, whatever a model has judged of others
    failed: int = 0
    done: int = 0
    unstored: list[dict[str, Any]] = field(default_factory=list)
    recordings: list[tuple[dict[str, Any], str]] = field(default_factory=list)
    end: dict[str, Any] | None = None
    error: str | None = None
    # why models may not be asked any more
    overspent: str | None = None

    def add_line(self, line: dict[str, Any]) -> None:
        if "result" not in line:
            self.error = line.get("error")
            self.end = line if self.error is None else None
            return
        result = line["result"]
        self.done += 1
        self.passed += bool(result["passed"])
        self.failed += any(not fault.get("is_by_model") for fault in result["faults"])
        rest = {key: result[key] for key in _OUTCOME if key in result}
        self.unstored.append(
            {
                "name": result["name"],
                "title": result["title"],
                "seed": line["seed"],
                "has_passed": result["passed"],
                "hash": result["hash"],
                "faults": sanitize_json(result["faults"]),
                "turns": sanitize_json(result["transcript"]),
                "outcome": sanitize_json(rest),
            }
        )
        if "recording" in result:
            self.recordings.append((self.unstored[-1], str(result["recording"])))


@dataclass(frozen=True, slots=True)
class _ProgramOrder:
    """What a play is about. ``answers`` is None where the built-in model answers."""

    order: PlayOrder
    budget_s: int
    has_sound: bool
    wanted: WantedAnswers | None
    answers: PlayAnswers | None = None

    @property
    def text(self) -> bytes:
        return json.dumps(self.order.as_json()).encode()

    @property
    def limit_s(self) -> float:
        """Returns the longest time on the clock."""
        return max(self.budget_s * WALL_FACTOR, ANSWERS_LIMIT_S if self.answers is not None else 0.0)


class ScenarioPlayJob:
    """Handles the job ``scenario.play``. A job that is run again plays from the beginning: the results are the same.

    Without a folder of models the offline agent compares words, not meanings. ``program`` takes the place of ours. Without
    a ``desk`` only the built-in model answers.
    """

    def __init__(
        self,
        db: Database,
        recordings: PlayRecordings,
        models_folder: Path | None,
        program: Sequence[str] | None = None,
        *,
        desk: AnswerDesk | None = None,
    ) -> None:
        self._db = db
        self._recordings = recordings
        self._program = program or PROGRAM
        self._sound_program = program or SOUND_PROGRAM
        self._models_folder = models_folder
        self._desk = desk

    async def run_play(self, payload: JsonObject) -> None:
        organization_id, play_id = read_number(payload, "organization_id"), read_number(payload, "play_id")
        order = await self._begin(organization_id, play_id)
        order = order and await self._open_answers(organization_id, play_id, order)
        if order is None:
            return
        progress = _Progress()
        async with AsyncExitStack() as stack:
            if order.has_sound:
                progress.folder = str(stack.enter_context(self._recordings.open_folder()))
            arguments = str(order.budget_s), str(self._models_folder or ""), progress.folder
            has_questions = order.answers is not None
            command = self._sound_program if order.has_sound else self._program
            program = start_program(command, order.text, *arguments, has_questions=has_questions)
            process = await stack.enter_async_context(program)
            limit = asyncio.timeout(order.limit_s)
            try:
                async with limit:
                    if await self._follow(process, organization_id, play_id, progress, order.answers):
                        return  # canceled
                    if progress.overspent is None:
                        await process.wait()
            except TimeoutError:
                if not limit.expired():
                    raise
            is_late = limit.expired() or process.returncode == -signal.SIGXCPU
        await self._finish(organization_id, play_id, progress, is_late=is_late)

    async def _begin(self, organization_id: int, play_id: int) -> _ProgramOrder | None:
        """Returns what the program gets; None for a play that is over, or cannot be played."""
        async with self._db.transaction() as session:
            play = await repository.find_play(session, organization_id, play_id, for_update=True)
            if play is None or play.state not in repository.OPEN:
                return None
            try:
                content = await gather_content(session, organization_id, play.version_id)
            except DomainError as error:
                ended = {"state": "broken", "error": error.message}
                await repository.end_play(session, organization_id, play_id, ended, datetime.now(UTC))
                return None
            names = set(play.scenario_names)
            chosen = [scenario for scenario in content.scenarios if not names or scenario.name in names]
            await repository.forget_results(session, organization_id, play_id)
            play.state, play.started_at = "running", datetime.now(UTC)
            play.total, play.done, play.passed = len(chosen) * len(play.seeds), 0, 0
            # a part of the scenarios proves nothing about a version, nor do those played in the other mode, or with
            # other answers
            has_verdict = not names and play.mode == (SOUND if content.policy.with_sound else TEXT)
            has_verdict = has_verdict and play.answers == content.policy.answers
            play.content_hash = content.hash if has_verdict else None
            policy = content.policy if has_verdict else None
            order = PlayOrder(content.agent, chosen, play.seeds, content.published, policy)
            wanted = None if play.answers == BUILT_IN else _wanted_answers(play, content)
            return _ProgramOrder(order, play.cpu_budget_s, play.mode == SOUND, wanted)

    async def _open_answers(self, organization_id: int, play_id: int, order: _ProgramOrder) -> _ProgramOrder | None:
        """Adds the models that answer; None for a play whose models cannot be used."""
        if order.wanted is None:
            return order
        try:
            if self._desk is None:
                raise ModelRequired
            answers, models = await self._desk.open_play(order.wanted)
        except DomainError as error:
            async with self._db.transaction() as session:
                ended = {"state": "broken", "error": error.message}
                await repository.end_play(session, organization_id, play_id, ended, datetime.now(UTC))
            return None
        named = {asked: AnsweringModel(model.provider, model.name) for asked, model in models.items()}
        return replace(order, order=replace(order.order, models=named), answers=answers)

    async def _follow(
        self,
        process: asyncio.subprocess.Process,
        organization_id: int,
        play_id: int,
        progress: _Progress,
        answers: PlayAnswers | None,
    ) -> bool:
        """Answers questions, and stores results as they come; returns True as soon as the play is canceled."""
        assert process.stdout is not None
        loop = asyncio.get_running_loop()
        stored_at = loop.time()
        reading: asyncio.Task[bytes] | None = None
        try:
            while True:
                reading = reading or asyncio.create_task(process.stdout.readline())
                done, _ = await asyncio.wait({reading}, timeout=STORE_INTERVAL_S)
                line = reading.result() if done else None
                if line:
                    await self._take_line(process, json.loads(line), progress, answers)
                if progress.overspent is not None:
                    line = b""
                if done:
                    reading = None
                if line == b"" or loop.time() - stored_at >= STORE_INTERVAL_S:
                    stored_at = loop.time()
                    if not await self._store(organization_id, play_id, progress, answers):
                        return True
                if line == b"":
                    return False
        finally:
            if reading is not None:
                reading.cancel()

    async def _take_line(
        self,
        process: asyncio.subprocess.Process,
        line: dict[str, Any],
        progress: _Progress,
        answers: PlayAnswers | None,
    ) -> None:
        if "ask" not in line or answers is None:
            progress.add_line(line)
            return
        reply = await answers.reply_to(line["ask"])
        refused: Any = reply.get("refused")
        if refused is not None and refused["code"] == OVER_BUDGET:
            # the conversation that asked has no result: it was not held
            progress.overspent = refused["message"]
            return
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.write(json.dumps(reply).encode() + b"\n")
            await process.stdin.drain()

    async def _store(
        self, organization_id: int, play_id: int, progress: _Progress, answers: PlayAnswers | None
    ) -> bool:
        """Stores what came since the last time; False when the play is canceled."""
        recordings, progress.recordings = progress.recordings, []
        for row, name in recordings:
            file = Path(progress.folder) / Path(name).name
            key = await self._recordings.keep_recording(organization_id, play_id, file)
            if key is not None:
                row["outcome"]["recording_key"] = key
        rows, progress.unstored = progress.unstored, []
        async with self._db.transaction() as session:
            play = await repository.find_play(session, organization_id, play_id, for_update=True)
            if play is None or play.state != "running":
                return False
            await repository.add_results(session, organization_id, play_id, rows)
            play.done, play.passed = progress.done, progress.passed
            if answers is not None:
                play.usage, play.cost_cents = answers.budget.usage.as_dict(), answers.budget.cost_cents
        return True

    async def _finish(self, organization_id: int, play_id: int, progress: _Progress, *, is_late: bool) -> None:
        async with self._db.transaction() as session:
            play = await repository.find_play(session, organization_id, play_id)
            if play is None:
                return
            values = _end_of(play, progress, is_late=is_late)
            if not await repository.end_play(session, organization_id, play_id, values, datetime.now(UTC)):
                return
            await repository.forget_old_plays(session, organization_id, play.workflow_id, kept=KEPT_PLAYS)
            data = {
                "play_id": play_id,
                "workflow_id": play.workflow_id,
                "version_number": play.version_number,
                "state": values["state"],
                "total": play.total,
                "passed": progress.passed,
                "hash": values.get("result_hash"),
            }
            await publish_event(session, organization_id, "scenarios.played", data, key=f"scenarios.played:{play_id}")
        log.info("scenarios_played", play_id=play_id, state=values["state"], done=progress.done)


def _wanted_answers(play: ScenarioPlay, content: PlayContent) -> WantedAnswers:
    configurations = {AGENT: content.agent.configurations}
    if content.published is not None:
        configurations[PUBLISHED] = content.published.configurations
    return WantedAnswers(
        play.organization_id,
        play.workflow_id,
        play.answers,
        play.records,
        play.cost_budget_cents,
        configurations,
        play.usage,
    )


def _end_of(play: ScenarioPlay, progress: _Progress, *, is_late: bool) -> Mapping[str, Any]:
    end = progress.end
    if progress.overspent is not None:
        return {"state": "out_of_budget", "error": progress.overspent}
    if end is None:
        if is_late:
            error = f"The play took more than {play.cpu_budget_s} s of processor time."
            return {"state": "out_of_budget", "error": error}
        error = progress.error or "The process that plays scenarios ended before it was done."
        return {"state": "broken", "error": error}
    verdict = end["verdict"]
    # with a verdict, the publishing rules say what a model's judgment is worth
    has_passed = progress.passed == play.total if verdict is None else not progress.failed and verdict["passed"]
    return {"state": "passed" if has_passed else "failed", "result_hash": end["hash"], "verdict": verdict}
