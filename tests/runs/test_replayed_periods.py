"""The calls of some days against a version: what is replayed, what is not and why, and what would change."""

import asyncio
import sys
from datetime import timedelta

import pytest

from offhook.root import Root
from offhook.runs import LiveCallRegistry, RunServices
from offhook.runs.tables import Run, RunJournal
from offhook.scenarios.errors import NoDraft, NothingToReplay
from offhook.scenarios.replays.orders import ReplayableRun
from offhook.scenarios.replays.period import PeriodReplay, PeriodReplayer, ReplayPeriod
from offhook.scenarios.replays.player import play_run
from offhook.scenarios.replays.processes import PROGRAM
from offhook.scenarios.replays.program import answer_order
from offhook.scenarios.replays.service import load_replayable, replay_run
from tests.fakes.calls import FixedModels
from tests.runs.conftest import MakeRun
from tests.runs.test_journals import add_draft, talk

DEAD = (sys.executable, "-c", "import sys; sys.stdin.readline(); sys.exit(3)")
WAITS = (sys.executable, "-c", "import time; time.sleep(600)")


async def replay_day(
    root: Root,
    run: Run,
    *,
    program: tuple[str, ...] = PROGRAM,
    is_draft: bool = True,
    limit: int | None = None,
    stop: asyncio.Event | None = None,
) -> PeriodReplay:
    replayer = PeriodReplayer(root.db, root.get(RunServices).live.journals, 2, program)
    begun = run.created_at - timedelta(hours=1)
    period = ReplayPeriod(run.organization_id, run.workflow_id, begun, begun + timedelta(days=1), limit)
    return await replayer.replay(period, number=None, is_draft=is_draft, stop=stop or asyncio.Event())


async def omit(root: Root, run: Run, reason: str) -> None:
    async with root.db.transaction() as session:
        session.add(RunJournal(run_id=run.id, organization_id=run.organization_id, omitted=reason))


async def test_each_call_is_replayed_or_says_why_not(
    root: Root, run: Run, make_run: MakeRun, live: LiveCallRegistry, models: FixedModels
) -> None:
    await talk(live, run, models)
    await make_run(mode="textchat")
    await omit(root, await make_run(), "recording_paused")
    with pytest.raises(NoDraft):
        await replay_day(root, run)
    own = await replay_day(root, run, is_draft=False)
    assert (own.version, own.is_same, [replay.run_id for replay in own.replays]) == (None, True, [run.id])
    await add_draft(root, run)
    result = await replay_day(root, run)
    assert (result.version, result.is_same, result.same, result.different, result.inexact) == (2, False, 0, 1, 0)
    (replay,) = result.replays
    assert replay.difference is not None
    assert (replay.run_id, replay.difference.turn, replay.difference.node) == (run.id, 1, "Greeting")
    assert dict(result.count_by_kind()) == {"what the model is asked": 1}
    assert dict(result.count_by_step()) == {("start", "Greeting"): 1}
    assert dict(result.skipped) == {
        ("text_chat", "This run was a text chat."): 1,
        ("journal_not_kept", "The recording of the call was paused."): 1,
    }
    async with root.db.transaction() as session:
        replayable = await load_replayable(session, live.journals, run.id, is_draft=True)
    copied = ReplayableRun.from_json(replayable.as_json())
    assert await asyncio.to_thread(play_run, copied) == await replay_run(replayable) == replay
    assert (await replay_day(root, run, program=DEAD)).skipped[
        "replay_failed",
        "This call could not be replayed: the process that replays calls stopped early, or took too long.",
    ] == 1


async def test_what_is_stopped_says_how_far_it_came(
    root: Root, run: Run, live: LiveCallRegistry, models: FixedModels
) -> None:
    await talk(live, run, models)
    stop = asyncio.Event()
    asyncio.get_running_loop().call_later(0.3, stop.set)
    result = await replay_day(root, run, program=WAITS, is_draft=False, stop=stop)
    assert (result.done, result.total, result.is_complete, result.is_same) == (0, 1, False, False)


async def test_an_agent_without_runs_has_nothing_to_replay(root: Root, run: Run) -> None:
    late = run.created_at + timedelta(hours=1)
    replayer = PeriodReplayer(root.db, root.get(RunServices).live.journals, 1)
    period = ReplayPeriod(run.organization_id, run.workflow_id, late, late + timedelta(days=1))
    with pytest.raises(NothingToReplay):
        await replayer.replay(period, number=None, is_draft=False, stop=asyncio.Event())


def test_a_damaged_journal_is_an_answer_of_the_program() -> None:
    order = b'{"run_id": 1, "journal": "eA==", "stored": [], "given": [], "own": %s, "other": null}'
    agent = b"""{"name": "a", "definition": {"nodes": [{"id": "s", "type": "startCall", "data": {}}], "edges": []},
        "configurations": {}, "variables": {}, "documents": {}, "tools": []}""".replace(b"\n", b"")
    own = b'{"id": 1, "number": 1, "configurations": {}, "agent": %s}' % agent
    assert answer_order(order % own) == {"damage": "The journal is damaged."}
