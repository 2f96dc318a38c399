"""The voice loop's ports. The loop imports no web framework and no database; other packages implement these.

All methods that are called per 20 ms frame are plain functions: they never block and never await.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

from offhook.kit.audio import Codec, Samples
from offhook.kit.json_values import JsonObject
from offhook.knowledge.passages import KnowledgePassage
from offhook.models.ports import ToolSpec
from offhook.voice.events import VoiceEvent


class CallLeg(Protocol):
    """The caller's end of the line: a carrier's media socket, a browser, or a test.

    The owner of the leg feeds the session through ``CallSession.feed_audio/feed_digit/feed_mark/end_call``.
    """

    @property
    def codec(self) -> Codec: ...

    @property
    def confirms_playback(self) -> bool:
        """Returns whether the far end is known to report every mark whose audio it has played."""
        ...

    def send_frame(self, payload: bytes) -> None:
        """Sends one 20 ms frame (``codec.frame_bytes``). Ignored when the leg is gone."""
        ...

    def send_mark(self, name: str) -> None:
        """Asks the far end to report ``name`` once everything sent before it has been played."""
        ...

    def clear_buffer(self) -> None:
        """Drops audio that the far end has buffered but not played."""
        ...

    def send_event(self, event: VoiceEvent) -> None:
        """Sends an event to a far end that has a screen (the browser call); telephones ignore it."""
        ...

    async def hang_up(self) -> None:
        """Ends the call at the carrier; idempotent."""
        ...


class CallRecorder(Protocol):
    """Writes both directions on one clock. ``payload`` is in the leg's codec, any whole number of frames."""

    def record_caller(self, at_s: float, payload: bytes) -> None: ...

    def record_agent(self, at_s: float, payload: bytes) -> None: ...

    def discard(self) -> None:
        """Deletes what was recorded within a second, and records nothing more."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class CallResult:
    """The outcome of the conversation. ``outcome``: answered, voicemail, not_understood …; ``end_reason``: a stable
    identifier.

    end_reason is one of: agent_ended, caller_hung_up, idle, not_understood, max_duration, credit_exhausted, voicemail,
    watchdog, media_lost, transferred, server_stopped, error.
    """

    outcome: str
    end_reason: str
    duration_s: float
    gathered_context: JsonObject = field(default_factory=dict)
    tags: tuple[str, ...] = ()


class RunSink(Protocol):
    """Receives a conversation's events. ``emit`` keeps the order and returns immediately."""

    def emit(self, event: VoiceEvent) -> None: ...


@dataclass(frozen=True, slots=True)
class ToolAnnouncement:
    """An agent's announcement of a tool call: a text with optional variables, a recording's id, or nothing."""

    text: str | None = None
    recording: str | None = None


NO_ANNOUNCEMENT: Final = ToolAnnouncement()


@dataclass(frozen=True, slots=True)
class EndCallRequest:
    """Returned by a tool to end the conversation once everything said has been played.

    ``result`` goes to the model if the caller interrupts the goodbye. ``handover`` replaces hanging up (the caller
    is connected to another party); when it raises HandoverFailed, the call is hung up after all. ``abandon`` is
    called instead when the call ended for another reason first.
    """

    result: Any
    reason: str = "agent_ended"
    outcome: str | None = None
    tags: tuple[str, ...] = ()
    gathered_context: Mapping[str, Any] = field(default_factory=dict)
    handover: Callable[[], Awaitable[None]] | None = None
    abandon: Callable[[], Awaitable[None]] | None = None


class HandoverFailed(Exception):
    """The caller could not be connected to the destination that had answered."""


class AgentTool(Protocol):
    """A function that an agent may call. ``has_side_effects``: never canceled by barge-in, never run twice.

    ``holds_floor``: the caller cannot interrupt while it runs, and it ends with the call (a transfer that rings).
    """

    @property
    def spec(self) -> ToolSpec: ...

    @property
    def has_side_effects(self) -> bool: ...

    @property
    def timeout_s(self) -> float: ...

    @property
    def blocks_barge_in(self) -> bool: ...

    @property
    def announcement(self) -> ToolAnnouncement:
        """Returns what to say before the call."""
        ...

    @property
    def success_announcement(self) -> ToolAnnouncement:
        """Returns what to say after a successful call, before the model continues."""
        ...

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        """Returns plain JSON or an EndCallRequest. Raises ToolError with a sentence that the model may read."""
        ...


class ToolError(Exception):
    """A tool failed; the message goes to the model."""


class AgentToolbox(Protocol):
    """Finds the tools of a node (``data.tool_uuids``). ``mcp_filters`` limits MCP tools to these functions."""

    def for_node(
        self, tool_uuids: Sequence[str], mcp_filters: Mapping[str, Sequence[str]] | None = None
    ) -> Sequence[AgentTool]: ...


@dataclass(frozen=True, slots=True)
class RecordedSound:
    """A recording that an agent plays instead of speaking; ``transcript`` holds its words."""

    recording_id: str
    transcript: str
    samples: Samples


class SoundLibrary(Protocol):
    """The recordings that the agent of one call may play, at the line's sample rate."""

    async def find_sound(self, recording_id: str, sample_rate: int) -> RecordedSound | None:
        """Returns the recording; None when it does not exist or cannot be read."""
        ...


class EmptySoundLibrary:
    """The sound library of an agent without recordings."""

    async def find_sound(self, recording_id: str, sample_rate: int) -> RecordedSound | None:
        return None


class KnowledgeSource(Protocol):
    """The documents that the agent of one call may use."""

    async def find_passages(self, document_refs: Sequence[str], question: str) -> Sequence[KnowledgePassage]:
        """Returns the passages for the question, best first; without a question, only documents that are given whole.

        Documents that are archived or not ready yield nothing. Never raises: a failure returns no passages.
        """
        ...


class EmptyKnowledgeSource:
    """The knowledge source of an agent without documents."""

    async def find_passages(self, document_refs: Sequence[str], question: str) -> Sequence[KnowledgePassage]:
        return ()


class VadStream(Protocol):
    """Speech probability of one caller, window by window; shared engines batch the windows of many calls."""

    def push(self, samples_8k: Any) -> None:
        """Accepts int16 samples at 8 kHz of any length."""
        ...

    def close(self) -> None: ...


class VadEngine(Protocol):
    def open_stream(self, on_window: "OnWindow") -> VadStream: ...


class OnWindow(Protocol):
    """Called for every window with its speech probability 0..1 and its length in seconds."""

    def __call__(self, probability: float, window_s: float) -> None: ...


@dataclass(frozen=True, slots=True)
class EndJudgment:
    """The probability, by the sound, that the caller has finished; None without an answer: ``late`` if it took too long or
    too many questions were waiting, or ``failed``. ``cpu_ms`` is the CPU time that it took."""

    probability: float | None
    cpu_ms: int = 0
    failure: Literal["late", "failed"] | None = None


class TurnDetector(Protocol):
    """Judges whether callers have finished; one for all calls of a process."""

    def judge_turn(self, samples: Samples, sample_rate: int, on_judged: Callable[[EndJudgment], None]) -> None:
        """Judges the caller's turn so far, at 8 or 16 kHz. Never blocks; ``on_judged`` is called once, in this event loop,
        within a second."""
        ...
