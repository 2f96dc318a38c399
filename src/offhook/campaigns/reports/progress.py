"""Progress, counted from the contacts on every read, so that no counter can drift."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns import repository
from offhook.campaigns.rules.outcomes import ANSWERED, OUTCOMES


@dataclass(frozen=True, slots=True)
class CampaignProgress:
    """Contacts by state: ``total_contacts = pending + in_progress + completed``. ``dialed``: dialed at least once.
    ``failed``: ended without an answer. ``outcomes``: ended contacts by outcome."""

    total_contacts: int = 0
    dialed: int = 0
    answered: int = 0
    completed: int = 0
    failed: int = 0
    pending: int = 0
    in_progress: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)


async def load_progress(session: AsyncSession, organization_id: int, campaign_id: int) -> CampaignProgress:
    """Returns the progress of one campaign; all zero if the organization has no such campaign."""
    return (await load_progress_by_campaign(session, organization_id, [campaign_id]))[campaign_id]


async def load_progress_by_campaign(
    session: AsyncSession, organization_id: int, campaign_ids: Collection[int]
) -> dict[int, CampaignProgress]:
    """Returns the progress of several campaigns (a page of the list) in one query."""
    found: dict[int, list[tuple[str, str | None, bool, int]]] = {campaign_id: [] for campaign_id in campaign_ids}
    if campaign_ids:
        for row in await repository.count_contacts(session, organization_id, campaign_ids):
            found[row.campaign_id].append((row.state, row.outcome, row.was_dialed, row.number))
    return {campaign_id: sum_counts(rows) for campaign_id, rows in found.items()}


def sum_counts(rows: Collection[tuple[str, str | None, bool, int]]) -> CampaignProgress:
    """Sums ``(state, outcome, was_dialed, number)`` of disjoint groups of contacts."""

    def sum_matching(state: str | None = None, outcome: str | None = None) -> int:
        return sum(
            number for s, o, _, number in rows if (state is None or s == state) and (outcome is None or o == outcome)
        )

    done = sum_matching("done")
    answered = sum_matching("done", ANSWERED)
    return CampaignProgress(
        total_contacts=sum_matching(),
        dialed=sum(number for _, _, was_dialed, number in rows if was_dialed),
        answered=answered,
        completed=done,
        failed=done - answered,
        pending=sum_matching("pending"),
        in_progress=sum_matching("calling"),
        outcomes={outcome: number for outcome in OUTCOMES if (number := sum_matching("done", outcome))},
    )
