"""The number of runs per workflow, without counting rows.

A trigger on ``runs`` writes each change as a row of its own, so that runs that start at the same time do not
contend for a shared row; a job folds these rows into one row per workflow. The sum of both is always exact.
"""

from collections.abc import Collection
from typing import Any, Final

from sqlalchemy import BigInteger, ColumnElement, Subquery, cast, func, select, text, union_all
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.types import NullType

from offhook.kit.database.database import Database
from offhook.kit.json_values import JsonObject
from offhook.runs.lists.tables import RunCount, RunCountChange

FOLD_INTERVAL_S: Final = 30.0
_FOLD_BATCH: Final = 50_000
# Above this number, all workflows of the organization are read.
_MAX_FILTERED_WORKFLOWS: Final = 100
# One statement, so that every reader sees each run in exactly one of the two tables.
_FOLD: Final = text("""
WITH gone AS (
  DELETE FROM run_count_changes WHERE id IN (SELECT id FROM run_count_changes ORDER BY id LIMIT :most)
  RETURNING organization_id, workflow_id, change
), folded AS (
  INSERT INTO run_counts (organization_id, workflow_id, runs)
  SELECT organization_id, workflow_id, sum(change) FROM gone GROUP BY 1, 2 ORDER BY 2
  ON CONFLICT (workflow_id) DO UPDATE SET runs = run_counts.runs + excluded.runs
)
SELECT count(*) FROM gone
""")


async def count_runs_by_workflow(
    session: AsyncSession, organization_id: int, workflow_ids: Collection[int]
) -> dict[int, int]:
    """Returns the number of runs by workflow; workflows without any are left out."""
    return await _sum_by_workflow(session, organization_id, workflow_ids)


async def count_runs_of_workflows(session: AsyncSession, workflow_ids: Collection[int]) -> dict[int, int]:
    """Returns the number of runs of workflows of any organization, for superusers."""
    return await _sum_by_workflow(session, None, workflow_ids)


async def count_runs_by_organization(session: AsyncSession) -> dict[int, int]:
    """Returns the number of runs by organization, for superusers."""
    each = _summed_counts("organization_id", None, None)
    return {row.id: row.runs for row in await session.execute(select(each.c.id, each.c.runs))}


async def count_runs(session: AsyncSession, organization_id: int, workflow_id: int | None = None) -> int:
    """Returns the number of runs of an organization, or of one of its workflows."""
    return await _sum_all(session, organization_id, None if workflow_id is None else [workflow_id])


async def count_all_runs(session: AsyncSession) -> int:
    """Returns the number of runs of all organizations, for superusers."""
    return await _sum_all(session, None, None)


async def fold_count_changes(db: Database, _: JsonObject | None = None) -> None:
    """Handles the job ``run.fold_counts``: folds recorded changes into the counts; workflows without runs keep no row."""
    folded = _FOLD_BATCH
    while folded == _FOLD_BATCH:
        async with db.transaction() as session:
            # One transaction at a time, so that two do not wait for each other's rows.
            await session.execute(text("SELECT pg_advisory_xact_lock(hashtextextended('offhook.run_counts', 0))"))
            folded = (await session.execute(_FOLD, {"most": _FOLD_BATCH})).scalar_one()
            await session.execute(text("DELETE FROM run_counts WHERE runs = 0"))


async def _sum_by_workflow(
    session: AsyncSession, organization_id: int | None, workflow_ids: Collection[int]
) -> dict[int, int]:
    is_filtered = len(workflow_ids) <= _MAX_FILTERED_WORKFLOWS
    each = _summed_counts("workflow_id", organization_id, workflow_ids if is_filtered else None)
    # Two arrays, because fetching thousands of rows takes longer than summing them.
    arrays: list[ColumnElement[Any]] = [func.array_agg(each.c[name], type_=NullType()) for name in ("id", "runs")]
    ids, runs = (await session.execute(select(*arrays))).one()
    requested = set(workflow_ids)
    return {id_: number for id_, number in zip(ids or (), runs or (), strict=True) if id_ in requested and number}


async def _sum_all(session: AsyncSession, organization_id: int | None, workflow_ids: Collection[int] | None) -> int:
    each = _summed_counts("organization_id", organization_id, workflow_ids)
    return int((await session.execute(select(func.coalesce(func.sum(each.c.runs), 0)))).scalar_one())


def _summed_counts(by: str, organization_id: int | None, workflow_ids: Collection[int] | None) -> Subquery:
    """Selects ``id`` and ``runs`` per workflow or organization; without a filter, of all."""

    def scope_conditions(table: Any) -> list[ColumnElement[bool]]:
        conditions = [] if organization_id is None else [table.organization_id == organization_id]
        return conditions if workflow_ids is None else [*conditions, table.workflow_id.in_(workflow_ids)]

    both = union_all(
        select(getattr(RunCount, by).label("id"), RunCount.runs.label("runs")).where(*scope_conditions(RunCount)),
        select(getattr(RunCountChange, by), RunCountChange.change).where(*scope_conditions(RunCountChange)),
    ).subquery()
    return select(both.c.id, cast(func.sum(both.c.runs), BigInteger).label("runs")).group_by(both.c.id).subquery()
