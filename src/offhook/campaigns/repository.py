"""The queries on campaigns and contacts that people ask for; every one takes the organisation."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import func, insert, literal, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns.tables import Attempt, Campaign, Contact


async def by_id(session: AsyncSession, organization_id: int, campaign_id: int) -> Campaign | None:
    """The campaign as the database has it now."""
    found = await session.execute(
        select(Campaign)
        .where(Campaign.id == campaign_id, Campaign.organization_id == organization_id)
        .execution_options(populate_existing=True)
    )
    return found.scalar_one_or_none()


async def move(
    session: AsyncSession,
    organization_id: int,
    campaign_id: int,
    sources: Collection[str],
    values: Mapping[str, Any],
) -> Campaign | None:
    """Change a campaign by compare-and-swap on its status; None when it is in none of ``sources``."""
    moved = await session.execute(
        update(Campaign)
        .where(
            Campaign.id == campaign_id,
            Campaign.organization_id == organization_id,
            Campaign.status.in_(sorted(sources)),
        )
        .values(**values)
        .returning(Campaign)
        .execution_options(populate_existing=True)
    )
    return moved.scalar_one_or_none()


async def counts(session: AsyncSession, organization_id: int, campaign_ids: Collection[int]) -> Sequence[Any]:
    """``(campaign_id, state, outcome, was_dialled, number)``: one index-only count; the caller owns the campaigns."""
    was_dialled = (Contact.dials > 0).label("was_dialled")
    found = await session.execute(
        select(Contact.campaign_id, Contact.state, Contact.outcome, was_dialled, func.count().label("number"))
        .where(Contact.campaign_id.in_(sorted(campaign_ids)))
        .where(
            Contact.campaign_id.in_(
                select(Campaign.id).where(Campaign.organization_id == organization_id, Campaign.id.in_(campaign_ids))
            )
        )
        .group_by(Contact.campaign_id, Contact.state, Contact.outcome, was_dialled)
    )
    return found.all()


async def contact(session: AsyncSession, organization_id: int, campaign_id: int, contact_id: int) -> Contact | None:
    found = await session.execute(
        select(Contact)
        .where(Contact.id == contact_id, Contact.campaign_id == campaign_id, Contact.organization_id == organization_id)
        .execution_options(populate_existing=True)
    )
    return found.scalar_one_or_none()


async def dials_on_their_way(session: AsyncSession, organization_id: int, campaign_id: int) -> int:
    """Dials of the campaign that are committed and whose answer from the carrier is not."""
    found = await session.execute(
        select(func.count())
        .select_from(Attempt)
        .where(
            Attempt.organization_id == organization_id,
            Attempt.campaign_id == campaign_id,
            Attempt.state == "placing",
        )
    )
    return found.scalar_one()


async def open_attempts(session: AsyncSession, organization_id: int, campaign_id: int) -> int:
    found = await session.execute(
        select(func.count())
        .select_from(Attempt)
        .where(Attempt.organization_id == organization_id, Attempt.campaign_id == campaign_id, Attempt.state != "final")
    )
    return found.scalar_one()


async def copy_contacts(
    session: AsyncSession, organization_id: int, source_id: int, target_id: int, outcomes: Collection[str]
) -> int:
    """Copy the contacts of ``source_id`` that ended in one of ``outcomes``, in their order; how many."""
    wanted = (
        select(
            literal(target_id),
            Contact.organization_id,
            func.row_number().over(order_by=(Contact.row_number, Contact.id)),
            Contact.phone_number,
            Contact.variables,
        )
        .where(
            Contact.campaign_id == source_id,
            Contact.organization_id == organization_id,
            Contact.state == "done",
            Contact.outcome.in_(sorted(outcomes)),
        )
    )  # fmt: skip
    names = ["campaign_id", "organization_id", "row_number", "phone_number", "variables"]
    done: Any = await session.execute(insert(Contact).from_select(names, wanted))
    return int(done.rowcount)


async def campaign_of_command(session: AsyncSession, campaign_id: int) -> Campaign | None:
    """Without an organisation on purpose: whoever runs commands on this machine looks after all of them."""
    return await session.get(Campaign, campaign_id)


async def attempts_after(
    session: AsyncSession, organization_id: int, campaign_id: int, after: int, limit: int
) -> Sequence[Any]:
    """The next attempts by id, each with the number that it dialled."""
    found = await session.execute(
        select(
            Attempt.id, Attempt.contact_id, Attempt.state, Attempt.outcome, Attempt.reason, Attempt.run_id,
            Attempt.reserved_at, Attempt.ended_at, Contact.phone_number,
        )
        .join(Contact, Contact.id == Attempt.contact_id)
        .where(
            Attempt.organization_id == organization_id, Attempt.campaign_id == campaign_id, Attempt.id > after
        )
        .order_by(Attempt.id)
        .limit(limit)
    )  # fmt: skip
    return found.all()


async def cancel_pending(session: AsyncSession, organization_id: int, campaign_id: int, now: datetime) -> None:
    """What a failed campaign never called ends as canceled."""
    await session.execute(
        text(
            "UPDATE campaign_contacts SET state = 'done', outcome = 'canceled', reason = 'campaign_failed', done_at = :now"
            " WHERE campaign_id = :campaign_id AND organization_id = :organization_id AND state = 'pending'"
        ),
        {"campaign_id": campaign_id, "organization_id": organization_id, "now": now},
    )
