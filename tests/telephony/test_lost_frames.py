"""Callers whose frames are lost, late, reordered or doubled: what the session hears keeps time."""

import asyncio
import json
from base64 import b64encode
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest

from offhook.kit.audio import MULAW_8K, Samples
from offhook.runs.recording_files.call_recording import WavWriter
from offhook.runs.recording_files.wav import HEADER_BYTES
from offhook.telephony.media.caller_frames import MAX_CONCEALED_FRAMES, MAX_HELD_FRAMES, CallerFrames, FrameLosses
from offhook.telephony.media.leg import MediaLeg
from offhook.telephony.providers.twilio.wire import TwilioWire
from tests.fakes.clock import run_virtual

SECONDS = 6
COUNT = SECONDS * 50


def voice() -> list[bytes]:
    """A voice of 120 Hz that rises and falls like syllables, on a line with noise at -60 dBFS."""
    at = np.arange(COUNT * 160) / 8000
    tone = sum(np.sin(2 * np.pi * 120 * n * at) / n for n in range(1, 8))
    loud = tone * 4000 * np.clip(np.sin(2 * np.pi * 2 * at) + 0.6, 0, 1)
    noise = np.random.default_rng(3).standard_normal(at.size) * 33
    return [MULAW_8K.encode(frame) for frame in (loud + noise).astype(np.int16).reshape(-1, 160)]


VOICE = voice()


def hear(order: Sequence[tuple[int, bytes]], *, at: Callable[[int], float] | None = None) -> tuple[bytes, FrameLosses]:
    """What is delivered of (number, frame) in this order; by time instead of numbers where ``at`` has times."""

    async def run() -> tuple[bytes, FrameLosses]:
        heard: list[bytes] = []
        frames = CallerFrames(MULAW_8K, heard.append)
        loop = asyncio.get_running_loop()
        began = loop.time()
        for position, (number, frame) in enumerate(order):
            if at is not None:
                await asyncio.sleep(max(0.0, began + at(position) - loop.time()))
            frames.push(frame, None if at is not None else number)
        return b"".join(heard), frames.losses

    return run_virtual(run())


def numbered(kept: Sequence[int] = range(COUNT)) -> list[tuple[int, bytes]]:
    return [(index + 1, VOICE[index]) for index in kept]


def loudness(audio: bytes) -> Samples:
    samples = MULAW_8K.decode(audio[: len(audio) // 160 * 160]).astype(float).reshape(-1, 160)
    return 20 * np.log10(np.maximum(np.sqrt((samples**2).mean(axis=1)), 1) / 32768)  # type: ignore[no-any-return]


def lose(share: float) -> list[int]:
    random = Random(5)
    return [index for index in range(COUNT) if index < 20 or index >= COUNT - 10 or random.random() >= share]


class TestNumberedFrames:
    def test_pass_through_untouched(self) -> None:
        assert hear(numbered()) == (b"".join(VOICE), FrameLosses())

    @pytest.mark.parametrize("share", [0.05, 0.2])
    def test_lost_ones_leave_no_gap(self, share: float) -> None:
        kept = lose(share)
        heard, losses = hear(numbered(kept))

        assert len(heard) == COUNT * 160, "no word is shorter"
        assert losses.lost == COUNT - len(kept)
        bare = b"".join(VOICE[index] if index in set(kept) else MULAW_8K.silence_frame for index in range(COUNT))
        whole = loudness(b"".join(VOICE))
        assert np.abs(loudness(heard) - whole).mean() < np.abs(loudness(bare) - whole).mean() / 2

    def test_a_burst_fades_to_the_noise_of_the_line(self) -> None:
        kept = [index for index in range(COUNT) if not 100 <= index < 115]
        heard, losses = hear(numbered(kept))

        assert (len(heard), losses.lost) == (COUNT * 160, 15)
        made = loudness(heard)[100:115]
        assert made[0] > -30
        assert np.all((made[4:] > -75) & (made[4:] < -44))
        after = MULAW_8K.decode(heard[115 * 160 + 80 :])
        assert np.array_equal(after, MULAW_8K.decode(b"".join(VOICE[115:])[80:]))

    def test_reordered_ones_are_put_in_order(self) -> None:
        random = Random(4)
        order = sorted(range(COUNT), key=lambda index: index + (random.uniform(0, MAX_HELD_FRAMES - 1) if index else 0))
        heard, losses = hear(numbered(order))

        assert heard == b"".join(VOICE)
        assert losses.lost == 0 < losses.reordered

    def test_doubled_and_late_ones_are_dropped(self) -> None:
        order = [frame for number, audio in numbered() for frame in [(number, audio)] * (1 + (number % 7 == 0))]
        heard, losses = hear([*order, (3, VOICE[2])])

        assert heard == b"".join(VOICE)
        assert losses == FrameLosses(doubled=COUNT // 7 + 1)

    def test_a_long_hole_is_filled_for_a_second(self) -> None:
        heard, losses = hear(numbered([*range(50), *range(200, COUNT)]))
        assert len(heard) == (50 + MAX_CONCEALED_FRAMES + COUNT - 200) * 160
        assert losses.lost == 150

    @pytest.mark.parametrize("number", [lambda index: 1, lambda index: 160 * index])
    def test_numbers_that_do_not_count_frames_lose_no_more_than_a_moment(self, number: Callable[[int], int]) -> None:
        heard, _ = hear([(number(index), frame) for index, frame in enumerate(VOICE)])
        assert abs(len(heard) - COUNT * 160) <= 3 * 160


class TestFramesWithoutNumbers:
    def test_pass_through_untouched(self) -> None:
        random = Random(6)
        heard, losses = hear(numbered(), at=lambda index: index * 0.02 + random.uniform(0, 0.03))
        assert (heard, losses) == (b"".join(VOICE), FrameLosses())

    def test_a_gap_at_the_usual_pace_was_a_loss(self) -> None:
        kept = [index for index in range(COUNT) if not 100 <= index < 115]
        heard, losses = hear(numbered(kept), at=lambda position: kept[position] * 0.02)
        assert (len(heard), losses.lost) == (COUNT * 160, 15)

    def test_frames_that_come_all_at_once_were_late(self) -> None:
        heard, losses = hear(numbered(), at=lambda index: 2.3 if 100 <= index < 115 else index * 0.02)
        assert (heard, losses) == (b"".join(VOICE), FrameLosses())


def test_the_recording_stays_in_step(tmp_path: Path) -> None:
    writer = WavWriter(tmp_path / "call.wav", MULAW_8K)

    async def run() -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        frames = CallerFrames(MULAW_8K, lambda payload: writer.record_caller(loop.time() - began, payload))
        for index in range(COUNT):
            await asyncio.sleep(max(0.0, began + index * 0.02 - loop.time()))
            writer.record_agent(index * 0.02, VOICE[index])
            if not 100 <= index < 115:
                frames.push(VOICE[index], index + 1)
            if index % 35 == 34:
                writer.flush()

    run_virtual(run())
    writer.flush(everything=True)

    stereo = np.frombuffer((tmp_path / "call.wav").read_bytes()[HEADER_BYTES:], "<i2").reshape(-1, 2)
    caller, agent = stereo[116 * 160 :].T
    assert np.array_equal(caller, agent)


def test_a_carriers_wire_tells_the_leg_what_is_missing() -> None:
    """5 % of Twilio's messages lost on their way to Twilio: the session is fed 20 ms for every 20 ms."""

    class Session:
        def __init__(self) -> None:
            self.heard = b""

        def feed_audio(self, payload: bytes) -> None:
            self.heard += payload

        def feed_digit(self, digit: str) -> None: ...
        def feed_mark(self, name: str) -> None: ...
        def end_call(self, reason: str = "caller_hung_up") -> None: ...
        def voicemail_detected(self, by: str) -> None: ...

    async def run() -> tuple[bytes, FrameLosses]:
        leg, session = MediaLeg(TwilioWire()), Session()
        leg.attach_session(session)
        start = {"streamSid": "MZ1", "callSid": "CA1", "tracks": ["inbound"]}
        leg.on_text(json.dumps({"event": "start", "streamSid": "MZ1", "start": start}))
        for index in lose(0.05):
            media = {"track": "inbound", "chunk": str(index + 1), "payload": b64encode(VOICE[index]).decode()}
            leg.on_text(json.dumps({"event": "media", "media": media}, separators=(",", ":")))
        return session.heard, leg.caller_frames.losses

    heard, losses = run_virtual(run())
    assert len(heard) == COUNT * 160
    assert losses.lost == COUNT - len(lose(0.05)) > 0
