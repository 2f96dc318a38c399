"""The sandbox's telephone network around a voice loop on virtual time: no database, no server, no sound card."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from offhook.kit.audio import MULAW_8K
from offhook.models.ports import CallModels
from offhook.runs.states import can_move
from offhook.telephony.media.leg import EventListener, MediaLeg
from offhook.telephony.media.session import OpenMedia
from offhook.telephony.ports import CarrierAccount, DialRequest, StatusUpdate
from offhook.telephony.providers.sandbox.call_script import CallScript, read_script
from offhook.telephony.providers.sandbox.network import CallRecord, SandboxNetwork
from offhook.telephony.providers.sandbox.wire import SandboxWire
from offhook.voice import events
from offhook.voice.call_context import CallAgent
from offhook.voice.config import CallConfig
from offhook.voice.ports import CallResult
from offhook.voice.session import CallSession
from offhook.workflows.graph import parse_graph
from tests.fakes.clock import run_virtual
from tests.fakes.media_session import ConnectedSession
from tests.fakes.scripted import Hearing, Reply, ScriptedLlm, ScriptedStt, ScriptedTts
from tests.fakes.voice import KeptEvents, LoudnessVad, Tools

S_PER_WORD = 0.3


class LoudVoice:
    """Implements CallerVoice: a tone of 0.3 s a word, and its words for the scripted recognizer."""

    def __init__(self, hearing: Hearing | None = None) -> None:
        self._hearing = hearing or Hearing()
        self.said: list[str] = []

    async def synthesize(self, text: str) -> bytes:
        self.said.append(text)
        self._hearing.spoken.append(text)
        samples = np.sin(np.arange(int(8000 * S_PER_WORD * len(text.split()))) * 0.3) * 8000
        return MULAW_8K.encode(samples.astype(np.int16))


class KeptCallLog:
    """Implements the network's CallLog in memory."""

    def __init__(self) -> None:
        self.records: dict[str, CallRecord] = {}

    async def record_call(self, record: CallRecord) -> None:
        self.records[record.call_id] = record

    async def record_end(self, call_id: str, status: str) -> None:
        self.records[call_id] = replace(self.records[call_id], status=status, is_over=True)

    async def find_by_run(self, organization_id: int, run_id: int) -> CallRecord | None:
        return next((record for record in self.records.values() if record.run_id == run_id), None)


@dataclass
class SandboxCall:
    """One outbound call to a sandbox number, and everything that came of it."""

    definition: dict[str, Any]
    number: str
    replies: Sequence[Reply] = ()
    configurations: dict[str, Any] = field(default_factory=dict)
    network: dict[str, Any] = field(default_factory=dict)
    sink: KeptEvents = field(default_factory=KeptEvents)
    statuses: list[str] = field(default_factory=list)
    status_times: dict[str, float] = field(default_factory=dict)
    result: CallResult | None = None
    hearing: Hearing = field(default_factory=Hearing)
    hang_up_at: float | None = None

    def __post_init__(self) -> None:
        self.voice = LoudVoice(self.hearing)

    def run(self) -> "SandboxCall":
        run_virtual(self._run())
        return self

    async def _run(self) -> None:
        began = asyncio.get_running_loop().time()
        self._began = began
        network = SandboxNetwork(self, self.voice, KeptCallLog())
        account = CarrierAccount(1, "sandbox", config=self.network)
        call_id = await network.place_call(account, DialRequest(7, self.number, "+12015550100", "token"))
        if self.hang_up_at is not None:
            await asyncio.sleep(self.hang_up_at)
            await network.hang_up(account, call_id)
        while not self.statuses or can_move(self.statuses[-1], "failed"):
            await asyncio.sleep(0.5)
        # the network forgets a call only after its last report
        await asyncio.sleep(1)
        await network.close()

    # Exchange

    async def start_ringing(self, run_id: int) -> None: ...

    def stop_ringing(self, run_id: int) -> None: ...

    async def report_status(self, organization_id: int, run_id: int, update: StatusUpdate) -> bool:
        moved = can_move(self.statuses[-1] if self.statuses else "initiated", update.status)
        if moved:
            self.statuses.append(update.status)
            self.status_times[update.status] = asyncio.get_running_loop().time() - self._began
        return moved

    async def load_script(self, organization_id: int, run_id: int) -> CallScript:
        return read_script(self.definition)

    async def carry_media(
        self, organization_id: int, request: DialRequest, open_media: OpenMedia, listener: EventListener
    ) -> object:
        async def connect(leg: MediaLeg) -> Any:
            models = CallModels(
                llm=(ScriptedLlm(self.replies),), tts=(ScriptedTts(),), stt=(ScriptedStt(self.hearing),)
            )
            agent = CallAgent(
                parse_graph(self.definition),
                CallConfig.from_configurations(self.configurations),
                Tools(),
                {"direction": "outbound"},
            )
            session = CallSession(agent=agent, leg=leg, models=models, sink=self.sink, vad=LoudnessVad())
            return SimpleNamespace(session=session, run=session.run)

        self.result = await ConnectedSession(SandboxWire(), connect, listener).carry_call(open_media)
        return self.result

    # what came of it

    @property
    def transcript(self) -> list[tuple[str, str]]:
        who = {events.AGENT_SAID: "agent", events.CALLER_SAID: "caller"}
        return [(who[event.type], str(event.data["text"])) for event in self.sink.events if event.type in who]

    @property
    def caller_said(self) -> list[str]:
        return [text for who, text in self.transcript if who == "caller"]

    @property
    def agent_said(self) -> list[str]:
        return [text for who, text in self.transcript if who == "agent"]

    @property
    def outcome(self) -> str | None:
        return self.result.outcome if self.result else None

    @property
    def end_reason(self) -> str | None:
        return self.result.end_reason if self.result else None
