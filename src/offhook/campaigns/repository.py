"""Queries on campaigns and contacts; each takes the organization."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from sqlalchemy import BigInteger, Select, and_, cast, func, insert, literal, or_, select, text, tuple_, update
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns.tables import REMOVED, Attempt, Campaign, Contact

ANALYZE_THRESHOLD: Final = 1000


async def find_campaign(session: AsyncSession, organization_id: int, campaign_id: int) -> Campaign | None:
    """Returns the campaign's current row."""
    found = await session.execute(
        select(Campaign)
        .where(Campaign.id == campaign_id, Campaign.organization_id == organization_id)
        .execution_options(populate_existing=True)
    )
    return found.scalar_one_or_none()


async def find_dial_of_run(
    session: AsyncSession, organization_id: int, run_id: int
) -> tuple[Campaign, Contact, Attempt] | None:
    """Returns the campaign, the contact and the dial behind a run, while they exist."""
    found = await session.execute(
        select(Campaign, Contact, Attempt)
        .join(Contact, Contact.campaign_id == Campaign.id)
        .join(Attempt, Attempt.contact_id == Contact.id)
        .where(Attempt.run_id == run_id, Attempt.organization_id == organization_id)
    )
    row = found.one_or_none()
    return None if row is None else (row[0], row[1], row[2])


async def list_campaigns(
    session: AsyncSession, organization_id: int, *, limit: int | None, offset: int
) -> tuple[Sequence[Campaign], int]:
    """Returns a page, newest first, and the total number."""
    is_owned = Campaign.organization_id == organization_id
    total = (await session.execute(select(func.count()).select_from(Campaign).where(is_owned))).scalar_one()
    rows = await session.scalars(
        select(Campaign).where(is_owned).order_by(Campaign.id.desc()).limit(limit).offset(offset)
    )
    return rows.all(), total


async def used_file_keys(session: AsyncSession, organization_id: int, keys: Collection[str]) -> set[str]:
    """Returns the ``keys`` that a campaign uses."""
    found = await session.scalars(
        select(Campaign.contacts_file_key).where(
            Campaign.organization_id == organization_id, Campaign.contacts_file_key.in_(sorted(keys))
        )
    )
    return {key for key in found if key is not None}


async def has_running_campaign(session: AsyncSession, organization_id: int, workflow_id: int) -> bool:
    """Returns whether a campaign of this workflow is running."""
    found = await session.scalar(
        select(Campaign.id)
        .where(
            Campaign.organization_id == organization_id,
            Campaign.workflow_id == workflow_id,
            Campaign.status == "running",
        )
        .limit(1)
    )
    return found is not None


async def has_running_with_account(session: AsyncSession, organization_id: int, configuration_id: int) -> bool:
    """Returns whether a running campaign uses this carrier account."""
    found = await session.scalar(
        select(Campaign.id)
        .where(
            Campaign.organization_id == organization_id,
            Campaign.telephony_configuration_id == configuration_id,
            Campaign.status == "running",
        )
        .limit(1)
    )
    return found is not None


async def list_contacts(
    session: AsyncSession,
    organization_id: int,
    campaign_id: int,
    *,
    states: Collection[str],
    outcomes: Collection[str],
    among: Select[Any] | None = None,
    limit: int,
    offset: int,
) -> tuple[Sequence[Contact], int]:
    """Returns a page in the order of the file, filtered by states, outcomes (empty: all) and selected ids, and the total
    number."""
    conditions = [Contact.campaign_id == campaign_id, Contact.organization_id == organization_id]
    if states:
        conditions.append(Contact.state.in_(sorted(states)))
    if outcomes:
        conditions.append(Contact.outcome.in_(sorted(outcomes)))
    if among is not None:
        conditions.append(Contact.id.in_(among))
    total = (await session.execute(select(func.count()).select_from(Contact).where(*conditions))).scalar_one()
    if total <= offset:
        return [], total
    rows = await session.scalars(
        select(Contact).where(*conditions).order_by(Contact.row_number, Contact.id).limit(limit).offset(offset)
    )
    return rows.all(), total


async def count_missing_values(
    session: AsyncSession, organization_id: int, campaign_id: int, names: Sequence[str]
) -> dict[str, int]:
    """Counts unfinished contacts without a value for each of these names."""
    if not names:
        return {}
    empty = [
        func.count().filter(func.coalesce(Contact.variables[name].astext, "") == "").label(f"c{number}")
        for number, name in enumerate(names)
    ]
    found = await session.execute(
        select(*empty).where(
            Contact.campaign_id == campaign_id, Contact.organization_id == organization_id, Contact.state != "done"
        )
    )
    return dict(zip(names, found.one(), strict=True))


async def write_numbers(session: AsyncSession, organization_id: int, campaign_id: int, target: Path) -> None:
    """Writes the numbers of unfinished contacts into a file, one per line, without loading them."""
    connection = await (await session.connection()).get_raw_connection()
    driver: Any = connection.driver_connection
    await driver.copy_from_query(
        "SELECT phone_number FROM campaign_contacts"
        " WHERE campaign_id = $1 AND organization_id = $2 AND state <> 'done' ORDER BY row_number, id",
        campaign_id,
        organization_id,
        output=str(target),
    )


async def sessions_after(
    session: AsyncSession,
    organization_id: int,
    campaign_id: int,
    *,
    after: tuple[int, int],
    started: tuple[datetime | None, datetime | None],
    limit: int,
) -> Sequence[Any]:
    """Returns the next call sessions of a campaign in the order of the file and of the calls, after ``after``: a row
    number and a contact's id. Returns whole contacts: all sessions of ``limit`` of them; contacts without sessions are
    rows whose ``run_id`` is None. ``started`` bounds the time of a session: first included, last excluded.
    """
    page = (
        select(Contact.id, Contact.row_number, Contact.phone_number, Contact.variables, Contact.dials)
        .where(
            Contact.campaign_id == campaign_id,
            Contact.organization_id == organization_id,
            tuple_(Contact.row_number, Contact.id) > after,
        )
        .order_by(Contact.row_number, Contact.id)
        .limit(limit)
        .subquery()
    )
    # A call that was never placed is not a session: its contact is called again as if nothing had happened.
    joined = [
        Attempt.contact_id == page.c.id,
        Attempt.run_id.is_not(None),
        or_(Attempt.outcome.is_distinct_from("canceled"), Attempt.placed_at.is_not(None)),
    ]
    first, last = started
    if first is not None:
        joined.append(Attempt.reserved_at >= first)
    if last is not None:
        joined.append(Attempt.reserved_at < last)
    found = await session.execute(
        select(page, Attempt.run_id, Attempt.outcome, Attempt.reserved_at, Attempt.ended_at)
        .select_from(page.outerjoin(Attempt, and_(*joined)))
        .order_by(page.c.row_number, page.c.id, Attempt.number)
    )
    return found.all()


async def update_if_status(
    session: AsyncSession,
    organization_id: int,
    campaign_id: int,
    sources: Collection[str],
    values: Mapping[str, object],
) -> Campaign | None:
    """Changes a campaign by compare-and-swap on its status; None when it is in none of ``sources``."""
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


async def count_contacts(session: AsyncSession, organization_id: int, campaign_ids: Collection[int]) -> Sequence[Any]:
    """Returns ``(campaign_id, state, outcome, was_dialed, number)`` by one index-only count; the caller owns the
    campaigns.
    """
    was_dialed = (Contact.dials > 0).label("was_dialed")
    found = await session.execute(
        select(Contact.campaign_id, Contact.state, Contact.outcome, was_dialed, func.count().label("number"))
        .where(Contact.campaign_id.in_(sorted(campaign_ids)))
        .where(
            Contact.campaign_id.in_(
                select(Campaign.id).where(Campaign.organization_id == organization_id, Campaign.id.in_(campaign_ids))
            )
        )
        .group_by(Contact.campaign_id, Contact.state, Contact.outcome, was_dialed)
    )
    return found.all()


async def first_and_last_done(
    session: AsyncSession, organization_id: int, campaign_id: int
) -> tuple[datetime | None, datetime | None]:
    """Returns when the first contact was done, and the latest one so far."""
    found = await session.execute(
        select(func.min(Contact.done_at), func.max(Contact.done_at)).where(
            Contact.organization_id == organization_id, Contact.campaign_id == campaign_id, Contact.state == "done"
        )
    )
    first, last = found.one()
    return first, last


async def count_done_by_step(
    session: AsyncSession, organization_id: int, campaign_id: int, step_s: int
) -> Sequence[Any]:
    """Returns ``(step, outcome, number)``; steps count from the epoch in units of ``step_s`` seconds."""
    step = cast(func.floor(func.extract("epoch", Contact.done_at) / step_s), BigInteger).label("step")
    found = await session.execute(
        select(step, Contact.outcome, func.count().label("number"))
        .where(Contact.organization_id == organization_id, Contact.campaign_id == campaign_id, Contact.state == "done")
        .group_by(step, Contact.outcome)
        .order_by(step)
    )
    return found.all()


async def find_contact(
    session: AsyncSession, organization_id: int, campaign_id: int, contact_id: int
) -> Contact | None:
    found = await session.execute(
        select(Contact)
        .where(Contact.id == contact_id, Contact.campaign_id == campaign_id, Contact.organization_id == organization_id)
        .execution_options(populate_existing=True)
    )
    return found.scalar_one_or_none()


async def count_placing_dials(session: AsyncSession, organization_id: int, campaign_id: int) -> int:
    """Counts committed dials of the campaign without a committed answer from the carrier."""
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


async def count_open_attempts(session: AsyncSession, organization_id: int, campaign_id: int) -> int:
    found = await session.execute(
        select(func.count())
        .select_from(Attempt)
        .where(Attempt.organization_id == organization_id, Attempt.campaign_id == campaign_id, Attempt.state != "final")
    )
    return found.scalar_one()


async def analyze_contacts(session: AsyncSession, added: int) -> None:
    """Updates statistics after many inserts; without them each claim sorts the whole list (200,000 rows: 0.6 s)."""
    if added >= ANALYZE_THRESHOLD:
        await session.execute(text("ANALYZE campaign_contacts"))


async def copy_contacts(
    session: AsyncSession, organization_id: int, source_id: int, target_id: int, outcomes: Collection[str]
) -> int:
    """Copies the contacts of ``source_id`` that ended in one of ``outcomes``, in their order; returns how many."""
    rows = (
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
            Contact.phone_number.not_like(f"{REMOVED}%"),
        )
    )  # fmt: skip
    names = ["campaign_id", "organization_id", "row_number", "phone_number", "variables"]
    done: Any = await session.execute(insert(Contact).from_select(names, rows))
    await analyze_contacts(session, int(done.rowcount))
    return int(done.rowcount)


async def find_any_campaign(session: AsyncSession, campaign_id: int) -> Campaign | None:
    """Returns a campaign of any organization, for commands on this machine."""
    return await session.get(Campaign, campaign_id)


async def attempts_after(
    session: AsyncSession, organization_id: int, campaign_id: int, after: int, limit: int
) -> Sequence[Any]:
    """Returns the next attempts by id, each with the number that it dialed."""
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
    """Cancels the pending contacts of a failed campaign."""
    await session.execute(
        text(
            "UPDATE campaign_contacts SET state = 'done', outcome = 'canceled', reason = 'campaign_failed', done_at = :now"
            " WHERE campaign_id = :campaign_id AND organization_id = :organization_id AND state = 'pending'"
        ),
        {"campaign_id": campaign_id, "organization_id": organization_id, "now": now},
    )
