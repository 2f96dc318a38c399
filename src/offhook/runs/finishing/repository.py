"""Queries for the end of a run: its result, cost lines, webhook deliveries and reviews."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import case, delete, func, insert, literal, or_, select, true, update
from sqlalchemy.dialects.postgresql import insert as insert_or_skip
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_values import JsonObject
from offhook.runs.records.repository import outcome_or_voicemail
from offhook.runs.states import LIVE_STATES
from offhook.runs.tables import NodeWebhookDelivery, Run, RunCostLine, RunReview


@dataclass(frozen=True, slots=True)
class RunEndValues:
    """The columns that a run's end sets; JSON is storable."""

    status: str
    outcome: str
    end_reason: str
    ended_at: datetime
    duration: Decimal
    gathered_context: JsonObject
    usage: JsonObject
    latency: JsonObject
    tags: list[str]


async def update_run_end(
    session: AsyncSession, organization_id: int, run_id: int, end: RunEndValues, *, worker_id: str | None = None
) -> Run | None:
    """Stores the end of a run and returns it; a run that is already final keeps its status and its known outcome.

    With ``worker_id``, a run that another process carries now is left alone."""
    is_live = Run.status.in_(sorted(LIVE_STATES))
    is_ours = or_(Run.worker_id.is_(None), Run.worker_id == worker_id) if worker_id is not None else true()
    stored = await session.execute(
        update(Run)
        .where(Run.id == run_id, Run.organization_id == organization_id, is_ours)
        .values(
            status=case((is_live, end.status), else_=Run.status),
            outcome=func.coalesce(Run.outcome, outcome_or_voicemail(literal(end.outcome))),
            end_reason=case((is_live, end.end_reason), else_=func.coalesce(Run.end_reason, end.end_reason)),
            ended_at=func.coalesce(Run.ended_at, end.ended_at),
            duration=end.duration,
            gathered_context=Run.gathered_context.concat(end.gathered_context),
            usage=end.usage,
            latency=end.latency,
            # People may have tagged it while it was in progress.
            tags=case((Run.tags.contains(end.tags), Run.tags), else_=Run.tags.concat(end.tags)),
            lease_until=None,
        )
        .returning(Run)
        .execution_options(populate_existing=True)
    )
    return stored.scalar_one_or_none()


async def lock_run(session: AsyncSession, organization_id: int, run_id: int) -> Run | None:
    """Returns the run, locked until the transaction ends."""
    found = await session.execute(
        select(Run)
        .where(Run.id == run_id, Run.organization_id == organization_id)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    )
    return found.scalar_one_or_none()


async def replace_cost_lines(
    session: AsyncSession, organization_id: int, run_ids: Sequence[int], rows: Sequence[Mapping[str, Any]]
) -> None:
    """Replaces all cost lines of these runs."""
    await session.execute(
        delete(RunCostLine).where(RunCostLine.run_id.in_(run_ids), RunCostLine.organization_id == organization_id)
    )
    if rows:
        await session.execute(insert(RunCostLine), rows)


async def insert_once(
    session: AsyncSession, table: type[NodeWebhookDelivery] | type[RunReview], run: Run, node_id: str
) -> int | None:
    """Inserts a webhook node's delivery or a QA node's review and returns its id; None if it exists already."""
    values = {"organization_id": run.organization_id, "run_id": run.id, "node_id": node_id[:200]}
    added: int | None = await session.scalar(
        insert_or_skip(table).values(values).on_conflict_do_nothing().returning(table.id)
    )
    return added


async def lock_delivery(session: AsyncSession, delivery_id: int) -> NodeWebhookDelivery | None:
    """Returns the delivery of a job, locked; the job knows only its id."""
    return await session.get(NodeWebhookDelivery, delivery_id, with_for_update=True)


async def lock_review(session: AsyncSession, review_id: int) -> RunReview | None:
    """Returns the review of a job, locked; the job knows only its id."""
    return await session.get(RunReview, review_id, with_for_update=True)


async def list_reviews(session: AsyncSession, organization_id: int, run_id: int) -> Sequence[RunReview]:
    """Returns the reviews of a run in the order they were requested."""
    rows = await session.scalars(
        select(RunReview)
        .where(RunReview.run_id == run_id, RunReview.organization_id == organization_id)
        .order_by(RunReview.id)
    )
    return rows.all()
