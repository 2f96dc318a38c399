"""Documents get the columns and indexes of web pages beside requests, also after an attempt that was interrupted."""

import asyncio
from pathlib import Path

import pytest

from offhook.kit.database import migrations
from offhook.kit.database.database import Database
from tests.kit.older_versions import before, connect, upgrade

LOOK = """
SELECT relname FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
WHERE relname LIKE 'ix_knowledge_documents_%' AND indisvalid ORDER BY relname
"""


@pytest.fixture
async def older(empty_database: Database, tmp_path: Path) -> Database:
    """A database of the version before."""
    await migrations.upgrade_database(empty_database, lambda _: None, before(tmp_path / "older", "0040"))
    return empty_database


async def test_an_attempt_that_was_interrupted_is_repeated(older: Database) -> None:
    connection = await connect(older)
    await connection.execute("ALTER TABLE knowledge_documents ADD COLUMN address varchar(4096)")
    await connection.execute("ALTER TABLE knowledge_documents ADD COLUMN reading_since timestamptz")
    await connection.execute("CREATE INDEX ix_knowledge_documents_reading_since ON knowledge_documents (reading_since)")
    await upgrade(older)
    found = [row["relname"] for row in await connection.fetch(LOOK)]
    assert {"ix_knowledge_documents_next_content_id", "ix_knowledge_documents_reading_since"} <= set(found)
    await connection.close()


async def test_documents_are_added_while_the_indexes_wait(older: Database) -> None:
    """They wait for the transactions that began before them, which may write on."""
    writer, other = await connect(older), await connect(older)
    await writer.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    await writer.fetchval("SELECT count(*) FROM organizations")
    upgrading = asyncio.create_task(upgrade(older))
    added = "SELECT count(*) FROM information_schema.columns WHERE column_name = 'read_error'"
    async with asyncio.timeout(30):
        while not await other.fetchval(added):
            await asyncio.sleep(0.05)
        await other.execute("SET lock_timeout = '1s'")
        await other.execute("UPDATE knowledge_documents SET name = name")
        await writer.execute("COMMIT")
        await upgrading
    await writer.close()
    await other.close()
