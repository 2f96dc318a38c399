"""Runs whose events and values lie in partitions of their own, and what there is of them."""

from datetime import timedelta

from sqlalchemy import select, text, update

from offhook.root import Root
from offhook.runs.partitions import superuser_queries as queries
from offhook.runs.partitions.superuser_queries import EVENTS, PartitionedTable
from offhook.runs.records.event_queries import NewEvent, append_events, read_events
from offhook.runs.tables import Run, RunValue
from offhook.voice.events import CALLER_SAID
from tests.runs.conftest import MakeRun

DEFAULT = "run_events_default"


async def run_number(root: Root, make_run: MakeRun, number: int) -> Run:
    """A run with this number; those after it follow."""
    async with root.db.transaction() as session:
        await session.execute(text("SELECT setval('runs_id_seq', :number, false)"), {"number": number})
    run = await make_run()
    assert run.id == number
    return run


async def gather(root: Root, run: Run, **values: object) -> None:
    """Stores that the call found out these values."""
    async with root.db.transaction() as session:
        await session.execute(update(Run).where(Run.id == run.id).values(gathered_context=values))


async def find_values(root: Root, run: Run) -> dict[str, str]:
    """The run's values, by their filter name."""
    async with root.db.transaction() as session:
        rows = await session.execute(select(RunValue.name, RunValue.value).where(RunValue.run_id == run.id))
        return {row.name: row.value for row in rows}


async def say(root: Root, run: Run, *texts: str, is_retry: bool = False) -> list[NewEvent]:
    """Stores that the caller said it."""
    events = [
        NewEvent(
            run.id, CALLER_SAID, position, f'{{"text": "{words}"}}', run.created_at + timedelta(microseconds=position)
        )
        for position, words in enumerate(texts)
    ]
    async with root.db.transaction() as session:
        await append_events(session, events, is_retry=is_retry)
    return events


async def heard(root: Root, run: Run) -> list[str]:
    async with root.db.transaction() as session:
        events = await read_events(session, run.organization_id, run.id)
    return [str(event["data"]["text"]) for event in events if event["type"] == CALLER_SAID]


async def table_of(root: Root, run: Run, table: PartitionedTable = EVENTS) -> set[str]:
    """The tables that the run's events, or its rows of another table, lie in."""
    async with root.db.transaction() as session:
        found = await session.scalars(
            text(f"SELECT DISTINCT tableoid::regclass::text FROM {table.name} WHERE run_id = :id"), {"id": run.id}
        )
        return set(found)


async def list_names(root: Root, table: PartitionedTable = EVENTS) -> list[str]:
    async with root.db.transaction() as session:
        return [partition.name for partition in await queries.list_partitions(session, table)]
