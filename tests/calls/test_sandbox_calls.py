"""Sandbox calls through the API, the database and the media path of a real server, with fake models."""

import asyncio
from typing import Any

import pytest

from offhook.bootstrap import stop_domains
from offhook.root import Root
from offhook.telephony.events import CallEnded
from offhook.telephony.tables import TelephonyConfiguration
from tests.calls.conftest import LiveServer
from tests.voice.phone import simple_agent


@pytest.fixture(autouse=True)
async def quick_network(root: Root, server: LiveServer) -> None:
    """Phones that ring briefly, and an agent with a caller's script."""
    async with root.db.transaction() as session:
        config = {"ring_s": 0.1, "no_answer_after_s": 0.2}
        session.add(
            TelephonyConfiguration(
                organization_id=server.org.id, name="Quick", provider="sandbox", config=config, is_default_outbound=True
            )
        )
    await server.publish({**simple_agent(), "demo_caller": ["No thank you"]})


async def dial(server: LiveServer, last_two: str) -> int:
    body = {"workflow_id": server.workflow_id, "phone_number": f"+120155501{last_two}"}
    answer = await server.http.post("/telephony/initiate-call", json=body)
    assert answer.status_code == 200, answer.text
    return int(answer.json()["workflow_run_id"])


def statuses(run: dict[str, Any]) -> list[str]:
    return [event["data"]["status"] for event in run["events"] if event["type"] == "status_changed"]


async def test_a_conversation(server: LiveServer) -> None:
    run_id = await dial(server, "01")
    run = await server.finished(run_id)

    assert (run["status"], run["outcome"], run["end_reason"]) == ("completed", "answered", "agent_ended")
    assert [line["text"] for line in run["transcript"]] == [
        "Hello, how can I help?",
        "No thank you",
        "Thank you, goodbye.",
    ]
    assert statuses(run)[:2] == ["ringing", "in_progress"]
    assert run["call_id"].startswith("SB")
    assert (run["phone_number"], run["direction"], run["mode"]) == ("+12015550101", "outbound", "sandbox")


@pytest.mark.parametrize(("phone", "expected"), [("02", "busy"), ("03", "no_answer")])
@pytest.mark.slow
async def test_nobody_answers(server: LiveServer, phone: str, expected: str) -> None:
    ended: asyncio.Queue[CallEnded] = asyncio.Queue()
    server.root.events.subscribe(CallEnded, ended.put)
    run = await server.finished(await dial(server, phone))

    assert (run["status"], run["outcome"], run["end_reason"]) == (expected, expected, expected)
    # The report goes out after the run is stored: whoever reads the run may be first.
    async with asyncio.timeout(60):
        report = await ended.get()
    assert (report.run_id, report.status) == (run["workflow_run_id"], expected)
    assert ended.empty()
    assert statuses(run) == ["ringing", expected]
    assert run["transcript"] == []


@pytest.mark.slow
async def test_voicemail(server: LiveServer) -> None:
    run = await server.finished(await dial(server, "04"))

    assert (run["status"], run["outcome"], run["end_reason"]) == ("completed", "voicemail", "voicemail")


async def test_hanging_up(server: LiveServer) -> None:
    run_id = await dial(server, "06")
    while (await server.run(run_id))["status"] != "in_progress":
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.3)
    assert (await server.http.post(f"/telephony/hang-up/{run_id}")).status_code == 200

    run = await server.finished(run_id)
    assert (run["status"], run["outcome"], run["end_reason"]) == ("completed", "answered", "caller_hung_up")


async def test_hanging_up_many_times_while_it_rings(server: LiveServer) -> None:
    run_id = await dial(server, "03")
    answers = await asyncio.gather(*[server.http.post(f"/telephony/hang-up/{run_id}") for _ in range(6)])

    assert {answer.status_code for answer in answers} == {200}
    assert (await server.finished(run_id))["status"] == "canceled"


@pytest.mark.slow
async def test_an_orderly_stop_ends_calls_and_rings(server: LiveServer) -> None:
    talking, ringing = await dial(server, "06"), await dial(server, "06")
    while (await server.run(talking))["status"] != "in_progress":
        await asyncio.sleep(0.05)
    slow = {"workflow_id": server.workflow_id, "phone_number": "+12015550101"}
    async with server.root.db.transaction() as session:
        row = TelephonyConfiguration(
            organization_id=server.org.id, name="Slow", provider="sandbox", config={"ring_s": 30}
        )
        session.add(row)
        await session.flush()
        slow["telephony_configuration_id"] = row.id
    answer = await server.http.post("/telephony/initiate-call", json=slow)
    await asyncio.sleep(0.3)
    await stop_domains(server.root)

    assert [(await server.run(run_id))["end_reason"] for run_id in (talking, ringing)] == ["server_stopped"] * 2
    assert (await server.run(answer.json()["workflow_run_id"]))["status"] == "canceled"
