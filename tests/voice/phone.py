"""A caller on virtual time: ``caller.says("I want to cancel", at=1.2)``, and what the agent answered."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np

from offhook.kit.audio import Codec
from offhook.models.ports import CallModels, Llm, SpeechToSpeech, Stt, Tts
from offhook.voice import events
from offhook.voice.call_context import CallAgent
from offhook.voice.call_state import ResumedCall
from offhook.voice.config import CallConfig
from offhook.voice.ports import (
    AgentToolbox,
    CallResult,
    EmptyKnowledgeSource,
    EmptySoundLibrary,
    KnowledgeSource,
    SoundLibrary,
    TurnDetector,
)
from offhook.voice.recording_switch import RecordingSwitch
from offhook.voice.session import CallSession
from offhook.workflows.graph import parse_graph
from tests.fakes.clock import run_virtual
from tests.fakes.scripted import Hearing, Reply, ScriptedLlm, ScriptedStt, ScriptedTts
from tests.fakes.voice import KeptEvents, KeptLeg, LoudnessVad, Tools

S_PER_WORD = 0.3
VOICE_HZ = 382
LOUDNESS = 8000
# What makes a voice bright: without it, and quieter, somebody seems to have turned away from the handset.
OVERTONE_HZ = 4 * VOICE_HZ


def hum(codec: Codec, from_s: float, hz: float = VOICE_HZ, peak: float = LOUDNESS, brightness: float = 0.0) -> bytes:
    """20 ms of a tone that goes on seamlessly from frame to frame; ``brightness`` is the overtone's share of the peak."""
    at = from_s + np.arange(codec.sample_rate // 50) / codec.sample_rate
    tone = (1 - brightness) * np.sin(2 * np.pi * hz * at) + brightness * np.sin(2 * np.pi * OVERTONE_HZ * at)
    return codec.encode((tone * peak).astype(np.int16))


@dataclass
class Action:
    at: float
    do: Callable[["Call"], None]


@dataclass
class Call:
    """One call: what the caller does by the clock, and everything that came of it."""

    definition: dict[str, Any]
    replies: Sequence[Reply] = ()
    configurations: dict[str, Any] = field(default_factory=dict)
    context: dict[str, Any] = field(default_factory=dict)
    tools: AgentToolbox = field(default_factory=Tools)
    hearing: Hearing = field(default_factory=Hearing)
    llms: Sequence[Llm] = ()
    ttss: Sequence[Tts] = ()
    stts: Sequence[Stt] = ()
    realtime: SpeechToSpeech | None = None
    leg: KeptLeg = field(default_factory=KeptLeg)
    sink: KeptEvents = field(default_factory=KeptEvents)
    actions: list[Action] = field(default_factory=list)
    hangs_up_at: float = 60.0
    sends_audio: bool = True
    # the peak of a steady sound on the line, which the voice detector takes for speech above 1000
    murmur: float = 0.0
    # from 0 to 1, of what is said at full loudness: who turns away is quieter and duller
    brightness: float = 0.0
    result: CallResult | None = None
    started_at: float = 0.0
    recording: RecordingSwitch | None = None
    sounds: SoundLibrary = field(default_factory=EmptySoundLibrary)
    knowledge: KnowledgeSource = field(default_factory=EmptyKnowledgeSource)
    turn_detector: TurnDetector | None = None
    # longer than the settings allow
    max_duration_s: float | None = None
    language: str = "en-US"
    resumed: ResumedCall | None = None
    by_language: Mapping[str, CallModels] = field(default_factory=dict)
    _loud_until: float = -1.0
    _loudness: float = LOUDNESS
    _beeps: tuple[float, float] = (-1.0, 0.0)
    _session: CallSession | None = None

    # -- the caller's part ----------------------------------------------------------------------------------------

    def says(self, text: str, *, at: float, for_s: float | None = None, loudness: float = LOUDNESS) -> Self:
        """Speak ``text`` from second ``at`` on; ``loudness`` is the peak of the samples."""

        def speak(call: Call) -> None:
            call.hearing.spoken.append(text)
            call._loudness = loudness
            call._loud_until = at + (for_s or max(0.4, len(text.split()) * S_PER_WORD))

        self.actions.append(Action(at, speak))
        return self

    def mumbles(self, *, at: float, for_s: float = 0.6) -> Self:
        """Make speech-like noise that nobody can recognize."""

        def mumble(call: Call) -> None:
            call._loud_until = at + for_s

        self.actions.append(Action(at, mumble))
        return self

    def beeps(self, *, at: float, for_s: float = 0.4, hz: float = 1000) -> Self:
        """The tone of an answering machine."""

        def beep(call: Call) -> None:
            call._beeps = (at + for_s, hz)

        self.actions.append(Action(at, beep))
        return self

    def presses(self, digits: str, *, at: float) -> Self:
        for index, digit in enumerate(digits):
            self.actions.append(Action(at + index * 0.3, partial(_press, digit)))
        return self

    def does(self, action: Callable[["Call"], None], *, at: float) -> Self:
        self.actions.append(Action(at, action))
        return self

    def hangs_up(self, *, at: float) -> Self:
        self.hangs_up_at = at
        return self

    # -- the call -------------------------------------------------------------------------------------------------

    @property
    def session(self) -> CallSession:
        assert self._session is not None
        return self._session

    def run(self) -> Self:
        self.result = run_virtual(self._run())
        return self

    async def _run(self) -> CallResult:
        loop = asyncio.get_running_loop()
        self.started_at = loop.time()
        models = CallModels(
            llm=tuple(self.llms) or (ScriptedLlm(self.replies),),
            tts=tuple(self.ttss) or (ScriptedTts(),),
            stt=tuple(self.stts) or (ScriptedStt(self.hearing),),
            realtime=self.realtime,
            language=self.language,
            by_language=self.by_language,
        )
        config = CallConfig.from_configurations(self.configurations)
        if self.max_duration_s is not None:
            config = replace(config, max_duration_s=self.max_duration_s)
        agent = CallAgent(
            parse_graph(self.definition),
            config,
            self.tools,
            dict(self.context),
            self.sounds,
            self.knowledge,
            turn_detector=self.turn_detector,
        )
        self._session = CallSession(
            agent=agent,
            leg=self.leg,
            models=models,
            sink=self.sink,
            vad=LoudnessVad(),
            recording=self.recording,
            resumed=self.resumed,
        )
        self.leg.on_mark = self._session.feed_mark
        caller = asyncio.create_task(self._caller(loop))
        try:
            return await self._session.run()
        finally:
            caller.cancel()

    async def _caller(self, loop: asyncio.AbstractEventLoop) -> None:
        waiting = sorted(self.actions, key=lambda action: action.at)
        frame = 0
        while True:
            now = frame * 0.02
            while waiting and waiting[0].at <= now:
                waiting.pop(0).do(self)
            if now >= self.hangs_up_at:
                self.session.end_call("caller_hung_up")
                return
            if self.sends_audio:
                self.session.feed_audio(self._audio(now))
            frame += 1
            await asyncio.sleep(self.started_at + frame * 0.02 - loop.time())

    def _audio(self, now: float) -> bytes:
        if now < self._beeps[0]:
            return hum(self.leg.codec, now, self._beeps[1])
        if now < self._loud_until:
            brightness = self.brightness if self._loudness >= LOUDNESS else 0.0
            return hum(self.leg.codec, now, VOICE_HZ, self._loudness, brightness)
        return hum(self.leg.codec, now, VOICE_HZ, self.murmur) if self.murmur else self.leg.codec.silence_frame

    # -- what came of it ------------------------------------------------------------------------------------------

    @property
    def transcript(self) -> list[tuple[str, str]]:
        """("agent" | "caller", words) in order."""
        who = {events.AGENT_SAID: "agent", events.CALLER_SAID: "caller"}
        return [(who[event.type], str(event.data["text"])) for event in self.sink.events if event.type in who]

    @property
    def agent_said(self) -> list[str]:
        return [text for who, text in self.transcript if who == "agent"]

    def heard_within(self, start: float, seconds: float) -> bool:
        """Whether a frame of the agent left in [start, start + seconds)."""
        begin = self.started_at + start
        return any(begin <= at < begin + seconds for at, _ in self.leg.frames)

    def longest_silence_after(self, start: float) -> float:
        """Seconds from ``start`` until the next frame of the agent."""
        begin = self.started_at + start
        return next((at - begin for at, _ in self.leg.frames if at >= begin), float("inf"))


def _press(digit: str, call: Call) -> None:
    call.session.feed_digit(digit)


def node(node_id: str, kind: str, **data: Any) -> dict[str, Any]:
    return {"id": node_id, "type": kind, "position": {"x": 0, "y": 0}, "data": {"name": node_id, **data}}


def edge(source: str, target: str, label: str, condition: str = "it fits", **data: Any) -> dict[str, Any]:
    return {
        "id": f"{source}-{target}",
        "source": source,
        "target": target,
        "data": {"label": label, "condition": condition, **data},
    }


def agent_graph(*nodes_and_edges: dict[str, Any]) -> dict[str, Any]:
    return {
        "nodes": [item for item in nodes_and_edges if "source" not in item],
        "edges": [item for item in nodes_and_edges if "source" in item],
    }


def simple_agent(**start: Any) -> dict[str, Any]:
    """Greets, talks, and ends when the caller is done."""
    return agent_graph(
        node(
            "start",
            "startCall",
            **{
                "prompt": "Help the caller.",
                "greeting": "Hello, how can I help?",
                "allow_interrupt": True,
                **start,
            },
        ),
        node("end", "endCall", prompt="Say goodbye.", say="Thank you, goodbye."),
        edge("start", "end", "Done", "The caller is done"),
    )
