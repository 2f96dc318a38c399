"""A call whose line to us breaks: its carrier asks again, and this process or another one goes on with it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from offhook.bootstrap import build_root, stop_domains
from offhook.root import Root
from offhook.runs import LiveCallRegistry
from offhook.runs.tables import LiveCallState
from offhook.settings import Settings
from offhook.telephony.accounts.public_urls import PublicAddress
from offhook.voice import events
from offhook_lab.carriers import CarrierEmulator, EmulatedCall, ProxyTunnel, phones
from offhook_lab.carriers.core.stream import MediaStream
from tests.calls.carrier_desk import OURS, PUBLIC, THEIRS, prepare
from tests.calls.conftest import LiveServer, ScriptedModels, serving
from tests.calls.desks import Desk, account
from tests.fakes.calls import use_fakes, wait_until_idle
from tests.fakes.phone import LoudVoice
from tests.fakes.scripted import says, takes
from tests.quick import first_quick
from tests.telephony.emulator_desk import EMULATORS
from tests.voice.phone import agent_graph, edge, node, simple_agent

pytestmark = [pytest.mark.real_time, pytest.mark.timeout(120)]

SORRY = "Sorry, we were cut off for a moment."
QUESTION = "Which day of the week suits you best?"
PATIENT = {"max_user_idle_timeout": 600}
TWO_STEPS = agent_graph(
    node("start", "startCall", prompt="Help.", greeting="Good day, how can I help you?", allow_interrupt=True),
    node("day", "agentNode", prompt="Ask for a day.", say=QUESTION, allow_interrupt=True),
    node("end", "endCall", prompt="Say goodbye.", say="Thank you, goodbye."),
    edge("start", "day", "Visit", "The caller wants a visit"),
    edge("day", "end", "Done", "The day is known"),
)


@pytest.fixture
async def carrier(request: pytest.FixtureRequest) -> AsyncIterator[CarrierEmulator]:
    async with EMULATORS[getattr(request, "param", "twilio")]().running() as running:
        prepare(running)
        yield running


@pytest.fixture
def shared(settings: Settings, carrier: CarrierEmulator) -> Settings:
    changes = {"public_url": PUBLIC, "carrier_urls": {carrier.name: carrier.base_url}, "run_lease_s": 3.0}
    return settings.model_copy(update=changes)


@pytest.fixture
async def root(shared: Settings, database_url: str) -> AsyncIterator[Root]:
    built = build_root(shared, database_url)
    yield built
    await stop_domains(built)
    await built.db.dispose()


@pytest.fixture
async def desk(server: LiveServer, carrier: CarrierEmulator) -> Desk:
    await server.publish(TWO_STEPS, **PATIENT)
    server.models.replies = [takes("visit")]
    found = await account(server, carrier)
    carrier.voice = LoudVoice(server.models.hearing).synthesize
    return found


@asynccontextmanager
async def second_process(desk: Desk, settings: Settings, database_url: str) -> AsyncIterator[Root]:
    """Another process of the installation, to which the balancer sends whatever comes from now on."""
    built = build_root(settings, database_url)
    models = ScriptedModels()
    models.hearing, models.replies = desk.server.models.hearing, [takes("done")]
    use_fakes(built, models)
    async with serving(built) as url:
        desk.carrier.callback_sender.tunnels[:] = [ProxyTunnel(PUBLIC, url)]
        yield built
    await stop_domains(built)
    await built.db.dispose()


def wait_long_for_the_carrier(root: Root) -> None:
    """On a busy machine it takes more than seconds to ask again."""
    root.get(LiveCallRegistry).handovers.reconnect_timeout_s = 60.0


def cut_line(call: EmulatedCall) -> None:
    """Breaks the media socket, as the death of our process does."""
    stream = call.stream
    assert isinstance(stream, MediaStream)
    stream.drop_connection()


def event_types(run: dict[str, Any]) -> list[str]:
    return [event["type"] for event in run["events"]]


def agent_texts(run: dict[str, Any]) -> list[str]:
    return [line["text"] for line in run["transcript"] if line["role"] == "agent"]


async def kept_states(root: Root) -> int:
    async with root.db.transaction() as session:
        return await session.scalar(select(func.count()).select_from(LiveCallState)) or 0


@pytest.mark.parametrize("carrier", first_quick(["twilio", "plivo", "telnyx", "vobiz", "vonage"]), indirect=True)
async def test_another_process_goes_on_at_the_same_step(
    desk: Desk, carrier: CarrierEmulator, shared: Settings, database_url: str, tmp_path: Path
) -> None:
    heard, moved = asyncio.Event(), asyncio.Event()

    async def person(phone: phones.EmulatedPhone) -> None:
        await phone.wait_for_speech_end()
        await phone.say_text("I want a visit.")
        await phone.wait_for_speech_end()
        heard.set()
        await moved.wait()
        await phone.wait_for_speech_end()
        await phone.say_text("On Monday.")

    root = desk.server.root
    wait_long_for_the_carrier(root)
    call = carrier.call_in(THEIRS, OURS, phones.scripted(person))
    async with asyncio.timeout(30):
        await heard.wait()
    before = root.get(LiveCallRegistry).active_calls
    async with second_process(desk, shared, database_url) as other:
        cut_line(call)
        async with asyncio.timeout(60):
            while other.get(LiveCallRegistry).active_calls == 0:
                await asyncio.sleep(0.02)
        moved.set()
        run = await desk.came(call)
        await wait_until_idle(root.get(LiveCallRegistry))
        await carrier.wait_settled()
    assert before == 1
    assert (run["status"], run["outcome"], run["end_reason"]) == ("completed", "answered", "agent_ended")
    assert agent_texts(run) == ["Good day, how can I help you?", QUESTION, SORRY, "Thank you, goodbye."]
    assert [line["text"] for line in run["transcript"] if line["role"] == "caller"] == ["I want a visit.", "On Monday."]
    happened = event_types(run)
    assert happened.count(events.CALL_STARTED) == happened.count(events.CALL_RESUMED) == 1
    assert happened.count(events.CALL_ENDED) == happened.count(events.USAGE_COUNTED) == 1
    times = [event["at_ms"] for event in run["events"]]
    assert times == sorted(times), "one clock for both processes"
    assert run["gathered_context"]["nodes_visited"] == ["start", "day", "end"]
    # the prompts of both processes, each once: 10 tokens a request
    asked = 2
    assert run["usage"]["llm"][0]["prompt_tokens"] == 10 * asked
    assert await kept_states(root) == 0
    assert call.errors == desk.refused() == []
    assert (await desk.server.recording(run["id"], tmp_path / "call.wav")).stat().st_size > 44


async def test_the_same_process_takes_up_a_call_whose_line_broke(desk: Desk, carrier: CarrierEmulator) -> None:
    await desk.server.publish(simple_agent(), **PATIENT)
    desk.server.models.replies = [says("We open at nine."), takes("done")]
    wait_long_for_the_carrier(desk.server.root)
    heard = asyncio.Event()

    async def person(phone: phones.EmulatedPhone) -> None:
        await phone.wait_for_speech_end()
        heard.set()
        await phone.wait_for_speech()
        await phone.wait_for_speech_end()
        phone.hang_up()

    carrier.phones[THEIRS] = phones.scripted(person)
    run_id = await desk.dial(THEIRS)
    async with asyncio.timeout(30):
        await heard.wait()
    cut_line(carrier.calls[-1])
    run = await desk.finished(run_id)
    assert (run["status"], run["end_reason"]) == ("completed", "caller_hung_up")
    assert agent_texts(run) == ["Hello, how can I help?", SORRY]
    await wait_until_idle(desk.server.root.get(LiveCallRegistry))
    await strangers_ask(desk, run_id)


async def strangers_ask(desk: Desk, run_id: int) -> None:
    """The address of the carrier's question, without its signature or its secret, and with what it never asks."""
    secret = desk.server.root.get(PublicAddress).run_secret(run_id)
    answers = {
        f"twilio/{run_id}/1": 401,
        f"twilio/{run_id}/1?token={secret}": 401,
        f"twilio/{run_id + 1000}/1?token={secret}": 404,
        f"telnyx/{run_id}/1?token={secret}": 404,
        f"nobody/{run_id}/1?token={secret}": 404,
        f"twilio/{run_id}/0?token={secret}": 404,
        f"twilio/{run_id}/99?token={secret}": 404,
    }
    asked = {path: (await desk.server.http.post(f"/telephony/resume/{path}")).status_code for path in answers}
    assert asked == answers


async def test_a_call_that_nobody_takes_up_has_lost_its_media(desk: Desk, carrier: CarrierEmulator) -> None:
    """The carrier cannot reach us at all, and has ended the call when it says so."""
    heard = asyncio.Event()

    async def person(phone: phones.EmulatedPhone) -> None:
        await phone.wait_for_speech_end()
        heard.set()

    call = carrier.call_in(THEIRS, OURS, phones.scripted(person))
    async with asyncio.timeout(30):
        await heard.wait()
    carrier.callback_sender.tunnels[:] = [ProxyTunnel(PUBLIC, "http://127.0.0.1:1")]
    cut_line(call)
    run = await desk.came(call)
    assert (run["status"], run["end_reason"]) == ("failed", "media_lost")
    assert await kept_states(desk.server.root) == 0
