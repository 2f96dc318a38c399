"""The far end of a media path: pace, playout, marks."""

import asyncio
from collections.abc import Awaitable, Callable

from offhook.kit.audio import MULAW_8K
from offhook.telephony.media.simulated_phone import (
    FRAME,
    SILENCE,
    DropAudio,
    PlayAudio,
    PlayMark,
    PlayoutOrder,
    SimulatedPhone,
)
from tests.fakes.clock import run_virtual
from tests.voice.phone import hum

LOUD = hum(MULAW_8K, 0.0)


class NotedWire:
    """Implements FarWire; orders come in as they are."""

    def __init__(self) -> None:
        self.audio: list[tuple[float, bytes]] = []
        self.marks: list[tuple[float, str]] = []
        self.digits: list[str] = []

    def decode(self, message: object) -> PlayoutOrder | None:
        assert isinstance(message, PlayAudio | PlayMark | DropAudio)
        return message

    def send_audio(self, payload: bytes) -> None:
        self.audio.append((asyncio.get_running_loop().time(), payload))

    def send_mark(self, name: str) -> None:
        self.marks.append((asyncio.get_running_loop().time(), name))

    def send_digit(self, digit: str) -> None:
        self.digits.append(digit)


def order(line: SimulatedPhone, what: PlayoutOrder) -> None:
    line.on_message(what)  # type: ignore[arg-type]  # the noted wire takes orders as they are


def on_a_line(script: Callable[[SimulatedPhone, NotedWire], Awaitable[None]]) -> NotedWire:
    async def main() -> NotedWire:
        wire = NotedWire()
        line = SimulatedPhone(wire)
        pacing = asyncio.create_task(line.run())
        await asyncio.sleep(0)
        await script(line, wire)
        line.stop()
        await pacing
        return wire

    return run_virtual(main(), limit_s=60)


class TestTheMouth:
    def test_sends_a_frame_every_20_ms_whether_anybody_talks_or_not(self) -> None:
        async def script(line: SimulatedPhone, wire: NotedWire) -> None:
            await asyncio.sleep(0.5)
            line.queue_speech(LOUD * 10 + b"\x10" * 50)
            await asyncio.sleep(0.5)

        wire = on_a_line(script)

        assert 49 <= len(wire.audio) <= 51
        assert {len(payload) for _, payload in wire.audio} == {FRAME}
        spoken = [payload for _, payload in wire.audio if payload != SILENCE]
        assert spoken == [LOUD] * 10 + [b"\x10" * 50 + SILENCE[50:]]

    def test_catches_up_after_a_short_delay_and_not_after_a_long_one(self) -> None:
        async def script(line: SimulatedPhone, wire: NotedWire) -> None:
            loop = asyncio.get_running_loop()
            await asyncio.sleep(0.11)
            before = len(wire.audio)
            loop._virtual += 0.3  # type: ignore[attr-defined]
            await asyncio.sleep(0.001)
            assert len(wire.audio) - before == 15

        async def long(line: SimulatedPhone, wire: NotedWire) -> None:
            loop = asyncio.get_running_loop()
            await asyncio.sleep(0.11)
            before = len(wire.audio)
            loop._virtual += 30  # type: ignore[attr-defined]
            await asyncio.sleep(0.001)
            assert len(wire.audio) - before <= 2

        on_a_line(script)
        on_a_line(long)


class TestTheEar:
    def test_marks_come_back_when_what_is_before_them_was_played(self) -> None:
        async def script(line: SimulatedPhone, wire: NotedWire) -> None:
            began = asyncio.get_running_loop().time()
            order(line, PlayMark("at once"))
            order(line, PlayAudio(LOUD * 25))
            order(line, PlayMark("after"))
            await asyncio.sleep(1)
            (_, first), (at, second) = wire.marks
            assert (first, second) == ("at once", "after")
            assert 0.47 <= at - began <= 0.53

        on_a_line(script)

    def test_a_clear_returns_them_at_once_and_stops_the_sound(self) -> None:
        async def script(line: SimulatedPhone, wire: NotedWire) -> None:
            order(line, PlayAudio(LOUD * 100))
            order(line, PlayMark("one"))
            await asyncio.sleep(0.1)
            order(line, DropAudio())
            assert [name for _, name in wire.marks] == ["one"]
            assert not line.has_unplayed

        on_a_line(script)

    def test_knows_when_the_other_side_talks(self) -> None:
        async def script(line: SimulatedPhone, wire: NotedWire) -> None:
            await asyncio.sleep(1)
            assert line.quiet_for() > 0.9
            order(line, PlayAudio(LOUD * 50))
            await asyncio.sleep(0.5)
            assert line.speech.is_loud
            assert line.quiet_for() < 0.05
            await asyncio.sleep(1.5)
            assert 0.9 < line.quiet_for() < 1.1

        on_a_line(script)

    def test_silence_is_not_speech(self) -> None:
        async def script(line: SimulatedPhone, wire: NotedWire) -> None:
            order(line, PlayAudio(SILENCE * 50))
            await asyncio.sleep(0.5)
            assert line.speech.last_loud_at is None

        on_a_line(script)
