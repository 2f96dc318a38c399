"""Transactions go through PgBouncer, which gives each of them another of its few connections; LISTEN does not."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from httpx2 import AsyncClient
from sqlalchemy import text

from offhook.jobs.worker import run_until_empty
from offhook.kit.database.database import Database
from offhook.kit.database.direct_reads import DirectReadPool
from offhook.kit.database.postgres_listener import PostgresListener
from offhook.root import Root
from tests.databases import DatabasePool
from tests.fixtures_orgs import OrgFixture
from tests.kit.pgbouncer import PROGRAM, SERVER_CONNECTIONS, pgbouncer, pooled_url
from tests.workflows.definitions import simple

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path(PROGRAM).exists(), reason="PgBouncer is not installed"),
]
WRITERS = 40


@pytest.fixture(scope="module")
def sockets(pg_url: str) -> Iterator[str]:
    with pgbouncer(pg_url) as folder:
        yield folder


@pytest.fixture
async def database(database_url: str, sockets: str) -> AsyncIterator[Database]:
    pooled = Database(database_url, pooler_url=pooled_url(database_url, sockets))
    yield pooled
    await pooled.dispose()


@pytest.fixture
async def server(database_url: str) -> AsyncIterator[Database]:
    """The same database, past PgBouncer."""
    direct = Database(database_url)
    yield direct
    await direct.dispose()


async def test_many_transactions_at_once_share_its_connections(database: Database, server: Database) -> None:
    reads = DirectReadPool(database)
    async with server.transaction() as session:
        await session.execute(text("CREATE TABLE counted (writer int, moment int, server int)"))

    async def write(writer: int) -> None:
        for moment in range(5):
            async with database.transaction() as session:
                # A type that the driver has to look up first, in the same transaction.
                assert await session.scalar(text("SELECT '[1,2]'::vector"))
                await session.execute(
                    text("INSERT INTO counted VALUES (:writer, :moment, pg_backend_pid())"),
                    {"writer": writer, "moment": moment},
                )
                mine = await session.scalar(
                    text("SELECT count(*) FROM counted WHERE writer = :writer"), {"writer": writer}
                )
                assert mine == moment + 1
            row = await reads.fetch_row("SELECT $1::int AS n, count(*) AS c FROM counted WHERE writer = $1", writer)
            assert row is not None
            assert (row["n"], row["c"]) == (writer, moment + 1)

    await asyncio.gather(*(write(writer) for writer in range(WRITERS)))
    await reads.close()
    async with server.transaction() as session:
        written, servers = (await session.execute(text("SELECT count(*), count(DISTINCT server) FROM counted"))).one()
        await session.execute(text("DROP TABLE counted"))
    async with database.transaction() as session:
        left = await session.scalar(text("SELECT count(*) FROM pg_prepared_statements"))
    assert (written, left) == (WRITERS * 5, 0)
    assert servers <= SERVER_CONNECTIONS


async def test_a_statement_by_itself_is_committed(database: Database, server: Database) -> None:
    async with server.transaction() as session:
        await session.execute(text("CREATE TABLE noted (n int)"))
    async with database.single_statement_engine().begin() as connection:
        await connection.execute(text("INSERT INTO noted VALUES (1)"))
    async with server.transaction() as session:
        assert await session.scalar(text("SELECT count(*) FROM noted")) == 1
        await session.execute(text("DROP TABLE noted"))


async def test_another_database_behind_it_is_noticed(
    database: Database, database_pool: DatabasePool, sockets: str
) -> None:
    assert not await database.is_pooler_elsewhere()
    with database_pool.lent() as other:
        misled = Database(database.url, pooler_url=pooled_url(other, sockets))
        assert await misled.is_pooler_elsewhere()
        await misled.dispose()


async def test_notifications_come_past_it(database: Database) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()
    listener = PostgresListener(database, "some_channel", heard.put_nowait, lambda: None, name="test")
    listener.start()
    await listener.wait_until_ready(60)
    async with database.transaction() as session:
        await session.execute(text("SELECT pg_notify('some_channel', 'hello')"))
    async with asyncio.timeout(60):
        assert await heard.get() == "hello"
    await listener.close()


async def test_agents_documents_and_jobs(root: Root, client: AsyncClient, org: OrgFixture) -> None:
    headers = org.owner_headers
    made = await asyncio.gather(
        *(
            client.post(
                "/workflow/create/definition", json={"name": f"Agent {n}", "definition": simple()}, headers=headers
            )
            for n in range(12)
        )
    )
    assert {answer.status_code for answer in made} == {200}
    published = await client.post(f"/workflow/{made[0].json()['id']}/publish", json={}, headers=org.key_headers)
    assert published.status_code == 200, published.text
    file = {"file": ("hours.txt", b"The museum is open from ten to six.")}
    document = (await client.post("/knowledge-base/", files=file, headers=headers)).json()
    await run_until_empty(root.db, root.jobs)
    found = await client.post("/knowledge-base/search", json={"query": "opening hours"}, headers=headers)
    assert [passage["document_id"] for passage in found.json()] == [document["id"]]
