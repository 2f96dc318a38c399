"""Replays the calls that an agent had in some time, several at once, and counts what would change."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from offhook.errors import DomainError
from offhook.kit.database.database import Database
from offhook.kit.json_values import JsonObject
from offhook.runs import service as runs
from offhook.runs.journals import queries
from offhook.runs.journals.call_journals import REASONS, CallJournals
from offhook.runs.states import TEXT_CHAT
from offhook.scenarios.errors import NothingToReplay
from offhook.scenarios.replays.orders import RunReplay
from offhook.scenarios.replays.processes import PROGRAM, ReplayProcess
from offhook.scenarios.replays.service import LoadedAgents, find_version, load_with_version
from offhook.workflows import service as workflows
from offhook.workflows.service import VersionToRun

MAX_RUNS: Final = 100_000
_TEXT_CHAT: Final = ("text_chat", "This run was a text chat.")
_NO_JOURNAL: Final = ("journal_not_kept", "This run has no journal.")


@dataclass(frozen=True, slots=True)
class ReplayPeriod:
    """Which runs of an agent: those created since one moment and before another; of those with a journal the newest
    ``limit``."""

    organization_id: int
    workflow_id: int
    since: datetime
    until: datetime
    limit: int | None = None


@dataclass(slots=True)
class PeriodReplay:
    """``replays`` are by the position of their run, newest first; ``skipped`` counts runs without a replay by code and
    sentence. ``version`` is None where each call was played with its own one."""

    agent: str
    period: ReplayPeriod
    version: int | None
    # of the runs with a journal
    total: int = 0
    done: int = 0
    by_position: dict[int, RunReplay] = field(default_factory=dict)
    skipped: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def is_complete(self) -> bool:
        return self.done >= self.total

    @property
    def replays(self) -> Sequence[RunReplay]:
        return [self.by_position[position] for position in sorted(self.by_position)]

    @property
    def same(self) -> int:
        return sum(replay.difference is None for replay in self.replays)

    @property
    def different(self) -> int:
        return sum(replay.difference is not None and replay.is_exact for replay in self.replays)

    @property
    def inexact(self) -> int:
        """Returns how many calls were not even the same with their own version."""
        return sum(not replay.is_exact for replay in self.replays)

    @property
    def is_same(self) -> bool:
        return self.is_complete and 0 < self.same == len(self.replays)

    def count_by_kind(self) -> Counter[str]:
        """Returns how many calls differ first in which type of event, or question to a model."""
        return Counter(replay.difference.what for replay in self._differing())

    def count_by_step(self) -> Counter[tuple[str, str]]:
        """Returns how many calls differ first in which step, by its id and name."""
        return Counter((replay.difference.node_id, replay.difference.node) for replay in self._differing())

    def _differing(self) -> Iterator[Any]:
        return (replay for replay in self.replays if replay.is_exact and replay.difference is not None)

    def as_json(self) -> JsonObject:
        by_step: list[Any] = [
            {"node_id": node_id, "node": node, "runs": count}
            for (node_id, node), count in self.count_by_step().most_common()
        ]
        skipped: list[Any] = [
            {"code": code, "message": message, "runs": count} for (code, message), count in self.skipped.most_common()
        ]
        replays: list[Any] = [replay.as_json() for replay in self.replays]
        return {
            "agent": self.agent,
            "version": self.version,
            "since": self.period.since.isoformat(),
            "until": self.period.until.isoformat(),
            "is_complete": self.is_complete,
            "total": len(replays),
            "same": self.same,
            "different": self.different,
            "inexact": self.inexact,
            "by_kind": dict(self.count_by_kind().most_common()),
            "by_step": by_step,
            "not_replayed": skipped,
            "runs": replays,
        }


@dataclass(frozen=True, slots=True)
class PeriodReplayer:
    """``processes`` calls are replayed at once, each read when its turn comes. ``on_progress`` gets the number of runs that
    are done, and of all."""

    db: Database
    journals: CallJournals
    processes: int
    program: Sequence[str] = PROGRAM
    on_progress: Callable[[int, int], None] = lambda done, total: None

    async def replay(
        self, period: ReplayPeriod, *, number: int | None, is_draft: bool, stop: asyncio.Event
    ) -> PeriodReplay:
        """Replays until all runs are done or ``stop`` is set.

        Raises WorkflowNotFound, VersionNotFound (404), NoDraft, NothingToReplay (409).
        """
        async with self.db.transaction() as session:
            agent = await workflows.name_of(session, period.organization_id, period.workflow_id)
            other = None
            if number is not None or is_draft:
                other = await find_version(session, period.organization_id, period.workflow_id, number=number)
            found = await queries.list_runs(
                session, period.organization_id, period.workflow_id, period.since, period.until, limit=MAX_RUNS
            )
        if not found:
            raise NothingToReplay
        result = PeriodReplay(agent, period, None if other is None else other.version_number)
        chosen = _choose(found, period.limit, result)
        result.total = len(chosen)
        waiting = iter(list(enumerate(chosen)))
        work = [
            asyncio.create_task(self._work(waiting, period, other, result))
            for _ in range(min(self.processes, len(chosen)))
        ]
        await _wait_for(work, stop)
        return result

    async def _work(
        self,
        waiting: Iterator[tuple[int, int]],
        period: ReplayPeriod,
        other: VersionToRun | None,
        result: PeriodReplay,
    ) -> None:
        agents = LoadedAgents()
        async with ReplayProcess(self.program) as process:
            for position, run_id in waiting:
                try:
                    async with self.db.transaction() as session:
                        run = await runs.get_run(session, period.organization_id, run_id)
                        replayable = await load_with_version(session, self.journals, agents, run, other)
                    result.by_position[position] = await process.replay(replayable)
                except DomainError as error:
                    result.skipped[error.code, error.message] += 1
                result.done += 1
                self.on_progress(result.done, result.total)


def _choose(found: Sequence[queries.JournaledRun], limit: int | None, result: PeriodReplay) -> list[int]:
    """Returns the runs with a journal, and counts those without one that are no older than these."""
    chosen: list[int] = []
    for run in found:
        if limit is not None and len(chosen) >= limit:
            break
        if run.has_journal and run.omitted is None:
            chosen.append(run.run_id)
        elif run.omitted is not None:
            result.skipped["journal_not_kept", REASONS.get(run.omitted, run.omitted)] += 1
        else:
            result.skipped[_TEXT_CHAT if run.mode == TEXT_CHAT else _NO_JOURNAL] += 1
    return chosen


async def _wait_for(work: Sequence[asyncio.Task[None]], stop: asyncio.Event) -> None:
    """Waits until all tasks are done, or ends them. Raises what one of them raises."""
    stopped = asyncio.create_task(stop.wait())
    pending: set[asyncio.Task[Any]] = {*work, stopped}
    try:
        while pending != {stopped} and not stopped.done():
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
    finally:
        for task in (*work, stopped):
            task.cancel()
        await asyncio.gather(*work, stopped, return_exceptions=True)
