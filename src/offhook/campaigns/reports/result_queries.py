"""Queries for the results of a campaign's contacts: a contact has the result of its latest call that had one."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import BigInteger, Row, Select, cast, func, select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns.tables import Attempt, Contact
from offhook.runs.lists.result_queries import campaign_results


def contact_results(organization_id: int, campaign_id: int) -> Select[Any]:
    """Selects (contact_id, result, is_success) of contacts with a result."""
    calls = campaign_results(organization_id, campaign_id).subquery("calls")
    return (
        select(Attempt.contact_id, calls.c.result, calls.c.is_success)
        .ext(distinct_on(Attempt.contact_id))
        .join(calls, calls.c.id == Attempt.run_id)
        .where(Attempt.organization_id == organization_id, Attempt.campaign_id == campaign_id)
        .order_by(Attempt.contact_id, Attempt.number.desc())
    )


def ids_with_result(organization_id: int, campaign_id: int, results: Collection[str]) -> Select[Any]:
    """Selects the ids of the contacts that have one of these results."""
    latest = contact_results(organization_id, campaign_id).subquery("latest")
    return select(latest.c.contact_id).where(latest.c.result.in_(sorted(results)))


async def count_results(session: AsyncSession, organization_id: int, campaign_id: int) -> dict[str, int]:
    """Returns the number of contacts by result."""
    latest = contact_results(organization_id, campaign_id).subquery("latest")
    rows = await session.execute(select(latest.c.result, func.count().label("number")).group_by(latest.c.result))
    return {row.result: row.number for row in rows}


async def count_results_by_step(
    session: AsyncSession, organization_id: int, campaign_id: int, step_s: int
) -> Sequence[Row[Any]]:
    """Returns (step, result, number) of contacts that are done; steps count from the epoch in units of ``step_s``."""
    latest = contact_results(organization_id, campaign_id).subquery("latest")
    step = cast(func.floor(func.extract("epoch", Contact.done_at) / step_s), BigInteger).label("step")
    rows = await session.execute(
        select(step, latest.c.result, func.count().label("number"))
        .join(latest, latest.c.contact_id == Contact.id)
        .where(Contact.organization_id == organization_id, Contact.campaign_id == campaign_id, Contact.state == "done")
        .group_by(step, latest.c.result)
    )
    return rows.all()


async def latest_runs(session: AsyncSession, organization_id: int, contact_ids: Collection[int]) -> dict[int, int]:
    """Returns the run of each contact's latest call; contacts that were not called are left out."""
    rows = await session.execute(
        select(Attempt.contact_id, Attempt.run_id)
        .ext(distinct_on(Attempt.contact_id))
        .where(
            Attempt.organization_id == organization_id,
            Attempt.contact_id.in_(sorted(contact_ids)),
            Attempt.run_id.is_not(None),
        )
        .order_by(Attempt.contact_id, Attempt.number.desc())
    )
    return {row.contact_id: row.run_id for row in rows}
