"""The ports through which the voice loop uses an LLM, a TTS and an STT vendor.

Audio is little-endian PCM16 mono everywhere but in speech-to-speech sessions (:class:`SessionFormats`); ``sample_rate``
is in Hz. Every method that talks to a vendor raises only :class:`ModelError` (cancellation excepted).
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from offhook.kit.json_values import JsonObject
from offhook.models.speech.formats import SessionFormats
from offhook.models.speech.speech_usage import SpeechUsage


class ModelError(Exception):
    """A vendor failed. ``retryable`` means that the same request may work on a retry.

    ``retry_after_s`` is the pause that the vendor asked for, None when it gave none.
    """

    def __init__(self, code: str, message: str, *, retryable: bool, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.retryable = retryable
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A function that the model may call; ``parameters`` is a JSON schema of type object."""

    name: str
    description: str
    parameters: JsonObject = field(default_factory=lambda: {"type": "object", "properties": {}})


@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str
    name: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class LlmMessage:
    """One entry of the history. Only assistant messages have ``tool_calls``, only tool messages ``tool_call_id``."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class EdgeHint:
    """An edge as rules see it: ``tool`` takes it, ``digits`` are its keys, ``is_final``: the call ends behind it."""

    tool: str
    label: str
    condition: str
    examples: tuple[str, ...] = ()
    digits: str | None = None
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class ToolHint:
    """A custom tool as rules see it: phrases that ask for it."""

    name: str
    description: str
    examples: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NodeHint:
    """The current node for a model that works by rules (``builtin``). Vendors ignore it.

    ``entered`` is true while nothing has been said at this node. ``prompt`` is rendered; ``say_text`` is the sentence
    that a rule-based model speaks on entering (greeting, ``data.offline_say`` or the quoted sentence of the prompt).
    ``variables`` are the extraction variables ``{name, type, prompt}``; ``known_variables``: those of earlier nodes, which
    the caller may correct. ``persona``: the rendered global prompt. ``is_revisit``: the call was here before.
    ``weekday``: today's, in English, where the call takes place.
    """

    node_id: str
    name: str
    kind: str
    prompt: str
    entered: bool
    say_text: str | None = None
    edges: tuple[EdgeHint, ...] = ()
    tools: tuple[ToolHint, ...] = ()
    variables: tuple[Mapping[str, Any], ...] = ()
    passages: tuple[str, ...] = ()
    persona: str = ""
    known_variables: tuple[Mapping[str, Any], ...] = ()
    is_revisit: bool = False
    weekday: str = ""


@dataclass(frozen=True, slots=True)
class LlmRequest:
    """One model turn. ``response_schema`` asks for one JSON object of that schema as text (variable extraction)."""

    messages: Sequence[LlmMessage]
    tools: Sequence[ToolSpec] = ()
    temperature: float = 0.3
    max_tokens: int | None = None
    hint: NodeHint | None = None
    response_schema: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """A complete function call with parsed arguments."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class LlmUsage:
    """A part of an answer's usage; parts add up. ``cached_tokens`` are the discounted part of ``prompt_tokens``."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0


LlmEvent = TextDelta | ToolCalled | LlmUsage


@dataclass(frozen=True, slots=True)
class ModelRef:
    """A model as usage and events name it, e.g. ``ModelRef("llm", "openai", "gpt-4.1")``."""

    kind: Literal["llm", "tts", "stt", "realtime"]
    provider: str
    model: str


class Llm(Protocol):
    @property
    def model_ref(self) -> ModelRef: ...

    def stream(self, request: LlmRequest) -> AsyncIterator[LlmEvent]:
        """Yields events as they come. Closing the iterator (``aclose``) cancels the request at the vendor."""
        ...


@runtime_checkable
class PreparableLlm(Llm, Protocol):
    """An Llm whose first answer is slow unless it is told of the call before."""

    def prepare(self, sentences: Sequence[str]) -> None:
        """Starts to get ready for sentences that callers' words will be compared with; returns at once."""
        ...


class Tts(Protocol):
    @property
    def model_ref(self) -> ModelRef: ...

    @property
    def sample_rate(self) -> int:
        """Returns the rate of the audio that :meth:`speak` yields."""
        ...

    def speak(self, text: str) -> AsyncIterator[bytes]:
        """Yields PCM16 of one sentence in chunks of any even size; closing the iterator cancels the synthesis."""
        ...


@runtime_checkable
class LineTts(Tts, Protocol):
    """A Tts that can speak at a line's own rate."""

    def for_line(self, sample_rate: int) -> Tts:
        """Returns this voice at this rate (or the nearest it has); always the same object for the same rate."""
        ...


@dataclass(frozen=True, slots=True)
class SttEvent:
    """A recognition event. ``final`` is one utterance's text; ``is_endpoint``: the vendor considers the turn over.

    ``working`` has no text: the recognizer needs longer than usual for what was said, and a final follows. ``language``:
    what a final was spoken in, where the recognizer tells languages apart. ``is_likely_end``: the vendor expects that
    nothing follows a partial; the next one without it takes that back.
    """

    kind: Literal["working", "partial", "final"]
    text: str
    confidence: float | None = None
    is_endpoint: bool = False
    language: str | None = None
    is_likely_end: bool = False


@dataclass(frozen=True, slots=True)
class Expectation:
    """The caller's likely next words: whole phrases, most likely first. Vendors may use them as key terms.

    ``kinds`` names ready-made vocabularies: ``yes_no``, ``digits``, ``days``, ``times``, ``numbers``; and values for
    whose end the caller is waited for: ``phone``, ``card``, ``birth_date``, ``address``, ``spelling``, ``digits_4`` (of
    four digits). ``sentences`` are what the whole agent is about, whose words are likelier than others: its prompts and
    the phrases of other steps.
    """

    phrases: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()


class SttStream(Protocol):
    """One caller's live recognition. ``push`` never blocks and never raises; failures surface in ``events``."""

    def push_audio(self, pcm: bytes) -> None: ...

    def speech_started(self) -> None:
        """Reports that our VAD heard speech begin; recognizers with their own endpointing ignore it."""

    def speech_ended(self) -> None:
        """Reports that our VAD heard a pause: a recognizer without endpointing finishes the utterance now."""

    def set_expectation(self, expectation: Expectation) -> None: ...

    def events(self) -> AsyncIterator[SttEvent]:
        """Yields events; iterated once per stream. Ends after ``close``; raises ModelError when the vendor fails."""

    async def close(self) -> None: ...


class Stt(Protocol):
    @property
    def model_ref(self) -> ModelRef: ...

    @property
    def has_endpointing(self) -> bool:
        """Returns True when finals come on their own after the caller stops (most vendors); False for ``builtin``."""

    @property
    def judges_turns(self) -> bool:
        """Returns whether its endpoint is a judgment by words or sound, and not a pause of a fixed length."""

    async def open_stream(self, *, sample_rate: int, language: str) -> SttStream: ...


@dataclass(frozen=True, slots=True)
class SpeechCapabilities:
    """What a vendor can do; the voice loop asks this and never the vendor's name.

    ``can_edit``: entries can be cut, deleted and inserted; if not, a session that differs from our history is replaced.
    ``max_session_s``: its limit of a session, None without. ``min_commit_s``: the shortest audio of a caller's turn.
    ``takes_notes``: texts that are no turn of the caller can be added during a session.
    """

    can_edit: bool
    max_session_s: float | None
    min_commit_s: float = 0.0
    takes_notes: bool = True


@dataclass(frozen=True, slots=True)
class SpokenPiece:
    """A piece of what the model says: audio, words, or both. Pieces of one ``item_id`` belong together, in order."""

    item_id: str
    text: str = ""
    audio: bytes = b""


# A tool call is yielded once, when the response that made it is complete.
SpeechEvent = SpokenPiece | ToolCalled


@dataclass(slots=True, eq=False)
class ItemRef:
    """An entry of the vendor's conversation, without ``id`` until it is named; ``is_lost``: it is not there as heard."""

    id: str = ""
    is_lost: bool = False


@dataclass(frozen=True, slots=True)
class SessionReports:
    """Callbacks of a session. ``on_usage`` gets None for a response that ended without a report of its usage."""

    on_usage: Callable[[SpeechUsage | None], None]


class SpeechSession(Protocol):
    """One connection with one conversation. At most one response is generated at a time."""

    @property
    def is_open(self) -> bool: ...

    @property
    def is_expiring(self) -> bool:
        """Returns whether the vendor has announced that it will close the session."""

    def accepts_step(self, instructions: str, tools: Sequence[ToolSpec]) -> bool:
        """Returns whether the next responses can work with these; if not, another session begins with them."""
        ...

    def set_step(self, instructions: str, tools: Sequence[ToolSpec]) -> None:
        """Sets what the next responses work with; sends nothing when nothing has changed."""
        ...

    def push_audio(self, payload: bytes) -> None:
        """Adds the caller's audio to the turn that is being collected."""
        ...

    def commit_audio(self) -> ItemRef:
        """Makes the collected audio a turn of the caller."""
        ...

    def clear_audio(self) -> None:
        """Drops the collected audio."""
        ...

    def add_message(self, message: LlmMessage, after: ItemRef | None = None) -> list[ItemRef]:
        """Adds an entry as text: what was said, a tool call or its result; at the end, or behind ``after``."""
        ...

    def truncate_item(self, item_id: str, heard_ms: int) -> None:
        """Cuts what the model said to what was heard. Clamped to the audio that there is; 0 deletes the entry."""
        ...

    def delete_item(self, item: ItemRef) -> None: ...

    def stream_response(self) -> AsyncIterator[SpeechEvent]:
        """Lets the model speak. Closing the iterator cancels the response. Raises ModelError."""
        ...

    def item_ref(self, item_id: str) -> ItemRef:
        """Returns the reference of an entry that a response has made."""
        ...

    async def close(self) -> None:
        """Closes the session; waits briefly for the usage of a response that was cut off."""
        ...


class SpeechToSpeech(Protocol):
    """One configured model. Shared by calls; each call has sessions of its own."""

    @property
    def model_ref(self) -> ModelRef: ...

    @property
    def capabilities(self) -> SpeechCapabilities: ...

    def session_formats(self, sample_rate: int) -> SessionFormats:
        """Returns the formats of sessions for a line of this rate."""
        ...

    async def open_session(self, formats: SessionFormats, reports: SessionReports) -> SpeechSession:
        """Connects. Raises ModelError; one that is not retryable will fail again."""
        ...


@dataclass(frozen=True, slots=True)
class CallModels:
    """The models of one call, best first: the next takes over when one fails. Never empty.

    ``realtime`` hears the caller and speaks itself; the others write, say fixed sentences, and take over from it.
    ``by_language``: the models in each language of an agent that speaks several, by tag, the first one's included.
    """

    llm: tuple[Llm, ...]
    tts: tuple[Tts, ...]
    stt: tuple[Stt, ...]
    language: str = "en-US"
    realtime: SpeechToSpeech | None = None
    by_language: Mapping[str, "CallModels"] = field(default_factory=dict)


class ModelSource(Protocol):
    """Chooses the models of a call; implemented by the process's registry, which the root provides under this port."""

    def for_call(self, configurations: Mapping[str, Any]) -> CallModels:
        """Chooses by a workflow's ``configurations`` (``models`` overrides the installation's); no organization."""
        ...

    async def for_organization(self, organization_id: int, configurations: Mapping[str, Any]) -> CallModels:
        """Chooses likewise over the organization's configuration and keys. Raises UnknownModel (422)."""
        ...

    async def for_request(self, organization_id: int, note: str) -> CallModels:
        """Returns the organization's models for one request outside of a conversation, which ``note`` names and which is
        charged. Raises UnknownModel (422), and a DomainError (402) when it cannot be paid."""
        ...
