"""More organizations than are looked at share the platform's account at a carrier: each gets its own calls."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from httpx2 import AsyncClient

from offhook.orgs.tables import Organization
from offhook.root import Root
from offhook.settings import Settings
from offhook.telephony.tables import TelephonyConfiguration
from offhook_lab.carriers.core.phones import PhonePlan, hangs_up_after
from tests.fixtures_orgs import OrgFixture
from tests.telephony.conftest import Agent
from tests.telephony.sub_account_desk import Carrier, Desk
from tests.telephony.sub_account_wires import WIRES

CROWD = 120
THEIRS = "+12125550199"


@pytest.fixture(params=sorted(WIRES))
async def carrier(request: pytest.FixtureRequest) -> AsyncIterator[Carrier]:
    async with Carrier(WIRES[request.param]).running() as running:
        yield running


@pytest.fixture
def settings(tmp_path: Path, carrier: Carrier) -> Settings:
    return carrier.settings(tmp_path / "data")


@pytest.fixture
async def desk(root: Root, app: FastAPI, client: AsyncClient, carrier: Carrier) -> Desk:
    carrier.apps.append(app)
    desk = Desk(root, client, carrier.emulator, carrier.wire, {})
    async with root.db.transaction() as session:
        others = [Organization(name=f"Other {number}") for number in range(CROWD)]
        session.add_all(others)
        await session.flush()
        session.add_all(
            TelephonyConfiguration(
                organization_id=other.id, name="Platform numbers", provider=carrier.emulator.name, is_managed=True,
                account_reference=desk.service.parent_reference, verified_at=root.clock.now(),
            )
            for other in others
        )  # fmt: skip
    return desk


async def test_the_last_one_is_called(desk: Desk, org: OrgFixture, agent: Agent) -> None:
    bought = await desk.buy(org, agent.id)
    call = desk.carrier.call_in(THEIRS, bought.json()["phone_number"], PhonePlan(script=hangs_up_after(0.2).script))
    await desk.carrier.wait_settled(60)
    assert await desk.rows("SELECT organization_id, call_id FROM runs") == [(org.id, call.id)]
    assert await desk.rows("SELECT reason FROM refused_calls") == []
