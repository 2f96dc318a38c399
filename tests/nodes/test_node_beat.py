"""A process's beat: its row among the nodes, and what others see of it."""

import asyncio

from sqlalchemy import text
from structlog.testing import capture_logs

from offhook.bootstrap import build_root, stop_domains
from offhook.kit.database.database import Database
from offhook.kit.loop_lateness import MAX_SAMPLES, LoopLateness
from offhook.nodes import queries, tasks
from offhook.nodes.node_beat import NodeBeat, NodeDescription
from offhook.nodes.queries import NodeRecord
from offhook.root import Root
from offhook.settings import Settings

SERVER = NodeDescription("serve", address="http://10.0.0.1:8480", call_limit=120)


async def nodes_of(root: Root) -> list[NodeRecord]:
    async with root.db.transaction() as session:
        return await queries.list_nodes(session)


async def age(root: Root, seconds: int) -> None:
    async with root.db.transaction() as session:
        await session.execute(text(f"UPDATE nodes SET beat_at = beat_at - interval '{seconds} s'"))


async def test_a_beat_tells_where_the_process_is_and_what_it_carries(root: Root) -> None:
    live = 3
    beat = NodeBeat(root, SERVER, count_live=lambda: live)
    await beat.beat()
    live = 5
    await beat.beat()
    (node,) = await nodes_of(root)
    assert (node.id, node.address, node.call_limit, node.live_calls) == (root.node_id, SERVER.address, 120, 5)
    assert (node.state, node.is_accepting) == ("up", True)


async def test_a_beat_tells_what_the_process_can_read(root: Root) -> None:
    """Nothing is encrypted that a running process cannot read."""

    async def level() -> int:
        async with root.db.transaction() as session:
            return await queries.find_sealed_level(session)

    assert await level() == queries.SEALED_LEVEL
    await NodeBeat(root, SERVER).beat()
    assert await level() == queries.SEALED_LEVEL
    for reads, known in (("true", queries.FIRST_SEALED_LEVEL), ("false", 0)):
        async with root.db.transaction() as session:
            older = (
                f"INSERT INTO nodes (id, kind, version, reads_sealed_rows) VALUES ('{reads}', 'worker', '0', {reads})"
            )
            await session.execute(text(older))
        assert await level() == known
    async with root.db.transaction() as session:
        silent = "UPDATE nodes SET beat_at = beat_at - interval '60 s' WHERE version = '0'"
        await session.execute(text(silent))
    assert await level() == queries.SEALED_LEVEL


async def test_a_process_that_drains_or_is_late_accepts_nothing(root: Root) -> None:
    beat = NodeBeat(root, SERVER)
    for _ in range(MAX_SAMPLES):
        beat.lateness.add_sample(0.5)
    await beat.beat()
    assert (await nodes_of(root))[0].state == "overloaded"
    await root.drain()
    await beat.beat()
    (node,) = await nodes_of(root)
    assert (node.state, node.lateness_ms) == ("draining", 500)


async def test_one_slow_moment_is_no_overload() -> None:
    lateness = LoopLateness()
    lateness.add_sample(9.0)
    assert lateness.lateness_s == 0.0
    for _ in range(MAX_SAMPLES):
        lateness.add_sample(0.001)
    lateness.add_sample(9.0)
    assert lateness.lateness_s == 0.001


async def test_a_silent_process_is_lost_and_forgotten_after_an_hour(root: Root) -> None:
    await NodeBeat(root, SERVER).beat()
    await age(root, 10)
    assert (await nodes_of(root))[0].state == "lost"
    await tasks.forget_lost_nodes(root.db, {})
    assert len(await nodes_of(root)) == 1
    await age(root, 3600)
    await tasks.forget_lost_nodes(root.db, {})
    assert await nodes_of(root) == []


async def test_a_process_that_stops_takes_its_row_along(root: Root) -> None:
    running = asyncio.create_task(NodeBeat(root, SERVER, interval_s=0.01).run())
    async with asyncio.timeout(60):
        while not await nodes_of(root):
            await asyncio.sleep(0.01)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert await nodes_of(root) == []


async def test_without_the_database_it_beats_on_and_says_so_once(settings: Settings) -> None:
    away = build_root(settings, Database("postgresql+asyncpg://nobody@127.0.0.1:1/none"))
    with capture_logs() as logs:
        running = asyncio.create_task(NodeBeat(away, SERVER, interval_s=0.02).run())
        async with asyncio.timeout(60):
            while not logs:
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        assert not running.done()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    await stop_domains(away)
    await away.db.dispose()
    assert [entry["event"] for entry in logs] == ["node_beat_failed"]
