"""What tests of campaigns start from: a published agent, a sandbox that answers at once, and the job loop in this process."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from httpx2 import AsyncClient

from offhook.campaigns import CampaignEngine, CampaignService, CampaignServices
from offhook.campaigns.engine.store import PostgresCampaignStore
from offhook.campaigns.engine.telephony_carrier import TelephonyCarrier
from offhook.campaigns.intake.repository import NewContact, insert_contacts
from offhook.campaigns.tables import Campaign
from offhook.root import Root
from offhook.telephony import CallReports, OutboundCalls, TelephonyServices
from offhook.telephony.tables import TelephonyConfiguration
from tests.campaigns.desk import Desk, numbers
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import MakeWorkflow, make_workflow
from tests.workflows.conftest import editor

__all__ = ["editor", "make_workflow", "numbers"]

MakeCampaign = Callable[..., Awaitable[Campaign]]


class Later:
    """Both clocks, moved by hand (``ports.Time``): a machine that stands still for seconds keeps no dial from beginning."""

    def __init__(self, begins_at: datetime) -> None:
        self._begins_at = begins_at
        self.passed_s = 0.0

    def now(self) -> datetime:
        return self._begins_at + timedelta(seconds=self.passed_s)

    def monotonic(self) -> float:
        return self.passed_s

    async def sleep(self, seconds: float) -> None:
        self.passed_s += seconds

    async def gather(self, work: Sequence[Coroutine[Any, Any, None]]) -> None:
        await asyncio.gather(*work)


@pytest.fixture
def later(root: Root) -> Later:
    return Later(root.clock.now() + timedelta(minutes=1))


@pytest.fixture
def engine(root: Root, later: Later) -> CampaignEngine:
    outbound = root.get(OutboundCalls)
    carrier = TelephonyCarrier(outbound, root.get(TelephonyServices).lost_calls, root.get(CallReports), root.events)
    return CampaignEngine(
        PostgresCampaignStore(root.db, outbound, root.events, root.clock), carrier, later, dial_timeout_s=120
    )


async def instant_sandbox(root: Root, organization_id: int, **config: Any) -> int:
    """A carrier account whose phones answer and hang up at once; its id."""
    async with root.db.transaction() as session:
        row = TelephonyConfiguration(
            organization_id=organization_id,
            name=f"Sandbox {len(config)}",
            provider="sandbox",
            config={"instant": True, **config},
            is_default_outbound=True,
        )
        session.add(row)
        await session.flush()
        return row.id


@pytest.fixture
def campaigns(root: Root) -> CampaignService:
    return root.get(CampaignServices).campaigns


@pytest.fixture
async def workflow_id(org: OrgFixture, make_workflow: MakeWorkflow) -> int:
    return await make_workflow(org.id)


@pytest.fixture
def make_campaign(root: Root, org: OrgFixture, workflow_id: int) -> MakeCampaign:
    """Make a draft with contacts: ``campaign = await make_campaign(contacts=3, retry_config={...})``."""

    async def make(contacts: int | list[str] = 3, **values: Any) -> Campaign:
        listed = numbers(contacts) if isinstance(contacts, int) else contacts
        wanted = {
            "name": "Spring",
            "max_concurrency": 10,
            "organization_id": org.id,
            "workflow_id": workflow_id,
        } | values
        async with root.db.transaction() as session:
            made = Campaign(**wanted)
            session.add(made)
            await session.flush()
            rows = (NewContact(row, number, {"name": f"Person {row}"}) for row, number in enumerate(listed, 1))
            await insert_contacts(session, made.organization_id, made.id, rows, root.clock.now())
            await session.refresh(made)
            return made

    return make


@pytest.fixture
def desk(client: AsyncClient, org: OrgFixture, workflow_id: int) -> Desk:
    """Runs campaigns for ``org`` over HTTP."""
    return Desk(client, org.key_headers, workflow_id)


@pytest.fixture
async def other_desk(client: AsyncClient, other_org: OrgFixture, make_workflow: MakeWorkflow) -> Desk:
    return Desk(client, other_org.key_headers, await make_workflow(other_org.id))
