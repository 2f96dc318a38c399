"""What tests of campaigns start from: a published agent, a sandbox that answers at once, and the job loop in this process."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from httpx import AsyncClient

from offhook.campaigns import Campaigns, service
from offhook.campaigns.service import NewContact
from offhook.campaigns.tables import Campaign
from offhook.root import Root
from offhook.telephony.tables import TelephonyConfiguration
from tests.campaigns.desk import Desk, numbers
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import MakeWorkflow, make_workflow
from tests.workflows.conftest import editor

__all__ = ["editor", "make_workflow", "numbers"]

MakeCampaign = Callable[..., Awaitable[Campaign]]


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
def campaigns(root: Root) -> Campaigns:
    return root.get(Campaigns)


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
            made = service.new_campaign(**wanted)
            session.add(made)
            await session.flush()
            rows = (NewContact(row, number, {"name": f"Person {row}"}) for row, number in enumerate(listed, 1))
            await service.add_contacts(session, made, rows, root.clock.now())
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
