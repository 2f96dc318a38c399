"""A real server on a real port with fake models, and a peer that speaks a carrier's media stream."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from offhook.kit.http.server import server_config
from offhook.models.ports import CallModels, Llm, SpeechToSpeech
from offhook.orgs import Caller
from offhook.root import Root
from offhook.runs import RunServices
from offhook.telephony.media.simulated_phone import SimulatedPhone
from offhook.telephony.providers.twilio.peer import TwilioPeer
from offhook.workflows import publication, service
from offhook.workflows.ports import NoTools
from tests import servers
from tests.applications import lend_application
from tests.fakes.calls import use_fakes
from tests.fakes.phone import LoudVoice
from tests.fakes.scripted import Hearing, Reply, ScriptedLlm, ScriptedStt, ScriptedTts, takes
from tests.fixtures_orgs import OrgFixture
from tests.servers import ProductServer
from tests.voice.phone import simple_agent


class AudibleTts(ScriptedTts):
    """A voice whose words the scripted recognizer hears: the one of the sandbox's callers."""

    def __init__(self, hearing: Hearing) -> None:
        super().__init__()
        self._hearing = hearing

    async def speak(self, text: str) -> AsyncIterator[bytes]:
        async for chunk in super().speak(text):
            yield chunk
        self._hearing.spoken.append(text)


class ScriptedModels:
    """Implements ModelSource for every call of this server: a recognizer that reads what the test's callers say.

    ``llm`` is the agents' model instead of the script of ``replies``, ``realtime`` the one that speaks itself."""

    def __init__(self) -> None:
        self.hearing = Hearing()
        self.replies: list[Reply] = [takes("done")]
        self.llm: Llm | None = None
        self.realtime: SpeechToSpeech | None = None

    def for_call(self, configurations: Mapping[str, Any]) -> CallModels:
        is_caller = "models" in configurations
        return CallModels(
            llm=(self.llm or ScriptedLlm(self.replies),),
            tts=(AudibleTts(self.hearing) if is_caller else ScriptedTts(s_per_char=0.02),),
            stt=(ScriptedStt(self.hearing),),
            realtime=None if is_caller else self.realtime,
        )

    async def for_request(self, organization_id: int, note: str) -> CallModels:
        return await self.for_organization(organization_id, {})

    async def for_organization(self, organization_id: int, configurations: Mapping[str, Any]) -> CallModels:
        return self.for_call(configurations)

    async def close(self) -> None:
        return None


class Call:
    """One caller on the media socket."""

    def __init__(self, peer: ClientConnection, hearing: Hearing) -> None:
        self.peer = peer
        self._outgoing: asyncio.Queue[str] = asyncio.Queue()
        self.wire = TwilioPeer(self._outgoing.put_nowait, stream_id="MZ1", call_id="CA1")
        self.line = SimulatedPhone(self.wire)
        self._voice = LoudVoice(hearing)
        self._tasks = [asyncio.create_task(work) for work in (self._send(), self._receive(), self.line.run())]
        self.wire.send_start()

    async def _send(self) -> None:
        with suppress(ConnectionClosed):
            while True:
                await self.peer.send(await self._outgoing.get())

    async def _receive(self) -> None:
        with suppress(ConnectionClosed):
            async for message in self.peer:
                self.line.on_message(message)
        self.line.stop()

    def sends(self, message: str) -> None:
        """Anything, also what no carrier would send."""
        self._outgoing.put_nowait(message)

    async def says(self, text: str) -> None:
        self.line.queue_speech(await self._voice.synthesize(text))

    async def hears_the_agent(self) -> None:
        """Wait until the agent has talked and stopped."""
        async with asyncio.timeout(60):
            while self.line.speech.first_loud_at is None or self.line.quiet_for() < 0.6:
                assert await self.line.next_frame(), "the call ended before the agent had talked"

    async def is_over(self) -> tuple[int, str]:
        """How the server closed the socket."""
        async with asyncio.timeout(60):
            await self.peer.wait_closed()
        return self.peer.close_code or 0, self.peer.close_reason or ""

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class LiveServer:
    """``http`` acts for one organization, which has one published agent."""

    def __init__(self, root: Root, url: str, org: OrgFixture, models: ScriptedModels) -> None:
        self.root = root
        self.url = url
        self.org = org
        self.models = models
        # Shorter than the server keeps an idle connection: it is never closed under a request.
        self.http = httpx2.AsyncClient(
            base_url=f"{url}/api/v1",
            headers=org.key_headers,
            trust_env=False,
            limits=httpx2.Limits(keepalive_expiry=1),
        )
        self.workflow_id = 0

    async def publish(self, definition: dict[str, Any], **configurations: Any) -> None:
        caller = Caller(self.org.id, self.org.user_ids["owner"], None, "owner", is_superuser=False)
        async with self.root.db.transaction() as session:
            workflow = await service.create_workflow(
                session, caller, "Agent", definition, configurations=configurations
            )
            await publication.publish_draft(session, NoTools(), caller, workflow.id)
        self.workflow_id = workflow.id

    async def waiting_run(self, mode: str = "twilio") -> tuple[int, str]:
        """``(run id, media address)`` of a run that waits for its media."""
        made = await self.http.post(f"/workflow/{self.workflow_id}/runs", json={"mode": mode})
        assert made.status_code == 200, made.text
        path = made.json()["media_url"].partition("/api/v1")[2]
        return made.json()["workflow_run_id"], f"ws{self.url.removeprefix('http')}/api/v1{path}"

    @asynccontextmanager
    async def call(self) -> AsyncIterator[tuple[int, Call]]:
        """A new run and a caller who is connected to it."""
        run_id, address = await self.waiting_run()
        async with self.connected(address) as call:
            yield run_id, call

    @asynccontextmanager
    async def connected(self, address: str) -> AsyncIterator[Call]:
        async with connect(address, close_timeout=0.2, compression=None, ping_interval=None, proxy=None) as peer:
            call = Call(peer, self.models.hearing)
            try:
                yield call
            finally:
                await call.close()

    async def run(self, run_id: int) -> dict[str, Any]:
        answer = await self.http.get(f"/workflow/{self.workflow_id}/runs/{run_id}")
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    async def finished(self, run_id: int) -> dict[str, Any]:
        async with asyncio.timeout(60):
            while (run := await self.run(run_id))["status"] in {"initiated", "ringing", "in_progress"}:
                await asyncio.sleep(0.05)
        return run

    async def has_nothing_left_to_write(self) -> None:
        """Waits for what is stored after a run is finished: its journal."""
        live = self.root.get(RunServices).live
        async with asyncio.timeout(60):
            while live.active_calls:
                await asyncio.sleep(0.01)

    async def recording(self, run_id: int, to: Path) -> Path:
        answer = await self.http.get(f"/workflow/{self.workflow_id}/runs/{run_id}/recording")
        assert answer.status_code == 200, answer.text
        to.write_bytes(answer.content)
        return to


@asynccontextmanager
async def serving(root: Root) -> AsyncIterator[str]:
    """The API of this root on a free loopback port."""
    with lend_application(root) as app:
        config = server_config(app, root.settings)

        async def nothing() -> None: ...

        server = ProductServer(config, on_ready=lambda: None, drain=nothing, before_shutdown=nothing)
        async with servers.serving(server) as address:
            yield f"http://{address}"


@pytest.fixture
async def server(root: Root, org: OrgFixture) -> AsyncIterator[LiveServer]:
    models = ScriptedModels()
    use_fakes(root, models)
    async with serving(root) as url:
        live = LiveServer(root, url, org, models)
        await live.publish(simple_agent())
        yield live
        await live.http.aclose()
