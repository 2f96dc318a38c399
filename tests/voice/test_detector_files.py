"""The file of a turn detector: checked before it is used, and asked in a thread that no call waits for."""

import asyncio
import hashlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

from offhook.settings import Settings, SettingsError
from offhook.voice.ports import EndJudgment
from offhook.voice.turn_detector import onnx_detector
from offhook.voice.turn_detector.onnx_detector import (
    OnnxTurnDetector,
    TurnDetectorRefused,
    describe_detector,
    features_of,
    installed_detector,
    load_runner,
)
from offhook.voice.turn_detector.whisper_features import FloatArray, whisper_features
from tests.fakes.turn_detector import write_detector

SECOND = np.zeros(8000, np.int16)
# Prints the share of this thread in the CPU time of a process that does nothing else.
_OWN_SHARE = """
import time
import numpy as np
from offhook.voice.turn_detector.whisper_features import whisper_features
audio = np.zeros(128_000, np.float32)
of_all, of_this = time.process_time(), time.thread_time()
for _ in range(100):
    whisper_features(audio)
print((time.thread_time() - of_this) / (time.process_time() - of_all))
"""


def plain_features(audio: FloatArray, frames: list[int]) -> FloatArray:
    """The same by the formulas alone: a Fourier sum for each bin, a triangle for each band, frame by frame."""
    wave = np.concatenate((np.zeros(128_000 - audio.size), audio.astype(np.float64)))
    wave = (wave - wave.mean()) / np.sqrt(((wave - wave.mean()) ** 2).mean() + 1e-7)
    mirrored = np.concatenate((wave[200:0:-1], wave, wave[-2:-202:-1]))
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 400)
    turns = np.exp(-2j * np.pi * np.outer(np.arange(201), np.arange(400)) / 400)

    def slaney_hz(mel: float) -> float:
        return mel * 200 / 3 if mel < 15 else 1000 * 6.4 ** ((mel - 15) / 27)

    top = 15 + 27 * np.log(8) / np.log(6.4)
    edges = [slaney_hz(top * index / 81) for index in range(82)]
    levels = np.empty((80, len(frames)))
    for column, frame in enumerate(frames):
        power = np.abs(turns @ (mirrored[frame * 160 : frame * 160 + 400] * hann)) ** 2
        for band in range(80):
            low, middle, high = edges[band : band + 3]
            weights = [
                max(0.0, min((hz - low) / (middle - low), (high - hz) / (high - middle))) * 2 / (high - low)
                for hz in range(0, 8001, 40)
            ]
            levels[band, column] = np.log10(max(float(np.dot(weights, power)), 1e-10))
    return levels.astype(np.float32)


class TestTheFeatures:
    def test_are_those_of_whisper(self) -> None:
        """Of two tones and noise, what transformers 5 computes for its ``WhisperFeatureExtractor(chunk_length=8)``, as
        another project published it for its own port."""
        seed, noise = 12_345, []
        for _ in range(48_000):
            seed = (seed * 1_103_515_245 + 12_345) % 2**32
            noise.append(((seed >> 16) / 32_768 - 1) * 0.01)
        at = np.arange(48_000) / 16_000
        tones = 0.3 * np.sin(2 * np.pi * 440 * at) + 0.2 * np.sin(2 * np.pi * 1250 * at) + noise
        found = whisper_features(tones.astype(np.float32))
        known = {
            (0, 0): -0.26838,
            (40, 400): -0.26838,
            (79, 700): 0.41503,
            (10, 600): 1.64153,
            (20, 799): 0.56652,
            (60, 650): 0.39850,
        }
        assert {place: float(found[place]) for place in known} == pytest.approx(known, abs=2e-5)

    def test_are_those_of_the_formulas(self) -> None:
        random = np.random.default_rng(3)
        at = np.arange(40_000) / 16_000
        audio = (np.sin(2 * np.pi * 180 * at * (1 + at)) * 0.4 + random.normal(0, 0.02, at.size)).astype(np.float32)
        frames = [0, 300, 549, 550, 551, 600, 777, 798, 799]
        levels = plain_features(audio, frames)
        found = whisper_features(audio)
        assert (found.shape, str(found.dtype)) == ((80, 800), "float32")
        loudest = 4 * found.max() - 4
        assert found[:, frames] == pytest.approx((np.maximum(levels, loudest - 8) + 4) / 4, abs=1e-5)

    def test_are_of_the_last_eight_seconds(self) -> None:
        audio = np.random.default_rng(4).normal(0, 0.1, 200_000).astype(np.float32)
        assert (whisper_features(audio) == whisper_features(audio[-128_000:])).all()

    def test_are_computed_in_one_thread(self) -> None:
        """The library that multiplies matrices has a thread on each core, and they spin when it has nothing to do."""
        ran = subprocess.run([sys.executable, "-c", _OWN_SHARE], capture_output=True, text=True, check=True)
        # at the start, they spin for 30 ms anyway
        assert float(ran.stdout) > 0.75

    def test_of_silence_are_numbers(self) -> None:
        assert np.isfinite(features_of(SECOND, 8000)).all()
        assert np.isfinite(features_of(SECOND[:1], 8000)).all()

    def test_of_a_telephone_are_those_of_the_same_sound_at_twice_the_rate(self) -> None:
        tone = (8000 * np.sin(2 * np.pi * 700 * np.arange(32_000) / 16_000)).astype(np.int16)
        narrow, wide = features_of(tone[::2], 8000), features_of(tone, 16_000)
        # from the end of the padding on, and where a telephone has anything
        assert np.abs(narrow - wide)[10:30, 610:790].max() < 0.05


class TestAFile:
    def test_that_was_named_is_loaded(self, tmp_path: Path) -> None:
        sha256 = write_detector(tmp_path / "a.onnx")
        run_model = load_runner(tmp_path / "a.onnx", sha256.upper())
        of_one = load_runner(tmp_path / "a.onnx", write_detector(tmp_path / "a.onnx", shape=(1, 80, 800)))
        features = features_of(SECOND, 8000)
        assert 0 < run_model(features) == of_one(features) < 1

    @pytest.mark.parametrize(
        ("wrong", "why"),
        [
            ({"shape": ("batch_size", 80, 3000)}, "it needs one input of floats (batch, 80, 800)"),
            ({"shape": ("batch_size", 128_000)}, "it needs one input of floats (batch, 80, 800)"),
            ({"shape": (4, 80, 800)}, "it needs one input of floats (batch, 80, 800)"),
            ({"kind": TensorProto.DOUBLE}, "tensor(double)"),
            ({"outputs": 2}, "more1 tensor(float)"),
            ({"is_logit": True}, "for silence; it needs"),
        ],
    )
    def test_of_another_interface_is_refused(self, tmp_path: Path, wrong: dict[str, Any], why: str) -> None:
        sha256 = write_detector(tmp_path / "a.onnx", **wrong)
        with pytest.raises(TurnDetectorRefused) as refused:
            load_runner(tmp_path / "a.onnx", sha256)
        assert why in str(refused.value)
        assert str(refused.value).startswith(f"The turn detector {tmp_path / 'a.onnx'}")

    def test_with_another_hash_is_refused(self, tmp_path: Path) -> None:
        sha256 = write_detector(tmp_path / "a.onnx")
        with pytest.raises(TurnDetectorRefused, match=f"has the SHA-256 {sha256}, and OFFHOOK_TURN_DETECTOR_SHA256 is"):
            load_runner(tmp_path / "a.onnx", "0" * 64)

    def test_that_is_missing_empty_or_something_else_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(TurnDetectorRefused, match="cannot be read: No such file"):
            load_runner(tmp_path / "none.onnx", "0" * 64)
        with pytest.raises(TurnDetectorRefused, match="cannot be read: Is a directory"):
            load_runner(tmp_path, "0" * 64)
        (tmp_path / "empty.onnx").touch()
        with pytest.raises(TurnDetectorRefused, match="has 0 MB"):
            load_runner(tmp_path / "empty.onnx", "0" * 64)
        (tmp_path / "text.onnx").write_text("version https://git-lfs.github.com/spec/v1")
        sha256 = hashlib.sha256((tmp_path / "text.onnx").read_bytes()).hexdigest()
        with pytest.raises(TurnDetectorRefused, match="is not an ONNX model"):
            load_runner(tmp_path / "text.onnx", sha256)

    def test_is_named_with_its_hash_or_not_at_all(self, tmp_path: Path) -> None:
        sha256 = write_detector(tmp_path / "a.onnx")
        assert installed_detector(Settings.load()) is None
        assert installed_detector(Settings.load(turn_detector_file=tmp_path / "a.onnx", turn_detector_sha256=sha256))
        with pytest.raises(SettingsError, match="OFFHOOK_TURN_DETECTOR_SHA256 is missing"):
            installed_detector(Settings.load(turn_detector_file=tmp_path / "a.onnx"))
        with pytest.raises(SettingsError, match="OFFHOOK_TURN_DETECTOR_FILE is missing"):
            installed_detector(Settings.load(turn_detector_sha256=sha256))
        with pytest.raises(SettingsError, match="OFFHOOK_TURN_DETECTOR_SHA256 is 'abc'"):
            Settings.load(turn_detector_file=tmp_path / "a.onnx", turn_detector_sha256="abc")

    def test_is_what_the_doctor_looks_at(self, tmp_path: Path) -> None:
        sha256 = write_detector(tmp_path / "a.onnx")
        assert describe_detector(Settings.load())[0] == "ok"
        well = Settings.load(turn_detector_file=tmp_path / "a.onnx", turn_detector_sha256=sha256)
        assert describe_detector(well) == ("ok", f"{tmp_path / 'a.onnx'}, for agents that use it")
        other = Settings.load(turn_detector_file=tmp_path / "a.onnx", turn_detector_sha256="1" * 64)
        status, detail = describe_detector(other)
        assert (status, "Check where the file came from" in detail) == ("failed", True)


async def ask(detector: OnnxTurnDetector, samples: Any = SECOND) -> EndJudgment:
    answer: asyncio.Future[EndJudgment] = asyncio.get_running_loop().create_future()
    detector.judge_turn(samples, 8000, answer.set_result)
    return await asyncio.wait_for(answer, 60)


class TestTheThread:
    @pytest.fixture(autouse=True)
    def _is_never_late(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A machine that runs other tests besides may need more than a second."""
        monkeypatch.setattr(onnx_detector, "LIMIT_S", 60)

    async def test_answers_calls_one_after_the_other(self, tmp_path: Path) -> None:
        detector = OnnxTurnDetector(load_runner(tmp_path / "a.onnx", write_detector(tmp_path / "a.onnx")))
        loud = np.random.default_rng(5).normal(0, 6000, 24_000).astype(np.int16)
        hushed = np.concatenate((loud, np.zeros(4000, np.int16)))
        going_on, over = await asyncio.gather(ask(detector, loud), ask(detector, hushed))
        assert going_on.probability is not None
        assert over.probability is not None
        assert going_on.probability < over.probability
        assert going_on.failure is None

    async def test_lets_no_call_wait_for_a_model_that_hangs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(onnx_detector, "LIMIT_S", 0.05)
        released = Event()

        def hang(features: FloatArray) -> float:
            released.wait(10)
            return 0.9

        detector = OnnxTurnDetector(hang)
        try:
            first, second = await asyncio.gather(ask(detector), ask(detector))
            assert first == second == EndJudgment(None, failure="late")
        finally:
            released.set()

    async def test_takes_no_more_than_it_can_soon_answer(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(onnx_detector, "MAX_WAITING", 2)
        released, runs = Event(), []

        def wait(features: FloatArray) -> float:
            runs.append(features)
            released.wait(10)
            return 0.9

        detector = OnnxTurnDetector(wait)
        asked = [asyncio.create_task(ask(detector)) for _ in range(6)]
        done, _ = await asyncio.wait(asked, timeout=0.3)
        released.set()
        judged = [task.result() for task in asked if task in done]
        assert len(judged) >= 3
        assert {each.failure for each in judged} == {"late"}
        assert [(await task).failure for task in asked if task not in done] == [None] * (6 - len(done))

    async def test_answers_the_newest_first(self) -> None:
        """With more pauses than it can judge, the oldest answer would always come too late."""
        begun, released, heard = Event(), Event(), []

        def wait(features: FloatArray) -> float:
            heard.append(float(features.max()))
            begun.set()
            released.wait(10)
            return 0.9

        detector = OnnxTurnDetector(wait)
        sounds = [np.random.default_rng(seed).normal(0, 3000, 8000).astype(np.int16) for seed in range(3)]
        asked = [asyncio.create_task(ask(detector, sounds[0]))]
        await asyncio.to_thread(begun.wait, 10)
        asked += [asyncio.create_task(ask(detector, sound)) for sound in sounds[1:]]
        await asyncio.sleep(0)
        released.set()
        await asyncio.gather(*asked)
        assert heard == [float(features_of(sounds[index], 8000).max()) for index in (0, 2, 1)]

    @pytest.mark.parametrize("wrong", [float("nan"), 1.5, -0.1, RuntimeError("the model broke")])
    async def test_says_when_the_model_fails_and_goes_on(self, wrong: Any) -> None:
        answers: list[Any] = [wrong, 0.25]

        def run(features: FloatArray) -> float:
            answer = answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return float(answer)

        detector = OnnxTurnDetector(run)
        assert (await ask(detector)).failure == "failed"
        assert (await ask(detector)).probability == 0.25

    def test_outlives_the_loop_that_asked(self) -> None:
        ready, release = Event(), Event()

        def wait(features: FloatArray) -> float:
            ready.set()
            release.wait(10)
            return 0.5

        detector = OnnxTurnDetector(wait)

        async def leave() -> None:
            detector.judge_turn(SECOND, 8000, _ignore)
            await asyncio.to_thread(ready.wait, 10)

        asyncio.run(leave())
        release.set()
        assert asyncio.run(ask(detector)).probability == 0.5


_ignore: Callable[[EndJudgment], None] = lambda judged: None  # noqa: E731
