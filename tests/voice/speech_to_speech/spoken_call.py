"""Whole calls with a speech-to-speech model over a real WebSocket, on virtual time: both sides speak in tones."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any, Self

import numpy as np

from offhook.models.providers.gemini_live.model import GeminiLiveModel
from offhook.models.providers.gemini_live.wire import SPEAK_NOTE
from offhook.models.providers.nova_sonic.model import NovaSonicModel
from offhook.models.providers.openai_realtime.dialect import OpenAiRealtimeDialect
from offhook.models.providers.xai_voice.dialect import XaiVoiceDialect
from offhook.models.speech.realtime_events.model import RealtimeEventsModel
from offhook.models.vendors import ModelChoice
from offhook.voice import events
from offhook.voice.recording_switch import RecordingSwitch
from offhook_lab.speech.gemini_live import GeminiLiveServer
from offhook_lab.speech.nova_sonic import ACCESS_KEY_ID, NovaSonicServer
from offhook_lab.speech.openai_realtime import OpenAiVoiceModelServer
from offhook_lab.speech.realtime_conversation import ModelAnswer
from offhook_lab.speech.realtime_session import RealtimeEventsServer
from offhook_lab.speech.tones import ToneDetector, ToneLexicon, ToneWord, speak_tones
from offhook_lab.speech.voice_model_server import Answer, answers_in_turn
from offhook_lab.speech.xai_voice import XaiVoiceServer
from tests.fakes.clock import run_virtual
from tests.fakes.scripted import ScriptedLlm, says
from tests.fakes.voice import KeptLeg, KeptRecorder
from tests.voice.phone import LOUDNESS, Action, Call, agent_graph, edge, node

SURE = "Sure, for how many people shall I book it?"
LONG = "Well there are many things that I could tell you about this and I will tell you all of them one after another"
CASCADE = "The other model says this."
# Tones are for some hundred words: these calls have theirs, and leave those of other tests alone.
LEXICON = ToneLexicon()


def answer(text: str = "", *calls: str, **arguments: Any) -> ModelAnswer:
    return ModelAnswer(text, tuple((name, arguments) for name in calls))


def spoken_agent(**start: Any) -> dict[str, Any]:
    """The model greets and talks, and ends when the caller is done."""
    return agent_graph(
        node("start", "startCall", prompt="Help the caller.", **{"allow_interrupt": True, **start}),
        node("end", "endCall", prompt="Say goodbye.", say="Thank you, goodbye."),
        edge("start", "end", "Done", "The caller is done"),
    )


@dataclass
class SpokenCall(Call):
    """The caller speaks in tones, which the model hears; the scripted recognizer reads the words."""

    voice: bytearray = field(default_factory=bytearray)
    lexicon: ToneLexicon = LEXICON

    def says(self, text: str, *, at: float, for_s: float | None = None, loudness: float = LOUDNESS) -> Self:
        def speak(call: Call) -> None:
            self.hearing.spoken.append(text)
            self.voice.extend(self.leg.codec.encode(speak_tones(text, self.leg.codec.sample_rate, self.lexicon)))

        self.actions.append(Action(at, speak))
        return self

    def murmurs(self, text: str, *, at: float) -> Self:
        """Speak words that the recognizer does not understand."""

        def speak(call: Call) -> None:
            self.voice.extend(self.leg.codec.encode(speak_tones(text, self.leg.codec.sample_rate, self.lexicon)))

        self.actions.append(Action(at, speak))
        return self

    def _audio(self, now: float) -> bytes:
        size = self.leg.codec.frame_bytes
        frame = (bytes(self.voice[:size]) + self.leg.codec.silence_frame)[:size]
        del self.voice[:size]
        return frame

    @property
    def heard_by_the_caller(self) -> str:
        """The words in the frames that left, those of the scripted voice as ``?``."""
        codec = self.leg.codec
        ear = ToneDetector(codec.sample_rate, lexicon=self.lexicon)
        quiet = np.zeros(codec.sample_rate // 5, np.int16)
        line = np.concatenate([*(codec.decode(frame) for _, frame in self.leg.frames), quiet])
        return " ".join(item.text or "?" for item in ear.push_samples(line) if isinstance(item, ToneWord))

    def longest_gap_after(self, start: float) -> float:
        """Seconds between two frames of the agent's last answer, if it began after ``start``."""
        times = [at for at, _ in self.leg.frames if at >= self.started_at + start]
        return max(later - earlier for earlier, later in pairwise(times))

    @property
    def failures(self) -> list[str]:
        return [str(data["code"]) for data in self.sink.of(events.MODEL_FAILED)]

    @property
    def failovers(self) -> list[tuple[str, str]]:
        return [(str(data["from"]), str(data["to"])) for data in self.sink.of(events.FAILED_OVER)]

    @property
    def usage(self) -> dict[str, Any]:
        found = self.sink.of(events.USAGE_COUNTED)[0].get("realtime") or [{}]
        return dict(found[0])


@dataclass
class Vendor:
    """The emulator, and the port that uses it."""

    server: Any
    model: Any

    async def carry(self, call: SpokenCall) -> SpokenCall:
        """Carries a call to its end; ``call.llms`` take over when the model fails."""
        call.realtime = self.model
        call.llms = call.llms or [ScriptedLlm([], afterwards=says(CASCADE))]
        call.result = await call._run()
        return call

    @property
    def remembered_lines(self) -> list[tuple[str, str]]:
        """Who said what, as the vendor remembers it, without what only makes its model speak."""
        lines: list[tuple[str, str]] = self.server.conversation.remembered_lines()
        return [line for line in lines if line[1] != SPEAK_NOTE]

    def knows(self, text: str) -> bool:
        """Returns whether the newest session has this text, in whatever kind of entry, once."""
        return sum(text in (entry.text or "") for entry in self.server.conversation.entries) == 1


@dataclass(frozen=True)
class VendorKind:
    """One vendor: its emulator, its port, and a model with a voice; ``spoken_unit`` is what its speech is charged by."""

    provider: str
    model: str
    voice: str
    server: Callable[..., Any]
    port: Callable[[ModelChoice], Any]
    spoken_unit: str = "audio_output_tokens"
    access_key_id: str = ""

    @asynccontextmanager
    async def open(self, *answers: ModelAnswer, model: str = "", key: str = "lab-key") -> AsyncIterator[Vendor]:
        script = answers or (answer("Hello, how can I help?"), answer(SURE))
        async with self.open_with(answers_in_turn(*script), model=model, key=key) as vendor:
            yield vendor

    @asynccontextmanager
    async def open_with(
        self, answer_model: Answer, *, model: str = "", key: str = "lab-key", lexicon: ToneLexicon = LEXICON
    ) -> AsyncIterator[Vendor]:
        """Opens the vendor with a model that decides itself what it answers."""
        async with self.server(answer_model, lexicon).running() as server:
            name, url = model or self.model, server.base_url
            choice = ModelChoice("realtime", self.provider, name, key, url, is_own_network=True, voice_id=self.voice)
            yield Vendor(server, self.port(replace(choice, access_key_id=self.access_key_id)))


OpenVendor = Callable[..., AbstractAsyncContextManager[Vendor]]
OPENAI = VendorKind(
    "openai_realtime",
    "gpt-realtime-2",
    "marin",
    OpenAiVoiceModelServer,
    partial(RealtimeEventsModel, OpenAiRealtimeDialect()),
)
GEMINI = VendorKind("gemini_live", "gemini-3.8-live", "Kore", GeminiLiveServer, GeminiLiveModel)
XAI = VendorKind(
    "xai_voice",
    "grok-voice-think-fast-2.0",
    "eve",
    XaiVoiceServer,
    partial(RealtimeEventsModel, XaiVoiceDialect()),
    spoken_unit="seconds",
)
NOVA = VendorKind(
    "nova_sonic",
    "amazon.nova-2-sonic-v1:0",
    "tiffany",
    NovaSonicServer,
    NovaSonicModel,
    access_key_id=ACCESS_KEY_ID,
)
VENDORS = (OPENAI, GEMINI, XAI, NOVA)


def on_a_line(scenario: Callable[[], Any]) -> None:
    """Runs a scenario with real sockets on virtual time."""
    run_virtual(scenario(), has_sockets=True, limit_s=6000)


def recorded_call(definition: dict[str, Any], leg: KeptLeg | None = None) -> tuple[SpokenCall, KeptRecorder]:
    recorder = KeptRecorder()
    call = SpokenCall(definition, leg=leg or KeptLeg(), recording=RecordingSwitch(recorder))
    return call, recorder


def sent(server: RealtimeEventsServer, kind: str) -> Sequence[dict[str, Any]]:
    return [message for message in server.messages if message["type"] == kind]
