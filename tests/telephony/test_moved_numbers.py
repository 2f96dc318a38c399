"""Plivo sells numbers to the main account only, which moves them to the organization's sub-account."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from httpx2 import AsyncClient

from offhook.orgs import service as orgs
from offhook.root import Root
from offhook.settings import Settings
from offhook_lab.carriers.core.chaos import RestFault
from tests.fixtures_orgs import OrgFixture
from tests.orgs.accounts import make_account, sign_in
from tests.telephony.sub_account_desk import Carrier, Desk
from tests.telephony.sub_account_wires import WIRES

MOVES = "POST */Number/*"


@pytest.fixture
async def carrier() -> AsyncIterator[Carrier]:
    async with Carrier(WIRES["plivo"]).running() as running:
        yield running


@pytest.fixture
def settings(tmp_path: Path, carrier: Carrier) -> Settings:
    return carrier.settings(tmp_path / "data")


@pytest.fixture
async def desk(root: Root, app: FastAPI, client: AsyncClient, carrier: Carrier) -> Desk:
    carrier.apps.append(app)
    await make_account(root, "boss@hq.example", organization_name="HQ")
    async with root.db.transaction() as session:
        await orgs.grant_superuser(session, "boss@hq.example")
    return Desk(root, client, carrier.emulator, carrier.wire, await sign_in(client, "boss@hq.example"))


async def test_a_number_is_bought_and_released_by_the_main_account(desk: Desk, org: OrgFixture) -> None:
    await desk.switch()
    bought = await desk.buy(org)
    asked = [one for one in desk.carrier.requests if "Number/" in one.path and one.method in ("POST", "DELETE")]
    main, ours = desk.carrier.account_reference, desk.owner_of(bought)
    assert [(one.path.split("/")[3], desk.carrier.account_asking(one)) for one in asked] == [
        (main, main),
        (main, main),
        (ours, ours),
    ], "bought and moved by the main account, routed by the sub-account"
    await desk.release(org, bought)
    assert desk.carrier.numbers == {}


@pytest.mark.parametrize("fault", ["acts_then_silent", "acts_then_fails", "server_error"])
async def test_one_is_moved_again_when_that_got_no_answer(desk: Desk, org: OrgFixture, fault: str) -> None:
    await desk.switch()
    desk.carrier.chaos.rest.append(RestFault(fault, MOVES))  # type: ignore[arg-type]
    bought = await desk.buy(org)
    assert bought.status_code == 200, bought.text
    assert desk.owner_of(bought) in desk.carrier.sub_accounts


async def test_one_that_is_not_moved_is_returned_and_paid_back(desk: Desk, org: OrgFixture) -> None:
    await desk.switch()
    desk.carrier.chaos.rest.append(RestFault("server_error", MOVES, times=2))
    refused = await desk.buy(org)
    assert (refused.status_code, refused.json()["code"]) == (502, "number_not_bought")
    assert desk.carrier.numbers == {}
    assert await desk.rows("SELECT state FROM number_purchases") == [("released",)]


async def test_one_of_another_organization_is_not_moved(desk: Desk, org: OrgFixture, other_org: OrgFixture) -> None:
    number = (await desk.buy(other_org)).json()["phone_number"]
    await desk.switch()
    desk.carrier.chaos.rest.append(RestFault("acts_then_silent", desk.wire.purchases))
    refused = await desk.buy(org, number=number)
    assert refused.json()["code"] in {"number_not_bought", "no_number_for_sale"}
    assert desk.carrier.account_of_number(number) == desk.carrier.account_reference
    assert number in desk.carrier.numbers
