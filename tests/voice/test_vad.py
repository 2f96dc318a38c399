"""The real Silero model on synthetic signals, and the detector on top of it."""

import asyncio

import numpy as np
import pytest

from offhook.kit.onnx_sessions import onnx_session
from offhook.voice.input.silero_graph import build_graph
from offhook.voice.input.silero_vad_engine import WINDOW, SileroVad, model_path
from offhook.voice.input.speech_detector import SpeechDetector


def test_hiss_and_silence_are_not_speech_and_every_window_is_answered() -> None:
    async def listen() -> None:
        engine = SileroVad()
        heard: list[float] = []
        stream = engine.open_stream(lambda probability, window_s: heard.append(probability))
        hiss = np.random.default_rng(1).integers(-300, 300, WINDOW * 30).astype(np.int16)
        for at in range(0, hiss.size, 160):
            stream.push(hiss[at : at + 160])
        stream.push(np.zeros(WINDOW * 10, np.int16))
        await asyncio.sleep(0.1)
        assert len(heard) == 40
        assert max(heard) < 0.5
        stream.close()

    asyncio.run(listen())


def test_a_frame_that_is_due_goes_out_while_many_calls_are_told_what_was_heard() -> None:
    async def listen() -> list[str]:
        engine = SileroVad()
        seen: list[str] = []

        def hear(probability: float, window_s: float) -> None:
            if not seen:
                asyncio.get_running_loop().call_soon(seen.append, "frame")
            seen.append("window")

        for _ in range(30):
            engine.open_stream(hear).push(np.zeros(WINDOW, np.int16))
        await asyncio.sleep(0.1)
        return seen

    seen = asyncio.run(listen())
    assert seen.count("window") == 30
    assert seen.index("frame") < 30


@pytest.mark.slow
def test_calls_in_one_batch_do_not_hear_each_other() -> None:
    async def alone_and_together() -> None:
        rng = np.random.default_rng(2)
        signals = [(rng.standard_normal(WINDOW * 20) * level).astype(np.int16) for level in (200, 2000, 6000)]

        async def probabilities(engine: SileroVad, chosen: list[int]) -> list[list[float]]:
            heard: list[list[float]] = [[] for _ in chosen]
            streams = [engine.open_stream(lambda p, w, to=to: to.append(p)) for to in heard]
            for at in range(0, WINDOW * 20, WINDOW):
                for stream, index in zip(streams, chosen, strict=True):
                    stream.push(signals[index][at : at + WINDOW])
                await asyncio.sleep(0.025)
            for stream in streams:
                stream.close()
            return heard

        together = await probabilities(SileroVad(), [0, 1, 2])
        for index in range(3):
            (alone,) = await probabilities(SileroVad(), [index])
            assert np.allclose(alone, together[index], atol=1e-4)

    asyncio.run(alone_and_together())


def test_the_graph_of_many_calls_answers_as_the_published_one() -> None:
    rng = np.random.default_rng(3)
    published, ours = onnx_session(model_path(), log_level=3), onnx_session(build_graph(model_path()), log_level=3)
    rate = np.array(8000, np.int64)
    state = our_state = np.zeros((2, 5, 128), np.float32)
    speechlike = 0.0
    for at in range(60):
        seconds = (np.arange(288) + 256 * at) / 8000
        pitch = sum(np.sin(2 * np.pi * 140 * harmonic * seconds) / harmonic for harmonic in range(1, 20))
        loudness = 10 ** rng.uniform(-4, -0.5, (5, 1))
        windows = (loudness * (pitch + rng.standard_normal((5, 288)))).astype(np.float32)
        expected, state = published.run(None, {"input": windows, "state": state, "sr": rate})
        found, our_state = ours.run(None, {"input": windows, "state": our_state})
        assert np.allclose(found, expected, atol=1e-5)
        assert np.allclose(our_state, state, atol=1e-4)
        speechlike = max(speechlike, float(expected.max()))
    assert speechlike > 0.5


class TestDetector:
    def hear(self, probabilities: list[float]) -> list[str]:
        log: list[str] = []
        clock = iter(range(1000))
        detector = SpeechDetector(
            now=lambda: next(clock) * 0.032,
            start_probability=0.5,
            stop_probability=0.35,
            stop_after_s=0.3,
            on_start=lambda: log.append("start"),
            on_stop=lambda: log.append("stop"),
            on_window=lambda: None,
        )
        for probability in probabilities:
            detector(probability, 0.032)
        return log

    def test_one_loud_window_is_a_click(self) -> None:
        assert self.hear([0, 0.9, 0, 0.9, 0]) == []

    def test_speech_starts_with_the_second_window_and_ends_after_the_pause(self) -> None:
        assert self.hear([0.9] * 5 + [0.1] * 10) == ["start", "stop"]

    def test_a_short_pause_does_not_end_it(self) -> None:
        assert self.hear([0.9] * 5 + [0.1] * 6 + [0.9] * 3) == ["start"]

    def test_between_the_thresholds_nothing_changes(self) -> None:
        assert self.hear([0.45] * 10) == []
        assert self.hear([0.9] * 3 + [0.45] * 30) == ["start"]
