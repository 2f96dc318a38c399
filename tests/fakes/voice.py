"""Real, small implementations of the voice ports: a leg that keeps what was sent, a VAD that hears loudness."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from offhook.kit.audio import MULAW_8K, Codec
from offhook.models.ports import ToolSpec
from offhook.voice.events import VoiceEvent
from offhook.voice.ports import NO_ANNOUNCEMENT, AgentTool, OnWindow, RecordedSound, ToolAnnouncement, ToolError

RECORDED_S = 2.0
RECORDED_HZ = 600


class LoudnessVad:
    """Implements VadEngine: a window is speech when its peak passes 1000."""

    def open_stream(self, on_window: OnWindow) -> "_LoudnessStream":
        return _LoudnessStream(on_window)


class _LoudnessStream:
    def __init__(self, on_window: OnWindow) -> None:
        self._on_window = on_window
        self._pending = np.zeros(0, np.int16)
        self._is_closed = False

    def push(self, samples_8k: Any) -> None:
        self._pending = np.concatenate((self._pending, samples_8k))
        while self._pending.size >= 256 and not self._is_closed:
            window, self._pending = self._pending[:256], self._pending[256:]
            self._on_window(1.0 if int(np.abs(window.astype(np.int32)).max()) > 1000 else 0.0, 0.032)

    def close(self) -> None:
        self._is_closed = True


@dataclass
class KeptLeg:
    """Implements CallLeg: frames with the loop time at which they left; marks return as a carrier returns them."""

    codec: Codec = MULAW_8K
    returns_marks: bool = True
    confirms_playback: bool = True
    frames: list[tuple[float, bytes]] = field(default_factory=list)
    clears: list[float] = field(default_factory=list)
    events: list[VoiceEvent] = field(default_factory=list)
    hung_up_at: float | None = None
    on_mark: Any = None
    _play_until: float = 0.0
    _marks: list[asyncio.TimerHandle] = field(default_factory=list)
    _names: list[str] = field(default_factory=list)

    def send_frame(self, payload: bytes) -> None:
        now = asyncio.get_running_loop().time()
        self.frames.append((now, payload))
        self._play_until = max(now, self._play_until) + 0.02

    def send_mark(self, name: str) -> None:
        if self.returns_marks and self.on_mark is not None:
            loop = asyncio.get_running_loop()
            self._names.append(name)
            self._marks.append(loop.call_at(self._play_until, self._return_mark, name))

    def _return_mark(self, name: str) -> None:
        if name in self._names:
            self._names.remove(name)
            self.on_mark(name)

    def clear_buffer(self) -> None:
        now = asyncio.get_running_loop().time()
        self.clears.append(now)
        self._play_until = now
        for name in list(self._names):
            self._return_mark(name)

    def send_event(self, event: VoiceEvent) -> None:
        self.events.append(event)

    async def hang_up(self) -> None:
        if self.hung_up_at is None:
            self.hung_up_at = asyncio.get_running_loop().time()


class KeptSounds:
    """Implements Sounds: recordings by their id, a tone as long as is asked for."""

    def __init__(self, **transcripts: str) -> None:
        self._transcripts = transcripts
        self.asked: list[tuple[str, int]] = []

    async def find_sound(self, recording_id: str, sample_rate: int) -> RecordedSound | None:
        self.asked.append((recording_id, sample_rate))
        if recording_id not in self._transcripts:
            return None
        at = np.arange(round(RECORDED_S * sample_rate)) / sample_rate
        samples = (np.sin(2 * np.pi * RECORDED_HZ * at) * 9000).astype(np.int16)
        return RecordedSound(recording_id, self._transcripts[recording_id], samples)


class KeptRecorder:
    """Implements Recorder: both sides as they were given."""

    def __init__(self) -> None:
        self.callers: list[bytes] = []
        self.agents: list[bytes] = []

    def record_caller(self, at_s: float, payload: bytes) -> None:
        self.callers.append(payload)

    def record_agent(self, at_s: float, payload: bytes) -> None:
        self.agents.append(payload)

    def discard(self) -> None:
        self.callers, self.agents = [], []

    async def close(self) -> None: ...


class KeptEvents:
    """Implements RunSink."""

    def __init__(self) -> None:
        self.events: list[VoiceEvent] = []

    def emit(self, event: VoiceEvent) -> None:
        self.events.append(event)

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [dict(event.data) for event in self.events if event.type == kind]

    def at(self, kind: str) -> list[float]:
        return [event.at_s for event in self.events if event.type == kind]


@dataclass
class ScriptedTool:
    """Implements Tool: answers after ``takes_s``, or never."""

    name: str
    result: Any = None
    takes_s: float = 0.1
    has_side_effects: bool = False
    timeout_s: float = 5.0
    fails_with: str | None = None
    blocks_barge_in: bool = False
    announcement: ToolAnnouncement = NO_ANNOUNCEMENT
    success_announcement: ToolAnnouncement = NO_ANNOUNCEMENT
    calls: list[dict[str, Any]] = field(default_factory=list)
    finished: int = 0

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, f"{self.name} for tests")

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        self.calls.append(dict(arguments))
        await asyncio.sleep(self.takes_s)
        self.finished += 1
        if self.fails_with is not None:
            raise ToolError(self.fails_with)
        return self.result


class Tools:
    """Implements Toolbox: tools by their name."""

    def __init__(self, *tools: AgentTool) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}

    def for_node(
        self, tool_uuids: Sequence[str], mcp_filters: Mapping[str, Sequence[str]] | None = None
    ) -> Sequence[AgentTool]:
        return [self._tools[name] for name in tool_uuids if name in self._tools]
