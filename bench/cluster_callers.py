"""Callers of the cluster: telephones of an emulated carrier that talk, listen and note what they hear."""

import asyncio
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from bench.speech import clip
from offhook.kit.audio import FRAME_S, MULAW_8K
from offhook_lab.carriers import CarrierEmulator, EmulatedCall
from offhook_lab.carriers.core.phones import EmulatedPhone, scripted

TALK_S: Final = 1.5
# The caller talks once the agent has been silent for so long.
QUIET_S: Final = 1.5
# A turn without any sound for so long is unanswered; the caller says it again.
UNANSWERED_S: Final = 10.0
# A call that is answered and brings no sound for so long was answered to silence.
SILENCE_S: Final = 8.0


@dataclass(frozen=True, slots=True)
class Sound:
    """When 20 ms of sound arrived, and over which media socket of the call (the first is 1; 0: the carrier speaks)."""

    at: float
    stream: int


@dataclass(eq=False)
class ClusterCaller:
    """One caller. ``hang_up_at`` is on the loop's clock; None: as long as the case lasts."""

    speech: bytes
    hang_up_at: float | None = None
    sounds: list[Sound] = field(default_factory=list)
    unanswered: int = 0
    answered_at: float | None = None
    ended_at: float | None = None

    def __post_init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._call: EmulatedCall | None = None
        self._asked_at: float | None = None
        self._talks_until = 0.0
        self._loud_frames = 0

    def call_in(self, carrier: CarrierEmulator, from_number: str, to_number: str) -> None:
        self._call = carrier.call_in(from_number, to_number, scripted(self._run))

    @property
    def call(self) -> EmulatedCall:
        assert self._call is not None
        return self._call

    @property
    def run_id(self) -> int | None:
        """Returns the run of the call, which its media address names."""
        stream = self.call.stream
        return int(urlsplit(stream.url).path.split("/")[-2]) if stream is not None else None

    @property
    def was_cut(self) -> bool:
        """Returns True if a conversation ended and the caller did not end it."""
        return self.call.is_over and self.call.ended_by != "caller" and self.has_heard_agent

    @property
    def has_heard_agent(self) -> bool:
        return any(sound.stream for sound in self.sounds)

    @property
    def was_told_unavailable(self) -> bool:
        """Returns True if the carrier spoke the sentence of a server that cannot take the call."""
        return any("not available" in text for text in self.call.spoken)

    @property
    def heard_silence(self) -> bool:
        """Returns True if the call was answered and nothing was heard in it."""
        if self.answered_at is None or self.sounds:
            return False
        return (self.ended_at or self._loop.time()) - self.answered_at > SILENCE_S or self.call.ended_by != "caller"

    @property
    def gap_s(self) -> float:
        """Returns the longest time from the end of a turn of the caller, or from the answer, to a sound."""
        return max(
            (later.at - sooner.at for sooner, later in zip(self.sounds, self.sounds[1:], strict=False)), default=0
        )

    def sound_after(self, at: float, *, stream: int) -> float | None:
        """Returns when the first sound after ``at`` came over a later media socket than ``stream``."""
        return next((sound.at for sound in self.sounds if sound.at > at and sound.stream > stream), None)

    def hang_up(self) -> None:
        self.hang_up_at = self._loop.time()

    async def _run(self, phone: EmulatedPhone) -> None:
        self.answered_at = self._loop.time()
        try:
            while self.hang_up_at is None or self._loop.time() < self.hang_up_at:
                await phone.next_frame()
                self._listen_and_talk(phone, self._loop.time())
            phone.hang_up()
        finally:
            self.ended_at = self._loop.time()

    def _listen_and_talk(self, phone: EmulatedPhone, now: float) -> None:
        if phone.loud_frames > self._loud_frames:
            self._loud_frames = phone.loud_frames
            self.sounds.append(Sound(now, self._stream_number()))
            self._asked_at = None
        elif self.sounds and now > self._talks_until and now - self.sounds[-1].at > QUIET_S:
            if self._asked_at is not None:
                if now - self._asked_at < UNANSWERED_S:
                    return
                self.unanswered += 1
            phone.queue_audio(self.speech)
            self._talks_until = self._asked_at = now + len(self.speech) / 160 * FRAME_S

    def _stream_number(self) -> int:
        """Returns the number of the socket that carries the call now."""
        call = self.call
        return len(call.streams) if call.stream is not None and call.peer is call.stream else 0


def caller_speech() -> bytes:
    return MULAW_8K.encode(clip(TALK_S))


def render_seconds(values: list[float]) -> dict[str, Any]:
    """Returns p50, p95 and max, rounded to tenths; None without values."""
    ordered = sorted(values)
    if not ordered:
        return {"p50": None, "p95": None, "max": None}
    return {
        "p50": round(ordered[len(ordered) // 2], 1),
        "p95": round(ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))], 1),
        "max": round(ordered[-1], 1),
    }
