"""What tests of telephony start from: an agent with a trigger, and a carrier that notes what it is asked."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from httpx2 import AsyncClient

from offhook.orgs import Caller
from offhook.root import Root
from offhook.telephony.ports import CarrierAccount, CarrierFailed, CarrierRegistry, DialRequest
from offhook.telephony.webhooks.endpoints import carrier_routes
from offhook.workflows import publication, service
from offhook.workflows.changes import WorkflowChanges
from offhook.workflows.ports import NoTools
from tests.applications import lend_application
from tests.fakes.carrier import FakeCarrier, replace_sandbox_dialer
from tests.fixtures_orgs import OrgFixture
from tests.telephony.fakecom import Account, make_account
from tests.telephony.platform_desk import Platform, platform_of
from tests.voice.phone import node, simple_agent

# The webhooks of ``fakecom``; one router for all tests, so that they share applications.
FAKE_CARRIER_ROUTES = carrier_routes(CarrierRegistry([FakeCarrier().spec()]))


@dataclass
class NotedCarrier:
    """Implements Dialer: takes every call and places none."""

    fails_with: CarrierFailed | None = None
    dialed: list[tuple[CarrierAccount, DialRequest]] = field(default_factory=list)
    hung_up: list[str] = field(default_factory=list)

    async def place_call(self, account: CarrierAccount, request: DialRequest) -> str:
        self.dialed.append((account, request))
        if self.fails_with is not None:
            raise self.fails_with
        return f"CALL{len(self.dialed)}"

    async def hang_up(self, account: CarrierAccount, call_id: str) -> None:
        self.hung_up.append(call_id)


@pytest.fixture
def carrier(root: Root) -> NotedCarrier:
    """In the place of the sandbox's network."""
    noted = NotedCarrier()
    replace_sandbox_dialer(root, noted)
    return noted


@pytest.fixture
def fakecom(root: Root) -> FakeCarrier:
    """A carrier with every part, whose webhooks have routes as any carrier's have."""
    fake = FakeCarrier()
    root.get(CarrierRegistry).add(fake.spec())
    return fake


@pytest.fixture
def app(root: Root) -> Iterator[FastAPI]:
    with lend_application(root, FAKE_CARRIER_ROUTES) as app:
        yield app


@pytest.fixture
async def account(root: Root, fakecom: FakeCarrier, client: AsyncClient, org: OrgFixture, agent: "Agent") -> Account:
    return await make_account(root, client, fakecom, org, agent.id)


@dataclass(frozen=True)
class Agent:
    id: int
    path: str


MakeAgent = Callable[..., Awaitable[Agent]]


@pytest.fixture
def make_agent(root: Root) -> MakeAgent:
    async def make(
        org: OrgFixture, path: str = "front-desk", *, is_published: bool = True, draft: dict[str, Any] | None = None
    ) -> Agent:
        caller = Caller(org.id, org.user_ids["owner"], None, "owner", is_superuser=False)
        definition = simple_agent()
        definition["nodes"].append(node("trigger", "trigger", trigger_path=path, enabled=True))
        async with root.db.transaction() as session:
            workflow = await service.create_workflow(session, caller, "Front desk", definition)
            if is_published:
                await publication.publish_draft(session, NoTools(), caller, workflow.id)
            if draft is not None:
                await service.update_workflow(session, caller, workflow.id, WorkflowChanges(definition=draft))
        return Agent(workflow.id, path)

    return make


@pytest.fixture
async def agent(make_agent: MakeAgent, org: OrgFixture) -> Agent:
    return await make_agent(org)


@pytest.fixture
async def platform(name: str, database_url: str, tmp_path: Path) -> AsyncIterator[Platform]:
    """For tests of EACH carrier: its ``name``."""
    async with platform_of(name, database_url, tmp_path / "data") as running:
        yield running
