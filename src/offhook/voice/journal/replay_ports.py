"""The ports of a replay: they answer what the journal has, and observe what the call asks for."""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, TypeVar, cast

import numpy as np

from offhook.kit.audio import Codec, Samples
from offhook.knowledge.passages import KnowledgePassage
from offhook.models.ports import Expectation, LlmEvent, LlmRequest, ModelRef, SttEvent, SttStream
from offhook.voice.events import VoiceEvent
from offhook.voice.journal.answers import (
    FAILED,
    OVER,
    decode_error,
    decode_llm_event,
    decode_stt_event,
)
from offhook.voice.journal.tape_player import TapePlayer
from offhook.voice.ports import (
    AgentTool,
    AgentToolbox,
    EndCallRequest,
    HandoverFailed,
    OnWindow,
    RecordedSound,
    ToolError,
    VadStream,
)

T = TypeVar("T")
Observe = Callable[[str, Any], None]


class ReplayAnswers:
    """Names the requests of a replay as those of the call were named. ``observe`` gets what is asked."""

    def __init__(self, player: TapePlayer, observe: Observe) -> None:
        self.player = player
        self.observe = observe
        self._requests: Counter[str] = Counter()

    def begin(self, port: str) -> str:
        self.player.time()
        return self.name(port)

    def name(self, port: str) -> str:
        self._requests[port] += 1
        return f"{port}:{self._requests[port]}"

    async def stream(self, request: str, decode: Callable[[Any], T]) -> AsyncIterator[T]:
        """Yields what a streamed answer brought. Raises ModelError as the model did."""
        try:
            while True:
                what, value = await self.player.next_answer(request)
                if what == OVER:
                    return
                if what == FAILED:
                    raise decode_error(value)
                yield decode(value)
        finally:
            await self.player.wait_closed(request)

    async def call(self, port: str) -> None:
        """Waits as long as the work of this port took. Raises HandoverFailed as a transfer did."""
        what, value = await self.player.next_answer(self.begin(port))
        if what == FAILED:
            raise HandoverFailed(str(value))


@dataclass(frozen=True, slots=True)
class ReplayLlm:
    """Implements Llm."""

    model_ref: ModelRef
    answers: ReplayAnswers

    def stream(self, request: LlmRequest) -> AsyncIterator[LlmEvent]:
        self.answers.observe("asked_model", describe_request(request))
        return self.answers.stream(self.answers.begin("llm"), decode_llm_event)


def describe_request(request: LlmRequest) -> Any:
    """Returns what a model is asked, as JSON."""
    return {
        "messages": [[message.role, message.content] for message in request.messages],
        "tools": [asdict(tool) for tool in request.tools],
        "temperature": request.temperature,
        "response_schema": request.response_schema,
    }


@dataclass(frozen=True)
class ReplayTts:
    """Implements Tts: silence as long as the speech was."""

    model_ref: ModelRef
    sample_rate: int
    answers: ReplayAnswers

    def speak(self, text: str) -> AsyncIterator[bytes]:
        self.answers.observe("spoke", {"text": text})
        return self.answers.stream(self.answers.begin("tts"), bytes)


@dataclass(frozen=True, slots=True)
class ReplayStt:
    """Implements Stt."""

    model_ref: ModelRef
    has_endpointing: bool
    answers: ReplayAnswers
    # no detector is asked in a replay: what one said is in the journal
    judges_turns: bool = False

    async def open_stream(self, *, sample_rate: int, language: str) -> SttStream:
        what, value = await self.answers.player.next_answer(self.answers.begin("stt"))
        if what == FAILED:
            raise decode_error(value)
        return _ReplaySttStream(self.answers)


class _ReplaySttStream:
    def __init__(self, answers: ReplayAnswers) -> None:
        self._answers = answers

    def push_audio(self, pcm: bytes) -> None: ...

    def speech_started(self) -> None: ...

    def speech_ended(self) -> None: ...

    def set_expectation(self, expectation: Expectation) -> None: ...

    def events(self) -> AsyncIterator[SttEvent]:
        return self._answers.stream(self._answers.begin("heard"), decode_stt_event)

    async def close(self) -> None:
        await self._answers.call("stt_close")


class ReplayTool:
    """Implements AgentTool: looks like the tool of the agent and answers what it answered in the call."""

    def __init__(self, tool: AgentTool, answers: ReplayAnswers) -> None:
        self._tool = tool
        self._answers = answers

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tool, name)

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        what, value = await self._answers.player.next_answer(self._answers.begin("tool"))
        if what == FAILED:
            raise ToolError(str(value))
        if "end" not in value:
            return value["result"]
        facts = value["end"]
        return EndCallRequest(
            facts["result"],
            reason=facts["reason"],
            outcome=facts["outcome"],
            tags=tuple(facts["tags"]),
            gathered_context=facts["gathered_context"],
            handover=self._work("handover") if value["handover"] else None,
            abandon=self._work("abandon") if value["abandon"] else None,
        )

    def _work(self, port: str) -> Callable[[], Awaitable[None]]:
        async def wait_for_work() -> None:
            await self._answers.call(port)

        return wait_for_work


class JournalToolbox:
    """Implements AgentToolbox over the agent's own one."""

    def __init__(self, toolbox: AgentToolbox, answers: ReplayAnswers) -> None:
        self._toolbox = toolbox
        self._answers = answers

    def for_node(
        self, tool_uuids: Sequence[str], mcp_filters: Mapping[str, Sequence[str]] | None = None
    ) -> Sequence[AgentTool]:
        tools = self._toolbox.for_node(tool_uuids, mcp_filters)
        return [cast(AgentTool, ReplayTool(tool, self._answers)) for tool in tools]


@dataclass(frozen=True, slots=True)
class ReplaySounds:
    """Implements SoundLibrary: silence as long as the recording was."""

    answers: ReplayAnswers

    async def find_sound(self, recording_id: str, sample_rate: int) -> RecordedSound | None:
        name = self.answers.name(f"sound {recording_id}")
        _, value = await self.answers.player.next_answer(name)
        return None if value is None else RecordedSound(recording_id, value[0], np.zeros(value[1], np.int16))


@dataclass(frozen=True, slots=True)
class ReplayKnowledge:
    """Implements KnowledgeSource."""

    answers: ReplayAnswers

    async def find_passages(self, document_refs: Sequence[str], question: str) -> Sequence[KnowledgePassage]:
        self.answers.observe("asked_documents", {"documents": list(document_refs), "question": question})
        _, value = await self.answers.player.next_answer(self.answers.begin("passages"))
        return [KnowledgePassage(**passage) for passage in value]


class ReplayLeg:
    """Implements CallLeg without a listener."""

    def __init__(self, codec: Codec, answers: ReplayAnswers, *, confirms_playback: bool) -> None:
        self.codec = codec
        self.confirms_playback = confirms_playback
        self._answers = answers

    def send_frame(self, payload: bytes) -> None: ...

    def send_mark(self, name: str) -> None: ...

    def clear_buffer(self) -> None: ...

    def send_event(self, event: VoiceEvent) -> None: ...

    async def hang_up(self) -> None:
        await self._answers.call("hang_up")


@dataclass(frozen=True, slots=True)
class SilentCodec(Codec):
    """Audio of the same lengths as that of ``codec``, all of it silence: a journal has nothing of how it sounded."""

    sample_bytes: int

    @classmethod
    def of(cls, codec: Codec) -> "SilentCodec":
        sample_bytes = codec.frame_bytes * 50 // codec.sample_rate
        return cls(codec.name, codec.sample_rate, codec.frame_bytes, codec.silence_frame, sample_bytes)

    def decode(self, payload: bytes) -> Samples:
        return _silent_samples(len(payload) // self.sample_bytes)

    def encode(self, samples: Samples) -> bytes:
        return repeat_frame(self.silence_frame, samples.size * self.sample_bytes)


@lru_cache(maxsize=256)
def repeat_frame(frame: bytes, size: int) -> bytes:
    """Returns ``size`` bytes of nothing but this frame."""
    return (frame * (size // len(frame) + 1))[:size]


@lru_cache(maxsize=256)
def _silent_samples(count: int) -> Samples:
    """Returns zeros that all callers share, and cannot write to."""
    return np.frombuffer(bytes(count * 2), np.int16)


class ReplayVad:
    """Implements VadEngine: the windows come from the journal."""

    def __init__(self, player: TapePlayer, window_s: float) -> None:
        self._player = player
        self._window_s = window_s
        self._on_window: OnWindow | None = None

    def open_stream(self, on_window: OnWindow) -> VadStream:
        self._on_window = on_window
        return self

    def push(self, samples_8k: Any) -> None:
        while (probability := self._player.take_window()) is not None:
            self.give_window(probability)

    def give_window(self, probability: float) -> None:
        if self._on_window is not None:
            self._on_window(probability, self._window_s)

    def close(self) -> None:
        self._on_window = None
