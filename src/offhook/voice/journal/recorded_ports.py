"""The ports of a live call, with everything that comes through them noted in its journal."""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final, TypeVar, cast

from offhook.kit.audio import Codec
from offhook.knowledge.passages import KnowledgePassage
from offhook.models.ports import (
    CallModels,
    Expectation,
    LineTts,
    Llm,
    LlmEvent,
    LlmRequest,
    ModelError,
    ModelRef,
    PreparableLlm,
    Stt,
    SttEvent,
    SttStream,
    Tts,
)
from offhook.voice.call_context import CallAgent
from offhook.voice.events import VoiceEvent
from offhook.voice.journal.answers import (
    CLOSED,
    FAILED,
    ITEM,
    OVER,
    encode_error,
    encode_llm_event,
    encode_stt_event,
)
from offhook.voice.journal.kinds import ANSWER, WINDOW
from offhook.voice.journal.tape import CallTape
from offhook.voice.ports import (
    AgentTool,
    AgentToolbox,
    CallLeg,
    EndCallRequest,
    HandoverFailed,
    KnowledgeSource,
    OnWindow,
    RecordedSound,
    SoundLibrary,
    ToolError,
    VadEngine,
    VadStream,
)

T = TypeVar("T")
# Binary fractions, which the journal's four bytes hold exactly.
PROBABILITY_STEPS: Final = 256


class AnswerJournal:
    """Names the requests of one call, in their order, and notes what was answered."""

    def __init__(self, tape: CallTape) -> None:
        self._tape = tape
        self._requests: Counter[str] = Counter()

    def begin(self, port: str) -> str:
        """Returns the name of a new request. The call is seen to look at the clock then, as a replay is."""
        self._tape.time()
        return self.name(port)

    def name(self, port: str) -> str:
        self._requests[port] += 1
        return f"{port}:{self._requests[port]}"

    def note(self, request: str, what: str, value: Any = None) -> None:
        self._tape.note(ANSWER, [request, what, value])

    async def note_stream(self, request: str, answer: AsyncIterator[T], encode: Callable[[T], Any]) -> AsyncIterator[T]:
        """Yields what ``answer`` yields."""
        try:
            async for item in answer:
                self.note(request, ITEM, encode(item))
                yield item
            self.note(request, OVER)
        except ModelError as error:
            self.note(request, FAILED, encode_error(error))
            raise
        finally:
            left_at = self._tape.read_clock()
            if hasattr(answer, "aclose"):
                await cast(Any, answer).aclose()
            if self._tape.read_clock() != left_at:
                self.note(request, CLOSED)

    async def note_call(self, port: str, work: Callable[[], Awaitable[T]]) -> T:
        """Awaits ``work``, which returns nothing that matters."""
        request = self.begin(port)
        try:
            done = await work()
        except (HandoverFailed, ModelError) as error:
            self.note(request, FAILED, str(error))
            raise
        self.note(request, ITEM)
        return done


class RecordedLlm:
    """Implements PreparableLlm."""

    def __init__(self, llm: Llm, journal: AnswerJournal) -> None:
        self._llm = llm
        self._journal = journal

    @property
    def model_ref(self) -> ModelRef:
        return self._llm.model_ref

    def prepare(self, sentences: Sequence[str]) -> None:
        if isinstance(self._llm, PreparableLlm):
            self._llm.prepare(sentences)

    def stream(self, request: LlmRequest) -> AsyncIterator[LlmEvent]:
        name = self._journal.begin("llm")
        return self._journal.note_stream(name, self._llm.stream(request), encode_llm_event)


class RecordedTts:
    """Implements Tts, at the line's rate. ``voice`` is the one behind it, which all calls share."""

    def __init__(self, voice: Tts, journal: AnswerJournal) -> None:
        self.voice = voice
        self._journal = journal

    @property
    def model_ref(self) -> ModelRef:
        return self.voice.model_ref

    @property
    def sample_rate(self) -> int:
        return self.voice.sample_rate

    def speak(self, text: str) -> AsyncIterator[bytes]:
        return self._journal.note_stream(self._journal.begin("tts"), self.voice.speak(text), len)


class RecordedStt:
    """Implements Stt."""

    def __init__(self, stt: Stt, journal: AnswerJournal) -> None:
        self._stt = stt
        self._journal = journal

    @property
    def model_ref(self) -> ModelRef:
        return self._stt.model_ref

    @property
    def has_endpointing(self) -> bool:
        return self._stt.has_endpointing

    @property
    def judges_turns(self) -> bool:
        return self._stt.judges_turns

    async def open_stream(self, *, sample_rate: int, language: str) -> SttStream:
        name = self._journal.begin("stt")
        try:
            stream = await self._stt.open_stream(sample_rate=sample_rate, language=language)
        except ModelError as error:
            self._journal.note(name, FAILED, encode_error(error))
            raise
        self._journal.note(name, ITEM)
        return _RecordedSttStream(stream, self._journal)


class _RecordedSttStream:
    def __init__(self, stream: SttStream, journal: AnswerJournal) -> None:
        self._stream = stream
        self._journal = journal
        self.push_audio: Callable[[bytes], None] = stream.push_audio
        self.speech_started: Callable[[], None] = stream.speech_started
        self.speech_ended: Callable[[], None] = stream.speech_ended

    def set_expectation(self, expectation: Expectation) -> None:
        self._stream.set_expectation(expectation)

    def events(self) -> AsyncIterator[SttEvent]:
        return self._journal.note_stream(self._journal.begin("heard"), self._stream.events(), encode_stt_event)

    async def close(self) -> None:
        await self._journal.note_call("stt_close", self._stream.close)


class _RecordedTool:
    """Implements AgentTool: looks like the tool behind it."""

    def __init__(self, tool: AgentTool, journal: AnswerJournal) -> None:
        self._tool = tool
        self._journal = journal

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tool, name)

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        name = self._journal.begin("tool")
        try:
            answer = await self._tool.call(arguments)
        except ToolError as error:
            self._journal.note(name, FAILED, str(error))
            raise
        if not isinstance(answer, EndCallRequest):
            self._journal.note(name, ITEM, {"result": answer})
            return answer
        facts = {
            "result": answer.result,
            "reason": answer.reason,
            "outcome": answer.outcome,
            "tags": list(answer.tags),
            "gathered_context": dict(answer.gathered_context),
        }
        follows = {"handover": answer.handover is not None, "abandon": answer.abandon is not None}
        self._journal.note(name, ITEM, {"end": facts, **follows})
        return replace(
            answer, handover=self._noted("handover", answer.handover), abandon=self._noted("abandon", answer.abandon)
        )

    def _noted(self, port: str, work: Callable[[], Awaitable[None]] | None) -> Callable[[], Awaitable[None]] | None:
        if work is None:
            return None

        async def note_work() -> None:
            await self._journal.note_call(port, work)

        return note_work


class _RecordedToolbox:
    """Implements AgentToolbox."""

    def __init__(self, toolbox: AgentToolbox, journal: AnswerJournal) -> None:
        self._toolbox = toolbox
        self._journal = journal

    def for_node(
        self, tool_uuids: Sequence[str], mcp_filters: Mapping[str, Sequence[str]] | None = None
    ) -> Sequence[AgentTool]:
        tools = self._toolbox.for_node(tool_uuids, mcp_filters)
        return [cast(AgentTool, _RecordedTool(tool, self._journal)) for tool in tools]


class _RecordedSounds:
    """Implements SoundLibrary."""

    def __init__(self, sounds: SoundLibrary, journal: AnswerJournal) -> None:
        self._sounds = sounds
        self._journal = journal

    async def find_sound(self, recording_id: str, sample_rate: int) -> RecordedSound | None:
        # not begun: the background asks too, which is not heard in a replay
        name = self._journal.name(f"sound {recording_id}")
        sound = await self._sounds.find_sound(recording_id, sample_rate)
        self._journal.note(name, ITEM, None if sound is None else [sound.transcript, int(sound.samples.size)])
        return sound


class _RecordedKnowledge:
    """Implements KnowledgeSource."""

    def __init__(self, knowledge: KnowledgeSource, journal: AnswerJournal) -> None:
        self._knowledge = knowledge
        self._journal = journal

    async def find_passages(self, document_refs: Sequence[str], question: str) -> Sequence[KnowledgePassage]:
        name = self._journal.begin("passages")
        passages = await self._knowledge.find_passages(document_refs, question)
        self._journal.note(name, ITEM, [asdict(passage) for passage in passages])
        return passages


class RecordedLeg:
    """Implements CallLeg."""

    def __init__(self, leg: CallLeg, journal: AnswerJournal) -> None:
        self._leg = leg
        self._journal = journal
        self.codec: Codec = leg.codec
        self.send_frame: Callable[[bytes], None] = leg.send_frame
        self.send_mark: Callable[[str], None] = leg.send_mark
        self.clear_buffer: Callable[[], None] = leg.clear_buffer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._leg, name)

    @property
    def confirms_playback(self) -> bool:
        return self._leg.confirms_playback

    def send_event(self, event: VoiceEvent) -> None:
        self._leg.send_event(event)

    async def hang_up(self) -> None:
        await self._journal.note_call("hang_up", self._leg.hang_up)


class RecordedVad:
    """Implements VadEngine."""

    def __init__(self, vad: VadEngine, tape: CallTape) -> None:
        self._vad = vad
        self._tape = tape

    def open_stream(self, on_window: OnWindow) -> VadStream:
        note = self._tape.note

        def note_window(probability: float, window_s: float) -> None:
            self._tape.window_s = window_s
            # As the call is given it: a third of the stored journal would be digits that decide nothing.
            heard = round(probability * PROBABILITY_STEPS) / PROBABILITY_STEPS
            note(WINDOW, heard)
            on_window(heard, window_s)

        return self._vad.open_stream(note_window)


def record_models(models: CallModels, journal: AnswerJournal, codec: Codec) -> CallModels:
    """Returns the models with their answers noted."""
    voices = [tts.for_line(codec.sample_rate) if isinstance(tts, LineTts) else tts for tts in models.tts]
    return replace(
        models,
        llm=tuple(RecordedLlm(llm, journal) for llm in models.llm),
        tts=tuple(RecordedTts(voice, journal) for voice in voices),
        stt=tuple(RecordedStt(stt, journal) for stt in models.stt),
        by_language={
            language: record_models(others, journal, codec) for language, others in models.by_language.items()
        },
    )


def record_agent(agent: CallAgent, journal: AnswerJournal) -> CallAgent:
    """Returns the agent with what its tools, recordings and documents answer noted."""
    return replace(
        agent,
        toolbox=_RecordedToolbox(agent.toolbox, journal),
        sounds=_RecordedSounds(agent.sounds, journal),
        knowledge=_RecordedKnowledge(agent.knowledge, journal),
    )
