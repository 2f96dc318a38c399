"""Whole calls through all six carriers: the platform on a real port, the emulators behind a reverse proxy."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from offhook.bootstrap import build_root, stop
from offhook.lab.carriers import Call, Emulator, phones
from offhook.root import Root
from offhook.settings import Settings
from offhook.voice import events
from tests.calls.carrier_desk import AGENT, OURS, PUBLIC, THEIRS, open_account, prepare
from tests.calls.conftest import LiveServer
from tests.fakes.phone import LoudVoice
from tests.fakes.scripted import Hearing, calls, takes
from tests.telephony.emulator_desk import EMULATORS
from tests.voice.phone import agent_graph, edge, node, simple_agent

pytestmark = [pytest.mark.real_time, pytest.mark.timeout(300)]

SAID = "That is all, thank you."
# So long that whoever talks into it still finds it going on a busy machine.
GREETING = (
    "Good day, and thank you for your call. If you want to end it, please press one, and if you do not, take your time. "
) * 5


class OneSentence(Hearing):
    """All callers say the same, so that many may talk at once."""

    def take(self) -> str:
        return SAID


@pytest.fixture
async def carriers() -> AsyncIterator[list[Emulator]]:
    async with AsyncExitStack() as stack:
        running = [await stack.enter_async_context(make().running()) for make in EMULATORS.values()]
        for carrier in running:
            prepare(carrier)
        yield running


@pytest.fixture
async def root(settings: Settings, database_url: str, carriers: list[Emulator]) -> AsyncIterator[Root]:
    changes = {
        "public_url": PUBLIC,
        "carrier_urls": {carrier.name: carrier.base_url for carrier in carriers},
        "org_concurrency_limit": 100,
    }
    built = build_root(settings.model_copy(update=changes), database_url)
    yield built
    await stop(built)
    await built.db.dispose()


@dataclass
class Desk:
    """One carrier's account of the organisation."""

    server: LiveServer
    carrier: Emulator
    configuration_id: int

    async def dial(self, number: str) -> int:
        body = {
            "workflow_id": self.server.workflow_id,
            "phone_number": number,
            "telephony_configuration_id": self.configuration_id,
        }
        answer = await self.server.http.post("/telephony/initiate-call", json=body)
        assert answer.status_code == 200, answer.text
        return int(answer.json()["workflow_run_id"])

    async def finished(self, run_id: int) -> dict[str, Any]:
        """The run when its conversation, too, has said how it went: the carrier's news may come first."""
        async with asyncio.timeout(60):
            while True:
                run = await self.server.run(run_id)
                if run["status"] not in {"initiated", "ringing", "in_progress"} and run["end_reason"] is not None:
                    return run
                await asyncio.sleep(0.5)

    async def talked(self, plan: phones.Plan, number: str = THEIRS) -> tuple[dict[str, Any], Call]:
        """A call that we place, to its end."""
        self.carrier.phones[number] = plan
        run = await self.finished(await self.dial(number))
        call = self.carrier.call(run["call_id"])
        assert call is not None
        return run, call

    async def came(self, call: Call) -> dict[str, Any]:
        """The run of a call that came in."""
        path = f"/workflow/{self.server.workflow_id}/runs"
        async with asyncio.timeout(60):
            while True:
                for run in (await self.server.http.get(path)).json()["runs"]:
                    if run["call_id"] == call.id:
                        return await self.finished(run["id"])
                await asyncio.sleep(0.5)

    def refused(self) -> list[Any]:
        """What the carrier told us and we did not take."""
        return [sent for sent in self.carrier.callbacks if sent.status is None or sent.status >= 400]


async def account(server: LiveServer, carrier: Emulator) -> Desk:
    carrier.voice = LoudVoice().synthesize
    return Desk(
        server, carrier, await open_account(server.root, server.org.id, carrier, server.workflow_id, server.url)
    )


@pytest.fixture
async def desks(server: LiveServer, carriers: list[Emulator]) -> list[Desk]:
    server.models.hearing = OneSentence()
    server.http.timeout = httpx.Timeout(30)
    return [await account(server, carrier) for carrier in carriers]


async def each(desks: list[Desk], test: Callable[[Desk], Awaitable[None]]) -> None:
    """Three at a time, which one busy core carries in real time; what fails says which."""
    places = asyncio.Semaphore(3)

    async def placed(desk: Desk) -> None:
        async with places:
            await test(desk)

    found = await asyncio.gather(*(placed(desk) for desk in desks), return_exceptions=True)
    failed = {desk.carrier.name: repr(error) for desk, error in zip(desks, found, strict=True) if error is not None}
    assert not failed, "\n".join(f"{name}: {error}" for name, error in failed.items())


async def test_conversations_and_calls_that_nobody_takes(desks: list[Desk]) -> None:
    async def test(desk: Desk) -> None:
        conversation, busy, nobody = await asyncio.gather(
            desk.talked(phones.answers(SAID)),
            desk.talked(phones.busy(), "+12125550102"),
            desk.talked(phones.no_answer(0.5), "+12125550103"),
        )
        talked, call = conversation
        assert (busy[0]["status"], nobody[0]["status"]) == ("busy", "no_answer")
        assert (talked["status"], talked["outcome"]) == ("completed", "answered")
        assert talked["end_reason"] == "agent_ended"
        assert SAID in [line["text"] for line in talked["transcript"]]
        assert talked["recording_url"]
        assert call.errors == []
        await desk.carrier.settled()
        # Whole seconds of carriers are rounded in their own ways: what was heard is the measure.
        assert 0.5 < call.phone.heard_speech_s < talked["duration"]
        assert desk.refused() == []

    await each(desks, test)


async def test_calls_that_come_in(desks: list[Desk]) -> None:
    async def test(desk: Desk) -> None:
        coming = desk.carrier.call_in(THEIRS, OURS, phones.scripted(_hangs_up_first))
        talking = desk.carrier.call_in("+12125550106", OURS, phones.answers(SAID))
        came, talked = await asyncio.gather(desk.came(coming), desk.came(talking))
        assert (talked["status"], talked["outcome"], talked["end_reason"]) == ("completed", "answered", "agent_ended")
        assert SAID in [line["text"] for line in talked["transcript"]]
        assert talked["recording_url"]
        await talking.ended.wait()
        assert talking.ended_by != "caller"
        assert (came["direction"], came["caller_number"], came["called_number"]) == ("inbound", THEIRS, OURS)
        assert (came["status"], came["outcome"], came["end_reason"]) == ("completed", "answered", "caller_hung_up")
        assert coming.ended_by == "caller"
        await desk.carrier.settled()
        assert coming.errors == talking.errors == desk.refused() == []
        assert 0.5 < talking.phone.heard_speech_s < talked["duration"]

    await each(desks, test)


async def _hangs_up_first(phone: phones.Phone) -> None:
    await phone.hears()
    phone.hang_up()


async def _interrupts(phone: phones.Phone) -> None:
    await phone.hears_something()
    await phone.waits(0.4)
    await phone.says(SAID)
    # Until the agent has fallen silent.
    await phone.hears()
    phone.hang_up()


async def _presses_one(phone: phones.Phone) -> None:
    await phone.hears_something()
    await phone.waits(0.4)
    await phone.presses("1")


async def test_keys_machines_and_people_who_talk_over_the_agent(desks: list[Desk]) -> None:
    """Vobiz's stream has no keys, Cloudonix no detection of machines."""
    graph = agent_graph(
        node("start", "startCall", prompt="Ask.", greeting=GREETING, allow_interrupt=True),
        node("bye", "endCall", prompt="Say goodbye.", say="You pressed one."),
        edge("start", "bye", "One", digits="1"),
    )
    await desks[0].server.publish(graph)

    async def test(desk: Desk) -> None:
        wanted = {"interrupting": desk.talked(phones.scripted(_interrupts), "+12125550104")}
        if desk.carrier.name != "vobiz":
            wanted["keys"] = desk.talked(phones.scripted(_presses_one))
        if desk.carrier.name != "cloudonix":
            wanted["machine"] = desk.talked(phones.voicemail(3.0, records_s=8.0), "+12125550105")
        found = dict(zip(wanted, await asyncio.gather(*wanted.values()), strict=True))
        run, call = found["interrupting"]
        assert [event for event in run["events"] if event["type"] == events.BARGED_IN]
        assert call.stream is not None
        assert call.stream.clears
        assert run["end_reason"] == "caller_hung_up"
        if "keys" in found:
            run, _ = found["keys"]
            assert (run["status"], run["end_reason"]) == ("completed", "agent_ended")
            assert "You pressed one." in [line["text"] for line in run["transcript"]]
        if "machine" in found:
            run, _ = found["machine"]
            assert (run["status"], run["outcome"]) == ("completed", "voicemail")
        await desk.carrier.settled()
        assert desk.refused() == []

    await each(desks, test)


@pytest.mark.parametrize("is_blind", [False, True], ids=["warm", "blind"])
async def test_transfers(desks: list[Desk], is_blind: bool) -> None:
    async def colleague(phone: phones.Phone) -> None:
        await phone.waits(1.5)
        await phone.says("Good morning.")
        phone.hang_up()

    server = desks[0].server
    mode = "blind" if is_blind else "warm"
    config = {"destination": AGENT, "timeout": 10, "mode": mode}
    tool = {"name": "Colleague", "definition": {"type": "transfer_call", "config": config}}
    made = await server.http.post("/tools/", json=tool)
    assert made.status_code == 200, made.text
    await server.publish(simple_agent(tool_uuids=[made.json()["tool_uuid"]]))
    server.models.replies[:] = [calls("colleague"), takes("done")]

    async def test(desk: Desk) -> None:
        desk.carrier.phones[AGENT] = phones.scripted(colleague)
        run, call = await desk.talked(phones.answers(SAID))
        assert (run["status"], run["outcome"], run["end_reason"]) == ("completed", "transferred", "transferred")
        other = next(leg for leg in desk.carrier.calls if leg.to_number == AGENT)
        await other.ended.wait()
        # Some carriers keep the caller for what comes after a blind transfer.
        call.phone.hang_up()
        await desk.carrier.settled()
        assert other.answered.is_set()
        assert call.errors == other.errors == desk.refused() == []

    await each(desks, test)
