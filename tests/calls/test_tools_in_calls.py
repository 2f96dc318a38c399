"""Calls to the sandbox's phones in which an agent uses its organization's tools, through the API and the database."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from offhook.bootstrap import build_root, stop_domains
from offhook.kit.database.database import Database
from offhook.root import Root
from offhook.settings import Settings
from offhook.telephony.tables import TelephonyConfiguration
from tests.calls.conftest import LiveServer
from tests.fakes.scripted import calls, says, takes
from tests.fakes.web import Reply, egress_to_loopback, json_reply, local_server
from tests.voice.phone import simple_agent


@pytest.fixture
async def root(settings: Settings, database: Database) -> AsyncIterator[Root]:
    built = build_root(settings, database, egress_to_loopback("shop.test"))
    yield built
    await stop_domains(built)
    await built.db.dispose()


@pytest.fixture(autouse=True)
async def quick_network(root: Root, server: LiveServer) -> None:
    async with root.db.transaction() as session:
        config = {"ring_s": 0.2, "no_answer_after_s": 0.3}
        session.add(
            TelephonyConfiguration(
                organization_id=server.org.id, name="Quick", provider="sandbox", config=config, is_default_outbound=True
            )
        )


async def make_tool(server: LiveServer, name: str, definition: dict[str, Any]) -> str:
    answer = await server.http.post("/tools/", json={"name": name, "definition": definition})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["tool_uuid"])


async def talk(server: LiveServer, *, caller: list[str], **start: Any) -> dict[str, Any]:
    """Call phone 01, whose person says ``caller``; the finished run."""
    await server.publish({**simple_agent(**start), "demo_caller": caller})
    body = {"workflow_id": server.workflow_id, "phone_number": "+12015550101", "initial_context": {"order": "4711"}}
    answer = await server.http.post("/telephony/initiate-call", json=body)
    assert answer.status_code == 200, answer.text
    return await server.finished(int(answer.json()["workflow_run_id"]))


def of(run: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [event["data"] for event in run["events"] if event["type"] == kind]


def transfer_to(last_two: str) -> dict[str, Any]:
    return {"type": "transfer_call", "config": {"destination": f"+120155501{last_two}", "timeout": 5}}


@pytest.mark.slow
async def test_a_transfer_that_is_answered(server: LiveServer) -> None:
    tool = await make_tool(server, "Transfer", transfer_to("05"))
    server.models.replies = [calls("transfer")]
    run = await talk(server, caller=["Somebody else please"], tool_uuids=[tool])
    assert (run["status"], run["outcome"], run["end_reason"]) == ("completed", "transferred", "transferred")
    assert run["gathered_context"]["transferred_to"] == "default"


@pytest.mark.slow
@pytest.mark.parametrize(("phone", "reason"), [("02", "busy"), pytest.param("03", "no_answer", marks=pytest.mark.slow)])
async def test_a_transfer_that_fails(server: LiveServer, phone: str, reason: str) -> None:
    tool = await make_tool(server, "Transfer", transfer_to(phone))
    server.models.replies = [calls("transfer"), says("They are not there."), takes("done")]
    run = await talk(server, caller=["Somebody else please", "No thank you"], tool_uuids=[tool])
    (answer,) = of(run, "tool_answered")
    assert f"TRANSFER_FAILED ({reason})" in answer["error"]
    assert (run["outcome"], run["end_reason"]) == ("answered", "agent_ended")


@pytest.mark.slow
async def test_an_http_tool_with_a_value_from_before_the_call(server: LiveServer) -> None:
    def answers(seen: Any) -> Reply:
        if seen.target == "/before":
            return json_reply({"call_inbound": {"dynamic_variables": {"customer": "A/7", "direction": "inbound"}}})
        return json_reply({"state": "sent"})

    async with local_server(answers) as shop:
        parameters = [{"name": "order", "description": "Number"}]
        presets = [{"name": "customer", "value_template": "{{customer}}"}]
        url = shop.url("shop.test", "/customers/{{customer}}/orders/{{order}}?from={{initial_context.order}}")
        config = {"url": url, "parameters": parameters, "preset_parameters": presets}
        tool = await make_tool(server, "Order status", {"type": "http_api", "config": config})
        server.models.replies = [calls("order_status", order="7"), says("It was sent."), takes("done")]
        run = await talk(
            server,
            caller=["Where is order seven", "No thank you"],
            tool_uuids=[tool],
            pre_call_fetch_mode="outbound",
            pre_call_fetch_url=shop.url("shop.test", "/before"),
        )
    assert [seen.target for seen in shop.seen] == ["/before", "/customers/A%2F7/orders/7?from=4711"]
    assert shop.seen[0].json["event"] == "call_outbound"
    assert shop.seen[0].json["call_outbound"]["to_number"] == "+12015550101"
    (fetched,) = of(run, "pre_call_fetched")
    assert (fetched["ok"], fetched["variables"]) == (True, ["customer"])
    (answer,) = of(run, "tool_answered")
    assert (answer["ok"], answer["result"]) == (True, {"state": "sent"})
    assert run["initial_context"]["customer"] == "A/7"
    assert run["direction"] == "outbound"


@pytest.mark.slow
async def test_a_call_goes_on_when_nobody_answers_before_it(server: LiveServer) -> None:
    async with local_server(Reply(500)) as shop:
        run = await talk(
            server, caller=["No thank you"], pre_call_fetch_enabled=True, pre_call_fetch_url=shop.url("shop.test", "/")
        )
    (fetched,) = of(run, "pre_call_fetched")
    assert not fetched["ok"]
    assert (run["outcome"], run["end_reason"]) == ("answered", "agent_ended")
