"""Placing calls over HTTP: the test call, the public trigger, hanging up."""

import asyncio
from typing import Any

import pytest
from httpx2 import AsyncClient

from offhook.orgs.do_not_call import do_not_call_list
from offhook.orgs.tables import Organization
from offhook.root import Root
from offhook.runs import service as runs
from offhook.runs.tables import Run
from offhook.telephony.ports import CarrierFailed
from offhook.telephony.tables import TelephonyConfiguration
from tests.fixtures_orgs import OrgFixture
from tests.telephony.conftest import Agent, MakeAgent, NotedCarrier
from tests.voice.phone import simple_agent

NUMBER = "+12015550101"


async def run_of(root: Root, org: OrgFixture, run_id: int) -> Run:
    async with root.db.transaction() as session:
        return await runs.get_run(session, org.id, run_id)


async def configure(root: Root, org: OrgFixture, **columns: Any) -> int:
    async with root.db.transaction() as session:
        row = TelephonyConfiguration(organization_id=org.id, **{"name": "Mine", "provider": "sandbox", **columns})
        session.add(row)
        await session.flush()
        return row.id


class TestInitiateCall:
    @pytest.fixture(autouse=True)
    def setting(self, client: AsyncClient, root: Root, org: OrgFixture, agent: Agent, carrier: NotedCarrier) -> None:
        self.client, self.root, self.org, self.agent, self.carrier = client, root, org, agent, carrier

    async def initiate(self, headers: dict[str, str] | None = None, **body: Any) -> tuple[int, dict[str, Any]]:
        sent = {"workflow_id": self.agent.id, "phone_number": NUMBER, **body}
        sent = {key: value for key, value in sent.items() if value is not None}
        answer = await self.client.post(
            "/telephony/initiate-call", json=sent, headers={**self.org.key_headers, **(headers or {})}
        )
        return answer.status_code, answer.json()

    async def test_anonymous(self) -> None:
        answer = await self.client.post("/telephony/initiate-call", json={"workflow_id": 1, "phone_number": NUMBER})

        assert answer.status_code == 401

    async def test_a_viewer_may_not_dial(self) -> None:
        answer = await self.client.post(
            "/telephony/initiate-call",
            json={"workflow_id": self.agent.id, "phone_number": NUMBER},
            headers=self.org.headers_for("viewer"),
        )

        assert answer.status_code == 403
        assert self.carrier.dialed == []

    async def test_another_organizations_agent(self, other_org: OrgFixture, make_agent: MakeAgent) -> None:
        theirs = await make_agent(other_org, "theirs")

        status, answer = await self.initiate(workflow_id=theirs.id)
        assert (status, answer["code"]) == (404, "workflow_not_found")

    async def test_valid(self) -> None:
        status, answer = await self.initiate(initial_context={"name": "Ada", "provider": "mine", "direction": "x"})

        assert status == 200
        assert answer["status"] == "initiated"
        assert answer["call_id"] == "CALL1"
        assert answer["workflow_run_name"] in answer["message"]
        run = await run_of(self.root, self.org, answer["workflow_run_id"])
        assert (run.call_id, run.mode, run.direction) == ("CALL1", "sandbox", "outbound")
        assert (run.phone_number, run.called_number, run.caller_number) == (NUMBER, NUMBER, "+12015550100")
        assert run.initial_context["name"] == "Ada"
        assert (run.initial_context["provider"], run.initial_context["direction"]) == ("sandbox", "outbound")
        (account, request) = self.carrier.dialed[0]
        assert (account.organization_id, request.run_id, request.to_number) == (self.org.id, run.id, NUMBER)

    async def test_runs_the_draft_when_there_is_one(self, make_agent: MakeAgent) -> None:
        edited = await make_agent(self.org, "edited", draft=simple_agent())

        _, answer = await self.initiate(workflow_id=edited.id)
        assert (await run_of(self.root, self.org, answer["workflow_run_id"])).version_number == 2

    @pytest.mark.parametrize(
        "body",
        [
            {"phone_number": "123"},
            {"phone_number": "hello"},
            {"phone_number": 12},
            {"workflow_id": "x"},
            {"workflow_id": 2**31},
            {"workflow_run_id": 2**63},
            {"initial_context": []},
            {"initial_context": {"a": "\u0000"}},
            {"initial_context": {"a": "x" * 70000}},
            {"telephony_configuration_id": 0},
        ],
    )
    async def test_bad_input(self, body: dict[str, Any]) -> None:
        assert (await self.initiate(**body))[0] == 422
        assert self.carrier.dialed == []

    async def test_without_a_number_the_preferences_test_number_rings(self) -> None:
        status, answer = await self.initiate(phone_number=None)
        assert (status, answer["code"]) == (422, "phone_number_missing")
        assert "E.164" in answer["detail"]
        saved = {"test_phone_number": "+12015550188"}
        await self.client.put("/organizations/preferences", json=saved, headers=self.org.key_headers)
        assert (await self.initiate(phone_number=None))[0] == 200
        assert [request.to_number for _, request in self.carrier.dialed] == ["+12015550188"]

    async def test_a_number_on_the_do_not_call_list_is_not_dialed(self, other_org: OrgFixture) -> None:
        async with self.root.db.transaction() as session:
            await do_not_call_list.add_numbers(session, self.org.id, [NUMBER], do_not_call_list.DoNotCallOrigin())
            await do_not_call_list.add_numbers(
                session, other_org.id, ["+12015550102"], do_not_call_list.DoNotCallOrigin()
            )

        status, answer = await self.initiate()
        assert (status, answer["code"]) == (409, "do_not_call")
        assert self.carrier.dialed == []
        assert (await self.initiate(phone_number="+12015550102"))[0] == 200

    async def test_a_refusal_of_the_carrier_ends_the_run(self) -> None:
        self.carrier.fails_with = CarrierFailed("carrier_down", "it is on fire", retryable=True)

        status, answer = await self.initiate()
        assert (status, answer["code"]) == (502, "carrier_failed")
        assert "it is on fire" in answer["detail"]
        run = await run_of(self.root, self.org, self.carrier.dialed[0][1].run_id)
        assert (run.status, run.outcome, run.end_reason) == ("failed", "failed", "carrier_down")

    async def test_no_transaction_is_open_while_the_carrier_is_asked(self) -> None:
        pool = self.root.db.engine.pool
        seen: list[int] = []
        dial = self.carrier.place_call

        async def watched(*args: Any) -> str:
            seen.append(pool.checkedout())  # type: ignore[attr-defined]
            return await dial(*args)

        self.carrier.place_call = watched  # type: ignore[method-assign,assignment]
        await self.initiate({"Idempotency-Key": "k1"})
        assert seen == [0]

    async def test_too_many_calls_at_once(self) -> None:
        async with self.root.db.transaction() as session:
            organization = await session.get(Organization, self.org.id)
            assert organization is not None
            organization.concurrency_limit = 1

        assert (await self.initiate())[0] == 200
        status, answer = await self.initiate()
        assert (status, answer["code"]) == (429, "concurrent_call_limit")
        assert len(self.carrier.dialed) == 1


class TestIdempotency:
    @pytest.fixture(autouse=True)
    def setting(self, client: AsyncClient, org: OrgFixture, agent: Agent, carrier: NotedCarrier) -> None:
        self.client, self.org, self.agent, self.carrier = client, org, agent, carrier

    async def post(self, path: str, key: str, **body: Any) -> tuple[int, dict[str, Any]]:
        answer = await self.client.post(path, json=body, headers={**self.org.key_headers, "Idempotency-Key": key})
        return answer.status_code, answer.json()

    async def test_the_same_request_twice_rings_once(self) -> None:
        one = await self.post("/telephony/initiate-call", "k", workflow_id=self.agent.id, phone_number=NUMBER)
        two = await self.post("/telephony/initiate-call", "k", workflow_id=self.agent.id, phone_number=NUMBER)

        assert one == two
        assert len(self.carrier.dialed) == 1

    async def test_another_body_is_refused(self) -> None:
        await self.post("/public/agent/front-desk", "k", phone_number=NUMBER)
        status, _ = await self.post("/public/agent/front-desk", "k", phone_number="+12015550102")

        assert status == 409
        assert len(self.carrier.dialed) == 1

    async def test_a_refused_call_may_be_tried_again(self) -> None:
        self.carrier.fails_with = CarrierFailed("busy", "later", retryable=True)
        assert (await self.post("/public/agent/front-desk", "k", phone_number=NUMBER))[0] == 502

        self.carrier.fails_with = None
        assert (await self.post("/public/agent/front-desk", "k", phone_number=NUMBER))[0] == 200


class TestWhichAccount:
    @pytest.fixture(autouse=True)
    def setting(self, client: AsyncClient, root: Root, org: OrgFixture, agent: Agent, carrier: NotedCarrier) -> None:
        self.client, self.root, self.org, self.agent, self.carrier = client, root, org, agent, carrier

    async def dial(self, **body: Any) -> int:
        answer = await self.client.post(
            "/telephony/initiate-call",
            json={"workflow_id": self.agent.id, "phone_number": NUMBER, **body},
            headers=self.org.key_headers,
        )
        return answer.status_code

    async def test_the_one_that_is_named(self) -> None:
        await configure(self.root, self.org, name="Default", is_default_outbound=True)
        named = await configure(self.root, self.org, config={"from_number": "+12015550111", "mix": {"busy": 1}})

        assert await self.dial(telephony_configuration_id=named) == 200
        account, request = self.carrier.dialed[0]
        assert (account.id, account.config["mix"], request.from_number) == (named, {"busy": 1}, "+12015550111")

    async def test_else_the_default(self) -> None:
        await configure(self.root, self.org, name="Other")
        default = await configure(self.root, self.org, is_default_outbound=True)

        assert await self.dial() == 200
        assert self.carrier.dialed[0][0].id == default

    async def test_else_the_built_in_sandbox(self) -> None:
        assert await self.dial() == 200
        assert self.carrier.dialed[0][0].id is None

    async def test_never_another_organizations(self, other_org: OrgFixture) -> None:
        theirs = await configure(self.root, other_org, is_default_outbound=True)

        assert await self.dial(telephony_configuration_id=theirs) == 404
        assert await self.dial() == 200
        assert self.carrier.dialed[0][0].organization_id == self.org.id

    async def test_a_carrier_that_cannot_dial(self) -> None:
        unknown = await configure(self.root, self.org, provider="pigeon")

        assert await self.dial(telephony_configuration_id=unknown) == 422

    async def test_a_number_of_ours_that_does_not_exist(self) -> None:
        assert await self.dial(from_phone_number_id=1) == 404


class TestARunThatWaits:
    """``workflow_run_id`` names a run that was made before the call."""

    @pytest.fixture(autouse=True)
    def setting(self, client: AsyncClient, root: Root, org: OrgFixture, agent: Agent, carrier: NotedCarrier) -> None:
        self.client, self.root, self.org, self.agent, self.carrier = client, root, org, agent, carrier

    async def waiting(self, mode: str = "sandbox", **columns: Any) -> int:
        async with self.root.db.transaction() as session:
            run = await runs.create_run(
                session,
                organization_id=self.org.id,
                workflow_id=self.agent.id,
                mode=mode,
                direction="outbound",
                use_draft=True,
                **columns,
            )
            return run.id

    async def dial(self, run_id: int, **body: Any) -> tuple[int, dict[str, Any]]:
        answer = await self.client.post(
            "/telephony/initiate-call",
            json={"workflow_id": self.agent.id, "workflow_run_id": run_id, **body},
            headers=self.org.key_headers,
        )
        return answer.status_code, answer.json()

    async def test_is_dialed_with_its_own_number(self) -> None:
        run_id = await self.waiting(phone_number=NUMBER)

        status, answer = await self.dial(run_id)
        assert (status, answer["workflow_run_id"]) == (200, run_id)
        assert self.carrier.dialed[0][1].to_number == NUMBER

    async def test_only_once(self) -> None:
        run_id = await self.waiting()

        assert (await self.dial(run_id, phone_number=NUMBER))[0] == 200
        assert await self.dial(run_id, phone_number=NUMBER) == (
            409,
            {
                "detail": "This run has already started, or is not a telephone call.",
                "code": "run_not_dialable",
            },
        )

    async def test_only_once_of_many_at_once(self) -> None:
        run_id = await self.waiting()

        answers = await asyncio.gather(*[self.dial(run_id, phone_number=NUMBER) for _ in range(5)])
        assert sorted(status for status, _ in answers) == [200, 409, 409, 409, 409]
        assert len(self.carrier.dialed) == 1

    async def test_knows_whom_it_calls(self) -> None:
        run_id = await self.waiting(initial_context={"name": "Ada"})

        await self.dial(run_id, phone_number=NUMBER, initial_context={"city": "Paris"})
        async with self.root.db.transaction() as session:
            run = await runs.get_run(session, self.org.id, run_id)
        assert (run.direction, run.phone_number, run.called_number) == ("outbound", NUMBER, NUMBER)
        assert run.initial_context.items() >= {"name": "Ada", "city": "Paris", "called_number": NUMBER}.items()

    async def test_not_when_it_was_made_for_a_browser(self) -> None:
        assert (await self.dial(await self.waiting("browser"), phone_number=NUMBER))[0] == 409

    async def test_not_of_another_workflow(self, make_agent: MakeAgent) -> None:
        run_id = await self.waiting()
        self.agent = await make_agent(self.org, "another")

        assert (await self.dial(run_id, phone_number=NUMBER))[0] == 404


class TestPublicTrigger:
    @pytest.fixture(autouse=True)
    def setting(self, client: AsyncClient, root: Root, org: OrgFixture, agent: Agent, carrier: NotedCarrier) -> None:
        self.client, self.root, self.org, self.agent, self.carrier = client, root, org, agent, carrier

    async def trigger(self, path: str = "front-desk", **body: Any) -> tuple[int, dict[str, Any]]:
        answer = await self.client.post(
            f"/public/agent/{path}", json={"phone_number": NUMBER, **body}, headers=self.org.key_headers
        )
        return answer.status_code, answer.json()

    async def test_anonymous(self) -> None:
        answer = await self.client.post("/public/agent/front-desk", json={"phone_number": NUMBER})

        assert answer.status_code == 401

    async def test_valid(self) -> None:
        status, answer = await self.trigger(
            initial_context={"name": "Ada", "runtime_configuration": {}, "agent_uuid": "x"}
        )

        assert status == 200
        assert set(answer) == {"status", "workflow_run_id", "workflow_run_name"}
        assert answer["status"] == "initiated"
        context = (await run_of(self.root, self.org, answer["workflow_run_id"])).initial_context
        assert (context["name"], context["agent_uuid"]) == ("Ada", "front-desk")
        assert "runtime_configuration" not in context

    async def test_runs_the_published_version_whatever_the_draft(self, make_agent: MakeAgent) -> None:
        await make_agent(self.org, "edited", draft=simple_agent())

        _, answer = await self.trigger("edited")
        assert (await run_of(self.root, self.org, answer["workflow_run_id"])).version_number == 1

    @pytest.mark.parametrize("path", ["nobody", "%00", "x" * 300, "é"])
    async def test_unknown(self, path: str) -> None:
        assert (await self.trigger(path))[0] == 404

    async def test_not_published(self, make_agent: MakeAgent) -> None:
        await make_agent(self.org, "draft-only", is_published=False)

        assert (await self.trigger("draft-only"))[0] == 404

    async def test_archived(self) -> None:
        await self.client.put(
            f"/workflow/{self.agent.id}/status", json={"status": "archived"}, headers=self.org.key_headers
        )

        assert (await self.trigger())[0] == 404
        assert self.carrier.dialed == []

    async def test_another_organizations(self, other_org: OrgFixture, make_agent: MakeAgent) -> None:
        await make_agent(other_org, "theirs")

        assert (await self.trigger("theirs"))[0] == 404

    @pytest.mark.parametrize("body", [{"phone_number": "555"}, {"phone_number": None}, {"initial_context": "x"}])
    async def test_bad_input(self, body: dict[str, Any]) -> None:
        assert (await self.trigger(**body))[0] == 422


class TestHangUp:
    async def test_asks_the_carrier(
        self, client: AsyncClient, org: OrgFixture, agent: Agent, carrier: NotedCarrier
    ) -> None:
        body = {"workflow_id": agent.id, "phone_number": NUMBER}
        placed = await client.post("/telephony/initiate-call", json=body, headers=org.key_headers)
        address = f"/telephony/hang-up/{placed.json()['workflow_run_id']}"

        assert (await client.post(address)).status_code == 401
        assert (await client.post(address, headers=org.key_headers)).status_code == 200
        assert carrier.hung_up == ["CALL1"]
        made = await client.post(f"/workflow/{agent.id}/runs", json={"mode": "browser"}, headers=org.key_headers)
        refused = await client.post(f"/telephony/hang-up/{made.json()['id']}", headers=org.key_headers)
        assert (refused.status_code, refused.json()["code"]) == (409, "no_telephone_call")

    async def test_another_organizations_call(
        self, client: AsyncClient, org: OrgFixture, other_org: OrgFixture, agent: Agent, carrier: NotedCarrier
    ) -> None:
        body = {"workflow_id": agent.id, "phone_number": NUMBER}
        placed = await client.post("/telephony/initiate-call", json=body, headers=org.key_headers)
        address = f"/telephony/hang-up/{placed.json()['workflow_run_id']}"

        assert (await client.post(address, headers=other_org.key_headers)).status_code == 404
        assert (await client.post("/telephony/hang-up/x", headers=org.key_headers)).status_code == 422
        assert carrier.hung_up == []
