"""Runs that were over before usage was counted are counted by the migration, as recording would have."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from sqlalchemy import delete, select, text, update

from offhook.kit.database import migrations
from offhook.root import Root
from offhook.runs.finishing import costs
from offhook.runs.tables import Run
from offhook.usage.tables import AgentDay, LedgerEntry, ModelUsageBucket, OutcomeBucket, RunUsage, UsageBucket
from tests.runs.conftest import MakeRun, make_run, make_workflow, workflow_id

__all__ = ["make_run", "make_workflow", "workflow_id"]

USAGE: dict[str, Any] = {
    "llm": [{"provider": "openai", "model": "gpt-4.1", "prompt_tokens": 70, "completion_tokens": 3, "calls": 2}],
    "stt": [{"provider": "nobody", "model": "knows", "seconds": 61.5}],
}


STATEMENTS = ("COUNT_MODELS", "PRICE_MODELS", "COUNT_RUNS", "SUM_RUNS", "SUM_MODELS")
OUTCOMES = ("TELL_OUTCOMES", "SUM_OUTCOMES", "SUM_AGENTS")


def backfill(migration: str, names_of: Sequence[str]) -> list[str]:
    """The statements of the migration that made the tables."""
    (path,) = (migrations.folder() / "versions").glob(f"*_{migration}.py")
    names: dict[str, Any] = {}
    source = path.read_text().partition("def upgrade")[0].partition('down_revision = "')[2].partition("\n")[2]
    exec(source, names)
    return [names[name] for name in names_of]


async def counted(root: Root, *tables: Any) -> list[Any]:
    async with root.db.transaction() as session:
        found: list[Any] = []
        for table in tables or (RunUsage, UsageBucket, ModelUsageBucket):
            rows = (
                (await session.execute(select(table.__table__).order_by(*table.__table__.primary_key.columns)))
                .mappings()
                .all()
            )
            found.append([{key: comparable(value) for key, value in row.items()} for row in rows])
        return found


def comparable(value: Any) -> Any:
    if isinstance(value, list):
        return sorted(
            (
                {key: str(Decimal(str(item[key])).normalize()) if key not in KEYS else item[key] for key in item}
                for item in value
            ),
            key=lambda item: item["kind"],
        )
    return value


KEYS = {"kind", "provider", "model"}


async def test_backfill_equals_recording(root: Root, make_run: MakeRun) -> None:
    run, live = await make_run(), await make_run()
    async with root.db.transaction() as session:
        mine = await session.get_one(Run, run.id)
        mine.usage, mine.status, mine.duration = USAGE, "completed", Decimal("61.5")
        (await session.get_one(Run, live.id)).usage = USAGE
        await session.flush()
        await costs.store(session, mine)
    recorded = await counted(root)
    async with root.db.transaction() as session:
        for table in (RunUsage, UsageBucket, ModelUsageBucket, LedgerEntry):
            await session.execute(delete(table))
        for statement in backfill("usage_and_the_ledger", STATEMENTS):
            await session.execute(text(statement))
    assert await counted(root) == recorded
    assert len(recorded[0]) == 1
    assert len(recorded[2]) == 2


async def test_backfill_of_outcomes_equals_recording(root: Root, make_run: MakeRun) -> None:
    async with root.db.transaction() as session:
        for outcome in ("answered", "answered", "voicemail", None):
            run = await session.get_one(Run, (await make_run()).id)
            run.status, run.outcome, run.duration = "completed", outcome, Decimal(30)
            await session.flush()
            await costs.store(session, run)
    tables = (RunUsage, OutcomeBucket, AgentDay)
    recorded = await counted(root, *tables)
    async with root.db.transaction() as session:
        for table in tables[1:]:
            await session.execute(delete(table))
        await session.execute(update(RunUsage).values(outcome="unknown"))
        for statement in backfill("outcomes_by_day_and_agent", OUTCOMES):
            await session.execute(text(statement))
    assert await counted(root, *tables) == recorded
    assert {row["outcome"]: row["calls"] for row in recorded[1]} == {"answered": 2, "voicemail": 1, "unknown": 1}
