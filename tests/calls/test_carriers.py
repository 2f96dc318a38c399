"""Whole calls through all six carriers: the platform on a real port, the emulators behind a reverse proxy."""

import asyncio
import wave
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import pytest
from sqlalchemy import update

from offhook.bootstrap import build_root, stop_domains
from offhook.root import Root
from offhook.settings import Settings
from offhook.telephony.tables import PhoneNumber
from offhook.voice import events
from offhook_lab.carriers import CarrierEmulator, EmulatedCall, RestFault, TelnyxEmulator, phones
from offhook_lab.carriers.core.stream import MediaStream
from tests.calls.carrier_desk import AGENT, OURS, PUBLIC, THEIRS, prepare
from tests.calls.conftest import LiveServer
from tests.calls.desks import Desk, account, each
from tests.calls.media_troubles import media_never_comes, strangers_come
from tests.fakes.clock import ShiftedClock
from tests.fakes.scripted import Hearing, calls, takes
from tests.telephony.emulator_desk import EMULATORS
from tests.voice.phone import agent_graph, edge, node, simple_agent

pytestmark = [pytest.mark.real_time, pytest.mark.timeout(300)]

SAID = "That is all, thank you."
# So long, and with so few gaps between what is synthesized, that whoever talks into it finds it going on a busy machine.
GREETING = (
    "Good day and thank you for your call and if you want to end it please press one or else take your time and " * 5
)
# On a busy machine callers are late.
PATIENT = {"max_user_idle_timeout": 600}


class OneSentence(Hearing):
    """All callers say the same, so that many may talk at once."""

    def take(self) -> str:
        return SAID


@pytest.fixture
async def carriers() -> AsyncIterator[list[CarrierEmulator]]:
    async with AsyncExitStack() as stack:
        running = [await stack.enter_async_context(make().running()) for make in EMULATORS.values()]
        for carrier in running:
            prepare(carrier)
        yield running


@pytest.fixture
async def root(
    settings: Settings, database_url: str, carriers: list[CarrierEmulator], shifted_clock: ShiftedClock
) -> AsyncIterator[Root]:
    changes = {
        "public_url": PUBLIC,
        "carrier_urls": {carrier.name: carrier.base_url for carrier in carriers},
        "org_concurrency_limit": 100,
    }
    built = build_root(settings.model_copy(update=changes), database_url, clock=shifted_clock)
    yield built
    await stop_domains(built)
    await built.db.dispose()


@pytest.fixture
async def desks(server: LiveServer, carriers: list[CarrierEmulator]) -> list[Desk]:
    server.models.hearing = OneSentence()
    server.http.timeout = httpx2.Timeout(30)
    await server.publish(simple_agent(), **PATIENT)
    return [await account(server, carrier) for carrier in carriers]


async def test_conversations_and_calls_that_nobody_takes(desks: list[Desk], tmp_path: Path) -> None:
    """The media is there before the answer to the dial, and strangers come to its socket: the call goes on."""

    async def test(desk: Desk) -> None:
        hears, goes_on = asyncio.Event(), asyncio.Event()

        async def person(phone: phones.EmulatedPhone) -> None:
            await phone.wait_for_speech_end()
            assert desk.carrier.sent_to("POST", "all")[0].status is None, "the dial has no answer yet"
            hears.set()
            await goes_on.wait()
            await phone.say_text(SAID)

        desk.carrier.chaos.rest.append(RestFault("acts_slowly", "POST *[Cc]all*", until=hears))
        conversation = asyncio.create_task(desk.talked(phones.scripted(person)))
        await desk.carrier.next_call(within_s=60)
        others = asyncio.gather(
            desk.talked(phones.busy(), "+12125550102"),
            desk.talked(phones.no_answer(0.5), "+12125550103"),
        )
        async with asyncio.timeout(60):
            await hears.wait()
        await strangers_come(desk, desk.carrier.calls[0])
        goes_on.set()
        (busy, nobody), (talked, call) = await others, await conversation
        assert (busy[0]["status"], nobody[0]["status"]) == ("busy", "no_answer")
        assert (talked["status"], talked["outcome"]) == ("completed", "answered")
        assert talked["end_reason"] == "agent_ended"
        texts = [line["text"] for line in talked["transcript"]]
        assert SAID in " ".join(texts)
        assert texts.count("Hello, how can I help?") == 1
        assert {line["role"] for line in talked["transcript"]} == loud_in(
            await desk.server.recording(talked["id"], tmp_path / f"{desk.carrier.name}.wav")
        )
        assert call.errors == []
        await desk.carrier.wait_settled()
        # Whole seconds of carriers are rounded in their own ways: what was heard is the measure.
        assert 0.5 < call.phone.heard_speech_s < talked["duration"]
        assert desk.refused() == []

    await each(desks, test)
    await media_never_comes(desks)


def loud_in(recording: Path) -> set[str]:
    """Who is heard in it: the caller on the left, the agent on the right."""
    with wave.open(str(recording)) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, 2)
    return {who for side, who in enumerate(("caller", "agent")) if np.abs(samples[:, side]).max() > 3000}


@pytest.mark.slow
async def test_calls_that_come_in(desks: list[Desk]) -> None:
    async def test(desk: Desk) -> None:
        coming = desk.carrier.call_in(THEIRS, OURS, phones.scripted(_hangs_up_first))
        talking = desk.carrier.call_in("+12125550106", OURS, phones.answers(SAID))
        came, talked = await asyncio.gather(desk.came(coming), desk.came(talking))
        assert (talked["status"], talked["outcome"], talked["end_reason"]) == ("completed", "answered", "agent_ended")
        assert SAID in " ".join(line["text"] for line in talked["transcript"])
        assert talked["recording_url"]
        await talking.ended.wait()
        assert talking.ended_by != "caller"
        assert (came["direction"], came["caller_number"], came["called_number"]) == ("inbound", THEIRS, OURS)
        assert (came["status"], came["outcome"], came["end_reason"]) == ("completed", "answered", "caller_hung_up")
        assert coming.ended_by == "caller"
        await desk.carrier.wait_settled()
        assert coming.errors == talking.errors == desk.refused() == []
        assert 0.5 < talking.phone.heard_speech_s < talked["duration"]

    await each(desks, test)


async def _hangs_up_first(phone: phones.EmulatedPhone) -> None:
    await phone.wait_for_speech_end()
    phone.hang_up()


async def _talk_over_agent(phone: phones.EmulatedPhone) -> None:
    """Says it again until the agent yields: on a busy machine its words may come too late the first time."""
    await phone.wait_for_speech()
    await phone.wait_seconds(0.4)
    stream = phone.peer
    assert isinstance(stream, MediaStream)
    while not stream.clears:
        await phone.say_text(SAID)
        for _ in range(100):
            if not stream.clears:
                await phone.next_frame()


async def _interrupts(phone: phones.EmulatedPhone) -> None:
    await _talk_over_agent(phone)
    phone.hang_up()


async def _presses_one(phone: phones.EmulatedPhone) -> None:
    await phone.wait_for_speech()
    await phone.wait_seconds(0.4)
    await phone.press_keys("1")


async def _interrupts_and_presses_one(phone: phones.EmulatedPhone) -> None:
    await _talk_over_agent(phone)
    # Its words are known by then: they would interrupt what the key leads to.
    await phone.wait_for_speech_end()
    await phone.press_keys("1")


def _was_interrupted(run: dict[str, Any], call: EmulatedCall) -> None:
    happened = [(event["type"], event["at_ms"]) for event in run["events"]]
    assert events.BARGED_IN in {name for name, _ in happened}, f"{call.direction} {happened}"
    assert call.stream is not None
    assert call.stream.clears


@pytest.mark.slow
async def test_keys_machines_and_people_who_talk_over_the_agent(desks: list[Desk]) -> None:
    """Vobiz's stream has no keys, Cloudonix no detection of machines."""
    graph = agent_graph(
        node("start", "startCall", prompt="Ask.", greeting=GREETING, allow_interrupt=True),
        node("bye", "endCall", prompt="Say goodbye.", say="You pressed one."),
        edge("start", "bye", "One", digits="1"),
    )
    server = desks[0].server
    await server.publish(graph, **PATIENT)
    async with server.root.db.transaction() as session:
        await session.execute(update(PhoneNumber).values(inbound_workflow_id=server.workflow_id))

    async def test(desk: Desk) -> None:
        wanted = {"interrupting": desk.talked(phones.scripted(_interrupts), "+12125550104")}
        if desk.carrier.name != "vobiz":
            wanted["keys"] = desk.talked(phones.scripted(_presses_one))
        if desk.carrier.name != "cloudonix":
            wanted["machine"] = desk.talked(phones.voicemail(3.0, records_s=8.0), "+12125550105")
        has_keys = desk.carrier.name != "vobiz"
        coming = desk.carrier.call_in(
            "+12125550107", OURS, phones.scripted(_interrupts_and_presses_one if has_keys else _interrupts)
        )
        came, *others = await asyncio.gather(desk.came(coming), *wanted.values())
        found = dict(zip(wanted, others, strict=True))
        _was_interrupted(came, coming)
        assert (came["status"], came["end_reason"]) == ("completed", "agent_ended" if has_keys else "caller_hung_up")
        said = " ".join(line["text"] for line in came["transcript"])
        assert ("You pressed one." in said) == has_keys, came["events"]
        run, call = found["interrupting"]
        _was_interrupted(run, call)
        assert (run["end_reason"], call.ended_by) == ("caller_hung_up", "callee")
        if "keys" in found:
            run, _ = found["keys"]
            assert (run["status"], run["end_reason"]) == ("completed", "agent_ended")
            assert "You pressed one." in " ".join(line["text"] for line in run["transcript"])
        if "machine" in found:
            run, _ = found["machine"]
            assert (run["status"], run["outcome"]) == ("completed", "voicemail")
        await desk.carrier.wait_settled()
        assert desk.refused() == []

    await each(desks, test)


@pytest.mark.slow
@pytest.mark.parametrize("is_blind", [False, True], ids=["warm", "blind"])
async def test_transfers(desks: list[Desk], is_blind: bool) -> None:
    async def colleague(phone: phones.EmulatedPhone) -> None:
        await phone.wait_seconds(1.5)
        await phone.say_text("Good morning.")
        phone.hang_up()

    server = desks[0].server
    mode = "blind" if is_blind else "warm"
    config = {"destination": AGENT, "timeout": 10, "mode": mode}
    tool = {"name": "Colleague", "definition": {"type": "transfer_call", "config": config}}
    made = await server.http.post("/tools/", json=tool)
    assert made.status_code == 200, made.text
    await server.publish(simple_agent(tool_uuids=[made.json()["tool_uuid"]]), **PATIENT)
    server.models.replies[:] = [calls("colleague"), takes("done")]

    async def test(desk: Desk) -> None:
        if isinstance(desk.carrier, TelnyxEmulator):
            next(iter(desk.carrier.applications.values()))["call_cost_in_webhooks"] = True
        desk.carrier.phones[AGENT] = phones.scripted(colleague)
        run, call = await desk.talked(phones.answers(SAID))
        assert (run["status"], run["outcome"], run["end_reason"]) == ("completed", "transferred", "transferred")
        other = next(leg for leg in desk.carrier.calls if leg.to_number == AGENT)
        await other.ended.wait()
        assert other.phone.said == ["Good morning."]
        # Some carriers keep the caller for what comes after a blind transfer.
        call.phone.hang_up()
        await desk.carrier.wait_settled()
        assert other.answered.is_set()
        assert call.errors == other.errors == desk.refused() == []
        if desk.carrier.name == "telnyx" or (desk.carrier.name in {"plivo", "vobiz", "vonage"} and not is_blind):
            bill = (await server.run(run["id"]))["carrier_bill"]
            assert float(bill["legs"][other.id]["cost"]) > 0, "what the other leg cost is told beside the call's own"

    await each(desks, test)
