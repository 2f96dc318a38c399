"""Carrier accounts: checked, sealed, masked; their numbers and agents."""

import asyncio
from typing import Any

from httpx2 import AsyncClient, Response
from sqlalchemy import text

from offhook.root import Root
from offhook.telephony.ports import CarrierFailed
from tests.fakes.carrier import NAME, FakeCarrier
from tests.fixtures_orgs import OrgFixture
from tests.telephony.conftest import Agent
from tests.telephony.fakecom import TOKEN, Account

CONFIG = {"provider": NAME, "account": "Acme-1", "token": "a-very-secret-token"}


class Desk:
    """The owner's hands."""

    def __init__(self, client: AsyncClient, org: OrgFixture) -> None:
        self.client, self.org = client, org

    async def do(self, method: str, path: str, body: Any = None, role: str = "owner") -> Response:
        headers = self.org.headers_for(role)
        return await self.client.request(method, f"/organizations{path}", json=body, headers=headers)

    async def make(self, name: str = "Main", *, query: str = "", **config: Any) -> Response:
        return await self.do("POST", f"/telephony-configs{query}", {"name": name, "config": {**CONFIG, **config}})


async def test_the_form_of_every_carrier(client: AsyncClient, org: OrgFixture, fakecom: FakeCarrier) -> None:
    answer = await Desk(client, org).do("GET", "/telephony-providers/metadata", role="viewer")
    found = {one["provider"]: one for one in answer.json()["providers"]}
    assert "sandbox" in found
    assert [one["name"] for one in found[NAME]["fields"]] == ["account", "token", "webhook_key", "amd_enabled"]
    assert found[NAME]["transfers"] == ["warm", "blind"]


async def test_secrets_are_sealed_masked_and_kept(
    client: AsyncClient, org: OrgFixture, fakecom: FakeCarrier, root: Root
) -> None:
    desk = Desk(client, org)
    made = (await desk.make()).json()
    path = f"/telephony-configs/{made['id']}"
    assert made["credentials"]["token"] == "********oken"
    assert made["credentials"]["application_id"] == "made-by-the-carrier"
    assert fakecom.asked_for("check")[0]["config"]["token"] == "a-very-secret-token"
    async with root.db.transaction() as session:
        stored = (await session.execute(text("SELECT * FROM telephony_configurations"))).mappings().one()
    assert "a-very-secret" not in repr(dict(stored))
    assert stored["account_reference"] == "acme-1"
    kept = await desk.do("PUT", path, {"config": {**CONFIG, "token": "********oken", "amd_enabled": True}})
    assert kept.json()["credentials"]["amd_enabled"] is True
    assert fakecom.asked_for("check")[-1]["config"]["token"] == "a-very-secret-token"
    wrong = await desk.do("PUT", path, {"config": {**CONFIG, "token": "********else"}})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "configuration_invalid")
    other = await desk.do("PUT", path, {"config": {**CONFIG, "provider": "sandbox"}})
    assert (other.status_code, other.json()["code"]) == (400, "provider_change")
    log = (await client.get("/organizations/audit-log", headers=org.owner_headers)).text
    assert "telephony_config.created" in log
    assert "a-very-secret" not in log


async def test_a_check_is_no_change_in_the_audit_log(
    client: AsyncClient, org: OrgFixture, fakecom: FakeCarrier
) -> None:
    desk = Desk(client, org)
    path = f"/telephony-configs/{(await desk.make()).json()['id']}"
    same = {**CONFIG, "token": "********oken"}
    for body in (
        {"config": same},
        {"config": {**same, "amd_enabled": True}},
        {"config": {**same, "amd_enabled": True}, "name": "Main"},
        {"name": "Desk"},
    ):
        assert (await desk.do("PUT", path, body)).status_code == 200
    entries = (await desk.do("GET", "/audit-log")).json()["entries"]
    assert [(entry["action"].partition(".")[2], entry["data"]) for entry in reversed(entries)] == [
        ("created", {"provider": NAME}),
        ("checked", {}),
        ("updated", {"fields": ["amd_enabled"]}),
        ("checked", {}),
        ("updated", {"fields": ["name"]}),
    ]


async def test_saving_asks_the_carrier(client: AsyncClient, org: OrgFixture, fakecom: FakeCarrier) -> None:
    desk = Desk(client, org)
    fakecom.refuses["check"] = CarrierFailed("carrier_unauthorized", "No such account.", retryable=False)
    refused = await desk.make()
    assert (refused.status_code, refused.json()["code"]) == (422, "credentials_refused")
    fakecom.refuses["check"] = CarrierFailed("carrier_misconfigured", "The key is not PEM.", retryable=False)
    wrong = await desk.make()
    assert wrong.json() == {"detail": "The key is not PEM.", "code": "configuration_invalid"}
    fakecom.refuses["check"] = CarrierFailed("carrier_unreachable", "Away.", retryable=True)
    away = await desk.make()
    assert (away.status_code, away.json()["code"]) == (502, "carrier_check_failed")
    listed = (await desk.do("GET", "/telephony-configs")).json()["configurations"]
    assert [row["provider"] for row in listed] == ["sandbox"]
    assert (await desk.make(query="?verify=false")).status_code == 200
    taken = await desk.make(query="?verify=false")
    assert (taken.status_code, taken.json()["code"]) == (409, "telephony_configuration_name_taken")


async def test_fields_that_are_wrong(client: AsyncClient, org: OrgFixture, fakecom: FakeCarrier) -> None:
    desk = Desk(client, org)
    wrong = await desk.make(token="", account=7, amd_enabled="yes", extra="x", calls_per_second=0)
    assert wrong.status_code == 422
    assert {one["loc"][-1] for one in wrong.json()["detail"]} == {
        "token", "account", "amd_enabled", "extra", "calls_per_second",
    }  # fmt: skip
    assert (await desk.make(provider="nobody")).status_code == 422
    sandbox = await desk.do(
        "POST", "/telephony-configs", {"name": "S", "config": {"provider": "sandbox", "mix": {"x": 1}}}
    )
    assert sandbox.status_code == 422
    fine = await desk.do(
        "POST", "/telephony-configs", {"name": "S", "config": {"provider": "sandbox", "mix": {"busy": 1}}}
    )
    assert fine.json()["credentials"] == {"mix": {"busy": 1}}
    assert fine.json()["is_ready_for_outbound"] is True


async def test_default_warnings_and_removal(client: AsyncClient, org: OrgFixture, fakecom: FakeCarrier) -> None:
    desk = Desk(client, org)
    one, two = (await desk.make("One")).json(), (await desk.make("Two", webhook_key="k")).json()
    await desk.do("POST", f"/telephony-configs/{one['id']}/set-default-outbound")
    second = await desk.do("POST", f"/telephony-configs/{two['id']}/set-default-outbound")
    assert second.json()["is_default_outbound"] is True
    listed = (await desk.do("GET", "/telephony-configs")).json()["configurations"]
    assert [row["is_default_outbound"] for row in listed] == [False, True, False]
    assert listed[0]["outbound_blocked_reason"] == "no_phone_number"
    assert (await desk.do("POST", f"/telephony-configs/{one['id']}/reactivate")).status_code == 200
    warnings = (await desk.do("GET", "/telephony-config-warnings")).json()
    assert warnings["fakecom_missing_webhook_key_count"] == 1
    assert (await desk.do("DELETE", f"/telephony-configs/{one['id']}")).json() == {"success": True, "id": one["id"]}
    assert (await desk.do("GET", f"/telephony-configs/{one['id']}")).status_code == 404


async def test_numbers_of_an_account(
    account: Account, client: AsyncClient, org: OrgFixture, agent: Agent, fakecom: FakeCarrier
) -> None:
    desk, path = Desk(client, org), f"/telephony-configs/{account.id}/phone-numbers"
    fakecom.numbers.add("+12015550170")
    made = await desk.do(
        "POST", path, {"address": "(201) 555-0170", "country_code": "us", "inbound_workflow_id": agent.id}
    )
    number = made.json()
    assert (number["address_normalized"], number["address_type"]) == ("+12015550170", "pstn")
    assert number["inbound_workflow_name"] == "Front desk"
    assert number["provider_sync"] == {"ok": True, "message": "Calls to this number are routed here."}
    assert fakecom.asked_for("point")[0]["inbound_url"] == "http://testserver/api/v1/telephony/inbound/run"
    assert (await desk.do("POST", path, {"address": "+12015550170"})).json()["code"] == "phone_number_taken"
    assert (await desk.do("POST", path, {"address": "no number!"})).json()["code"] == "address_invalid"
    not_ours = await desk.do("POST", path, {"address": "+12015550171"})
    assert (not_ours.status_code, not_ours.json()["code"]) == (400, "number_not_owned")
    sip = await desk.do("POST", path, {"address": "SIP:Bob@Example.com:5060"})
    assert (sip.json()["address_normalized"], sip.json()["address_type"]) == ("sip:Bob@example.com", "sip_uri")
    fakecom.refuses["point"] = CarrierFailed("carrier_unreachable", "Away.", retryable=True)
    one = f"{path}/{number['id']}"
    changed = await desk.do("PUT", one, {"inbound_workflow_id": agent.id, "label": "Front"})
    assert changed.json()["provider_sync"] == {"ok": False, "message": "Away."}
    default = await desk.do("POST", f"{one}/set-default-caller")
    assert default.json()["is_default_caller_id"] is True
    run_id = await account.dial()
    assert (await account.run(run_id)).caller_number == "+12015550170"
    body = {"workflow_id": agent.id, "phone_number": "+12015550199", "from_phone_number_id": account.number_id}
    chosen = await client.post("/telephony/initiate-call", json=body, headers=org.owner_headers)
    assert (await account.run(chosen.json()["workflow_run_id"])).caller_number == "+12015550150"
    cleared = await desk.do("PUT", one, {"clear_inbound_workflow": True, "is_active": False})
    assert (cleared.json()["inbound_workflow_id"], cleared.json()["is_active"]) == (None, False)
    assert len((await desk.do("GET", path)).json()["phone_numbers"]) == 3
    assert (await desk.do("DELETE", one)).status_code == 200
    assert (await desk.do("GET", one)).status_code == 404


async def test_whose_it_is(
    account: Account, client: AsyncClient, org: OrgFixture, other_org: OrgFixture, agent: Agent
) -> None:
    theirs, path = Desk(client, other_org), f"/telephony-configs/{account.id}"
    for method, at in (
        ("GET", path),
        ("PUT", path),
        ("DELETE", path),
        ("POST", f"{path}/reactivate"),
        ("GET", f"{path}/phone-numbers"),
        ("POST", f"{path}/phone-numbers"),
        ("GET", f"{path}/phone-numbers/{account.number_id}"),
    ):
        answer = await theirs.do(method, at, {"address": "+12015550180"} if method == "POST" else {})
        assert answer.status_code == 404, (method, at)
    assert (await Desk(client, org).do("PUT", path, {"name": "x"}, role="member")).status_code == 403
    assert (await client.get(f"/organizations{path}")).status_code == 401
    assert TOKEN not in (await Desk(client, org).do("GET", path)).text
    foreign = await Desk(client, org).do(
        "POST", f"{path}/phone-numbers", {"address": "+12015550181", "inbound_workflow_id": agent.id + 1}
    )
    assert foreign.status_code == 404


async def test_the_sandbox_always_stands_in_the_list(
    client: AsyncClient, org: OrgFixture, other_org: OrgFixture, fakecom: FakeCarrier
) -> None:
    """Also when several look at once, after it was deleted, and beside an account that has its name."""
    desk, other = Desk(client, org), Desk(client, other_org)
    lists = await asyncio.gather(*(desk.do("GET", "/telephony-configs") for _ in range(4)))
    ids = {row["id"] for answer in lists for row in answer.json()["configurations"]}
    assert len(ids) == 1
    [sandbox] = (await desk.do("GET", "/telephony-configs")).json()["configurations"]
    assert (sandbox["provider"], sandbox["is_default_outbound"], sandbox["is_ready_for_outbound"]) == (
        "sandbox", False, True,
    )  # fmt: skip
    assert (await desk.do("GET", f"/telephony-configs/{sandbox['id']}")).status_code == 200
    assert (await other.do("GET", f"/telephony-configs/{sandbox['id']}")).status_code == 404
    assert (await desk.do("DELETE", f"/telephony-configs/{sandbox['id']}")).status_code == 200
    assert (await desk.make(sandbox["name"])).status_code == 200
    again = (await desk.do("GET", "/telephony-configs")).json()["configurations"]
    assert [row["provider"] for row in again].count("sandbox") == 1
