"""How many runs each workflow has, without counting them.

A trigger on ``runs`` notes every change of a number as a row of its own, so that runs that begin at once wait for no
common row; a job folds these rows into one a workflow. A number is the sum of both, and never off, not even meanwhile.
"""

from collections.abc import Collection
from typing import Any, Final

from sqlalchemy import BigInteger, ColumnElement, Subquery, cast, func, select, text, union_all
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.types import NullType

from offhook.kit.database.database import Database
from offhook.runs.tables import RunCount, RunCountChange

FOLD_INTERVAL_S: Final = 30.0
_FOLD_BATCH: Final = 50_000
# Above this, all of the organization's are read.
_MAX_FILTERED_WORKFLOWS: Final = 100
# One statement, so that whoever reads sees each run in one of the two tables and in one only.
_FOLD: Final = text("""
WITH gone AS (
  DELETE FROM run_count_changes WHERE id IN (SELECT id FROM run_count_changes ORDER BY id LIMIT :at_once)
  RETURNING organization_id, workflow_id, change
), folded AS (
  INSERT INTO run_counts (organization_id, workflow_id, runs)
  SELECT organization_id, workflow_id, sum(change) FROM gone GROUP BY 1, 2 ORDER BY 2
  ON CONFLICT (workflow_id) DO UPDATE SET runs = run_counts.runs + excluded.runs
)
SELECT count(*) FROM gone
""")


async def count_runs_by_workflow(
    session: AsyncSession, organization_id: int | None, workflow_ids: Collection[int]
) -> dict[int, int]:
    """Runs by workflow; those without any are left out. None: of any organization, for superusers."""
    each = _summed_counts(
        "workflow_id", organization_id, workflow_ids if len(workflow_ids) <= _MAX_FILTERED_WORKFLOWS else None
    )
    # Two arrays, because thousands of rows take longer to be read than to be summed.
    arrays: list[ColumnElement[Any]] = [func.array_agg(each.c[name], type_=NullType()) for name in ("id", "runs")]
    ids, runs = (await session.execute(select(*arrays))).one()
    wanted = set(workflow_ids)
    return {id_: number for id_, number in zip(ids or (), runs or (), strict=True) if id_ in wanted and number}


async def count_runs_by_organization(session: AsyncSession) -> dict[int, int]:
    """Runs by organization, for superusers."""
    each = _summed_counts("organization_id", None, None)
    return {row.id: row.runs for row in await session.execute(select(each.c.id, each.c.runs))}


async def count_runs(session: AsyncSession, organization_id: int | None = None, workflow_id: int | None = None) -> int:
    """The runs of a workflow, of an organization, or of all for superusers."""
    each = _summed_counts("organization_id", organization_id, None if workflow_id is None else [workflow_id])
    return int((await session.execute(select(func.coalesce(func.sum(each.c.runs), 0)))).scalar_one())


async def fold_count_changes(db: Database) -> None:
    """Fold what was noted; runs of deleted workflows leave nothing behind."""
    folded = _FOLD_BATCH
    while folded == _FOLD_BATCH:
        async with db.transaction() as session:
            # One at a time: two would wait for each other's rows.
            await session.execute(text("SELECT pg_advisory_xact_lock(hashtextextended('offhook.run_counts', 0))"))
            folded = (await session.execute(_FOLD, {"at_once": _FOLD_BATCH})).scalar_one()
            await session.execute(text("DELETE FROM run_counts WHERE runs = 0"))


def _summed_counts(by: str, organization_id: int | None, workflow_ids: Collection[int] | None) -> Subquery:
    """``id`` and ``runs`` of each workflow or organization, of all where nothing else is said."""

    def scope_conditions(table: Any) -> list[ColumnElement[bool]]:
        mine = [] if organization_id is None else [table.organization_id == organization_id]
        return mine if workflow_ids is None else [*mine, table.workflow_id.in_(workflow_ids)]

    both = union_all(
        select(getattr(RunCount, by).label("id"), RunCount.runs.label("runs")).where(*scope_conditions(RunCount)),
        select(getattr(RunCountChange, by), RunCountChange.change).where(*scope_conditions(RunCountChange)),
    ).subquery()
    return select(both.c.id, cast(func.sum(both.c.runs), BigInteger).label("runs")).group_by(both.c.id).subquery()
