"""What other domains ask of this one."""

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.usage import repository
from offhook.usage.facts import Charge, ModelUse, RunFacts, counters
from offhook.usage.ledger import Standing, add_credit, is_enforced, may_start, require_credit, standing
from offhook.usage.recording import record_run, record_runs

__all__ = [
    "Charge",
    "ModelUse",
    "RunFacts",
    "Standing",
    "add_credit",
    "campaign_spend_cents",
    "counters",
    "is_counted",
    "is_enforced",
    "may_start",
    "record_run",
    "record_runs",
    "require_credit",
    "standing",
]


async def campaign_spend_cents(session: AsyncSession, organization_id: int, campaign_id: int) -> int:
    """What the finished runs of a campaign have cost so far, those of deleted workflows included."""
    return await repository.campaign_spend(session, organization_id, campaign_id)


async def is_counted(session: AsyncSession, organization_id: int, run_id: int) -> bool:
    """Whether this run was told of, and so stands in the sums."""
    return bool(await repository.run_usages(session, organization_id, [run_id]))
