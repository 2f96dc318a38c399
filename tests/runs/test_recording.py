"""Recordings: one clock, a valid file at any moment, nothing lost but the last second."""

import asyncio
import os
import resource
import sys
import time
import wave
from pathlib import Path

import numpy as np
import pytest

from offhook.kit.audio import MULAW_8K, PCM16_16K, Codec
from offhook.kit.files.sealed_file import PlainFile
from offhook.runs.recording_files import call_recording
from offhook.runs.recording_files.call_recording import FLUSH_S, HOLD_S, CallRecordings, WavRecorder
from offhook.runs.recording_files.wav import HEADER_BYTES, repair_wav_header

LOUD = 8000


def tone(codec: Codec, value: int = LOUD) -> bytes:
    return codec.encode(np.full(codec.sample_rate // 50, value, np.int16))


def channels(path: Path) -> tuple[int, np.ndarray, np.ndarray]:
    with wave.open(str(path)) as file:
        assert (file.getnchannels(), file.getsampwidth()) == (2, 2)
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, 2)
        return file.getframerate(), samples[:, 0], samples[:, 1]


def loud_spans(channel: np.ndarray, rate: int) -> list[tuple[float, float]]:
    """Where the channel is not silent: (start_s, end_s)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], (np.abs(channel) > LOUD // 2).astype(int), [0]])))
    return [(round(a / rate, 2), round(b / rate, 2)) for a, b in edges.reshape(-1, 2)]


@pytest.fixture
def recordings() -> CallRecordings:
    return CallRecordings()


@pytest.mark.parametrize("codec", [MULAW_8K, PCM16_16K])
async def test_each_side_stands_in_its_channel_at_its_time(
    recordings: CallRecordings, tmp_path: Path, codec: Codec
) -> None:
    recorder = await recordings.open_recorder(tmp_path / "a.wav", codec)
    for i in range(50):
        recorder.record_caller(1.0 + i * 0.02, tone(codec))
    for i in range(25):
        recorder.record_agent(3.0 + i * 0.02, tone(codec))
    await recorder.close()
    rate, caller, agent = channels(tmp_path / "a.wav")
    assert rate == codec.sample_rate
    assert loud_spans(caller, rate) == [(1.0, 2.0)]
    assert loud_spans(agent, rate) == [(3.0, 3.5)]
    assert len(caller) == 3.5 * rate


async def test_jitter_leaves_no_seam(recordings: CallRecordings, tmp_path: Path) -> None:
    recorder = await recordings.open_recorder(tmp_path / "a.wav", MULAW_8K)
    jitter = [0.0, 0.03, -0.01, 0.06, 0.0, 0.09, 0.02, 0.0]
    for i in range(200):
        recorder.record_caller(0.5 + i * 0.02 + jitter[i % len(jitter)], tone(MULAW_8K))
    await recorder.close()
    rate, caller, _ = channels(tmp_path / "a.wav")
    ((begin, end),) = loud_spans(caller, rate)
    assert end - begin == pytest.approx(4.0)
    assert begin == pytest.approx(0.5, abs=0.02)


async def test_frames_that_come_in_a_burst_are_put_back_where_they_were_spoken(
    recordings: CallRecordings, tmp_path: Path
) -> None:
    recorder = await recordings.open_recorder(tmp_path / "a.wav", MULAW_8K)
    for i in range(20):
        recorder.record_caller(i * 0.02, tone(MULAW_8K))
    for _ in range(20):
        recorder.record_caller(0.8, tone(MULAW_8K))
    await recorder.close()
    rate, caller, _ = channels(tmp_path / "a.wav")
    assert loud_spans(caller, rate) == [(0.0, 0.8)]


async def test_a_side_that_sends_faster_than_time_does_not_grow_the_file(
    recordings: CallRecordings, tmp_path: Path
) -> None:
    recorder = await recordings.open_recorder(tmp_path / "a.wav", MULAW_8K)
    for i in range(1000):
        for _ in range(5):
            recorder.record_caller(i * 0.02, tone(MULAW_8K))
        if i % 25 == 0:
            recorder.flush()
    await recorder.close()
    rate, caller, _ = channels(tmp_path / "a.wav")
    assert len(caller) / rate <= 20.0 + 1.1


@pytest.mark.slow
async def test_times_without_sense_neither_fail_nor_fill_the_disk(recordings: CallRecordings, tmp_path: Path) -> None:
    recorder = await recordings.open_recorder(tmp_path / "a.wav", MULAW_8K)
    recorder.record_caller(0.0, tone(MULAW_8K))
    recorder.record_caller(-5.0, tone(MULAW_8K))
    recorder.record_caller(1e9, tone(MULAW_8K))
    recorder.record_caller(float("nan"), tone(MULAW_8K))
    recorder.record_caller(0.02, b"")
    recorder.record_agent(5000.0, tone(MULAW_8K))
    await recorder.close()
    rate, _, agent = channels(tmp_path / "a.wav")
    assert loud_spans(agent, rate) == [(5000.0, 5000.02)]
    assert (tmp_path / "a.wav").stat().st_blocks * 512 < 2_000_000, "silence that nobody sent is a hole in the file"


async def test_a_hanging_disk_bounds_the_memory(recordings: CallRecordings, tmp_path: Path) -> None:
    recorder = await recordings.open_recorder(tmp_path / "a.wav", PCM16_16K)
    for i in range(10_000):
        recorder.record_caller(i * 0.02, tone(PCM16_16K))
    assert recorder._caller.arrived_bytes <= call_recording.MAX_PENDING_BYTES + PCM16_16K.frame_bytes
    await recorder.close()


async def test_the_file_is_valid_at_any_moment_and_no_more_than_a_second_behind(
    recordings: CallRecordings, tmp_path: Path
) -> None:
    recorder = await recordings.open_recorder(tmp_path / "a.wav", MULAW_8K)
    channels(tmp_path / "a.wav")
    begun = time.monotonic()
    while (now := time.monotonic() - begun) < 1.6:
        recorder.record_caller(now, tone(MULAW_8K))
        await asyncio.sleep(0.02)
    rate, caller, agent = channels(tmp_path / "a.wav")  # what stands there when the process is killed now
    assert len(caller) / rate > now - FLUSH_S - HOLD_S - 0.2
    assert len(caller) == len(agent)
    await recorder.close()
    await recorder.close()


def repair(path: Path) -> bool:
    file = PlainFile(path)
    try:
        return repair_wav_header(file)
    finally:
        file.close()


class TestRecover:
    def killed(self, path: Path) -> None:
        """A file whose last write reached the disk but whose header did not, cut in the middle of a sample."""
        recorder = WavRecorder(path, MULAW_8K, CallRecordings(), 0)
        for i in range(100):
            recorder.record_caller(i * 0.02, tone(MULAW_8K))
        recorder.flush()
        with path.open("ab") as file:
            file.write(b"\x01\x02" * 8001 + b"\x07")

    def test_the_header_catches_up(self, tmp_path: Path) -> None:
        path = tmp_path / "a.wav"
        self.killed(path)
        _, before, _ = channels(path)
        assert repair(path)
        _, after, _ = channels(path)
        assert len(after) == len(before) + 4000
        assert path.stat().st_size == HEADER_BYTES + len(after) * 4

    def test_a_truncated_file_is_cut_to_whole_samples(self, tmp_path: Path) -> None:
        path = tmp_path / "a.wav"
        self.killed(path)
        os.truncate(path, HEADER_BYTES + 4 * 777 + 3)
        assert repair(path)
        assert len(channels(path)[1]) == 777

    def test_is_idempotent(self, tmp_path: Path) -> None:
        path = tmp_path / "a.wav"
        self.killed(path)
        repair(path)
        first = path.read_bytes()
        assert repair(path)
        assert path.read_bytes() == first

    def test_leaves_other_files_alone(self, tmp_path: Path) -> None:
        other = tmp_path / "b.wav"
        other.write_bytes(b"RIFF" + b"x" * 100)
        assert not repair(other)
        assert other.read_bytes() == b"RIFF" + b"x" * 100
        (tmp_path / "short.wav").write_bytes(b"RIFF")
        assert not repair(tmp_path / "short.wav")


async def test_forty_recorders_cost_little(recordings: CallRecordings, tmp_path: Path) -> None:
    """A loose bound on a busy machine; the figure itself is printed (about 0.2 ms CPU per call-second when idle)."""
    recorders = [await recordings.open_recorder(tmp_path / f"{i}.wav", MULAW_8K) for i in range(40)]
    payload = tone(MULAW_8K)
    before, seconds = resource.getrusage(resource.RUSAGE_SELF), 10
    for second in range(seconds):
        for i in range(50):
            for recorder in recorders:
                recorder.record_caller(second + i * 0.02, payload)
                recorder.record_agent(second + i * 0.02, payload)
            if i % 25 == 24:
                await asyncio.to_thread(recordings._flush_all, recorders, False)
    after = resource.getrusage(resource.RUSAGE_SELF)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    per_call_second_ms = used * 1000 / (40 * seconds)
    print(f"recording: {per_call_second_ms:.3f} ms CPU per call-second")
    for recorder in recorders:
        await recorder.close()
    assert per_call_second_ms < 1.0


_TALKER = """
import asyncio, sys, time
from pathlib import Path
from offhook.kit.audio import PCM16_16K
from offhook.runs.recording_files.call_recording import CallRecordings

async def talk():
    recorder = await CallRecordings().open_recorder(Path(sys.argv[1]), PCM16_16K)
    begun, sent = time.monotonic(), 0
    print("talking", flush=True)
    while True:
        now = time.monotonic() - begun
        while sent * 0.02 < now:
            recorder.record_caller(sent * 0.02, b"\\x00\\x20" * 320)
            recorder.record_agent(sent * 0.02, b"\\x00\\x20" * 320)
            sent += 1
        await asyncio.sleep(0.02)

asyncio.run(talk())
"""


@pytest.mark.real_time
async def test_a_killed_process_leaves_a_recording_up_to_the_last_second(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _TALKER, str(path), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    await process.stdout.readline()
    begun = time.monotonic()
    await asyncio.sleep(2.5)
    process.kill()
    await process.wait()
    talked_s = time.monotonic() - begun
    rate, caller, agent = channels(path)  # as it is, before any repair
    assert len(caller) / rate > talked_s - 1.0
    assert repair(path)
    assert loud_spans(caller, rate) == loud_spans(agent, rate) == [(0.0, round(len(caller) / rate, 2))]
