"""Progress is a query over the contacts: nothing is counted along, so nothing can drift."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns import repository
from offhook.campaigns.rules.outcomes import ANSWERED, OUTCOMES


@dataclass(frozen=True, slots=True)
class Progress:
    """``total_contacts = pending + in_progress + completed``. ``dialled``: contacts whose phone was asked for at least
    once. ``failed``: ended without an answer. ``outcomes``: ended contacts by outcome."""

    total_contacts: int = 0
    dialled: int = 0
    answered: int = 0
    completed: int = 0
    failed: int = 0
    pending: int = 0
    in_progress: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)


async def progress(session: AsyncSession, organization_id: int, campaign_id: int) -> Progress:
    """Of one campaign of the organization; all zero for another's."""
    return (await progress_of(session, organization_id, [campaign_id]))[campaign_id]


async def progress_of(
    session: AsyncSession, organization_id: int, campaign_ids: Collection[int]
) -> dict[int, Progress]:
    """Of several campaigns in one query (a page of the list)."""
    found: dict[int, list[tuple[str, str | None, bool, int]]] = {campaign_id: [] for campaign_id in campaign_ids}
    if campaign_ids:
        for row in await repository.counts(session, organization_id, campaign_ids):
            found[row.campaign_id].append((row.state, row.outcome, row.was_dialled, row.number))
    return {campaign_id: summed(rows) for campaign_id, rows in found.items()}


def summed(rows: Collection[tuple[str, str | None, bool, int]]) -> Progress:
    """``(state, outcome, was_dialled, number)`` of disjoint groups of contacts."""

    def count(state: str | None = None, outcome: str | None = None) -> int:
        return sum(
            number for s, o, _, number in rows if (state is None or s == state) and (outcome is None or o == outcome)
        )

    done = count("done")
    answered = count("done", ANSWERED)
    return Progress(
        total_contacts=count(),
        dialled=sum(number for _, _, was_dialled, number in rows if was_dialled),
        answered=answered,
        completed=done,
        failed=done - answered,
        pending=count("pending"),
        in_progress=count("calling"),
        outcomes={outcome: number for outcome in OUTCOMES if (number := count("done", outcome))},
    )
