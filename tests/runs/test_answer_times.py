"""Answer times in the sound of a recording: known silences are found, and nothing is where both sides speak."""

import wave
from pathlib import Path

import numpy as np
import pytest

from offhook.kit.audio import MULAW_8K
from offhook.runs.strips.answer_times import (
    MAX_ANSWERS,
    MeasuredAnswer,
    find_answers,
    read_answers,
    summarize_answers,
)

RATE = 8000
SPEECH_DB = -24.0


class Recording:
    """A stereo recording that a test fills with made-up speech, noise and clicks."""

    def __init__(self, seconds: float, rate: int = RATE) -> None:
        self.rate = rate
        self.sound = np.zeros((round(seconds * rate), 2))
        self.random = np.random.default_rng(7)

    def speak(self, channel: int, start_s: float, end_s: float, level_db: float = SPEECH_DB) -> None:
        """Syllables of a voice: harmonics of 120 Hz that swell and fade four times a second, as loud as speech is."""
        at = np.arange(round((end_s - start_s) * self.rate)) / self.rate
        voice = sum(np.sin(2 * np.pi * 120 * harmonic * at) / harmonic for harmonic in range(1, 12))
        swell = 0.6 + 0.4 * np.cos(2 * np.pi * 4 * at)
        self._add(channel, start_s, voice * swell, level_db)

    def hiss(self, channel: int, level_db: float) -> None:
        self._add(channel, 0.0, self.random.normal(size=len(self.sound)), level_db)

    def _add(self, channel: int, start_s: float, sound: np.ndarray, level_db: float) -> None:
        scale = 10 ** (level_db / 20) / np.sqrt(np.square(sound).mean())
        start = round(start_s * self.rate)
        self.sound[start : start + len(sound), channel] += sound * scale

    def save(self, path: Path, *, is_mulaw: bool = False) -> Path:
        samples = (np.clip(self.sound, -1, 1) * 32767).astype("<i2")
        if is_mulaw:
            samples = np.stack([MULAW_8K.decode(MULAW_8K.encode(samples[:, side])) for side in (0, 1)], axis=1)
        return save_wav(path, samples, self.rate)

    def measure(self, path: Path, *, is_mulaw: bool = False) -> list[MeasuredAnswer]:
        with self.save(path / "call.wav", is_mulaw=is_mulaw).open("rb") as file:
            answers = read_answers(file)
        assert answers is not None
        return answers


def save_wav(path: Path, samples: np.ndarray, rate: int = RATE) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(samples.shape[1])
        file.setsampwidth(samples.dtype.itemsize)
        file.setframerate(rate)
        file.writeframes(samples.tobytes())
    return path


def three_turns(rate: int = RATE) -> Recording:
    """Answered after 0.5, 0.9 and 1.4 seconds; the first sentence of the agent is its greeting."""
    call = Recording(20, rate)
    call.speak(1, 0.5, 2.0)
    for stopped, silence in ((4.0, 0.5), (8.0, 0.9), (14.0, 1.4)):
        call.speak(0, stopped - 1.2, stopped)
        call.speak(1, stopped + silence, stopped + silence + 1.5)
    return call


def silences(answers: list[MeasuredAnswer]) -> list[int]:
    return [answer.silence_ms for answer in answers]


class TestKnownSilences:
    @pytest.mark.parametrize("rate", [8000, 16_000, 22_050])
    def test_are_found_to_a_frame_or_two(self, tmp_path: Path, rate: int) -> None:
        answers = three_turns(rate).measure(tmp_path)
        assert silences(answers) == pytest.approx([500, 900, 1400], abs=20)
        assert [answer.caller_stopped_s for answer in answers] == pytest.approx([4, 8, 14], abs=0.02)

    def test_survive_the_codec_of_a_telephone(self, tmp_path: Path) -> None:
        assert silences(three_turns().measure(tmp_path, is_mulaw=True)) == pytest.approx([500, 900, 1400], abs=20)

    @pytest.mark.parametrize("noise_db", [-60.0, -50.0, -42.0])
    def test_are_found_in_the_noise_of_a_line(self, tmp_path: Path, noise_db: float) -> None:
        call = three_turns()
        call.hiss(0, noise_db)
        call.hiss(1, -65.0)
        assert silences(call.measure(tmp_path, is_mulaw=True)) == pytest.approx([500, 900, 1400], abs=30)

    def test_do_not_depend_on_how_loud_a_side_is(self, tmp_path: Path) -> None:
        call = Recording(6)
        call.speak(0, 1.0, 2.0, level_db=-40.0)
        call.speak(1, 2.7, 4.0, level_db=-12.0)
        assert silences(call.measure(tmp_path)) == pytest.approx([700], abs=20)

    def test_an_offset_of_the_line_is_not_sound(self, tmp_path: Path) -> None:
        call = three_turns()
        call.sound += 0.05
        assert silences(call.measure(tmp_path)) == pytest.approx([500, 900, 1400], abs=20)

    def test_the_silence_that_a_voice_begins_with_counts(self, tmp_path: Path) -> None:
        call = Recording(6)
        call.speak(0, 1.0, 2.0)
        call.speak(1, 2.4, 2.8, level_db=-75.0)
        call.speak(1, 2.8, 4.0)
        assert silences(call.measure(tmp_path)) == pytest.approx([800], abs=20)


class TestPauses:
    def test_a_short_pause_is_part_of_what_is_said(self, tmp_path: Path) -> None:
        call = Recording(6)
        call.speak(0, 1.0, 1.6)
        call.speak(0, 1.75, 2.5)
        call.speak(1, 3.1, 4.0)
        assert silences(call.measure(tmp_path)) == pytest.approx([600], abs=20)

    def test_after_a_long_one_the_last_stop_counts(self) -> None:
        assert find_answers([(1.0, 2.0), (3.0, 4.0)], [(4.5, 6.0)]) == [MeasuredAnswer(4.0, 4.5)]

    def test_the_second_sentence_of_the_agent_answers_nothing(self) -> None:
        assert find_answers([(1.0, 2.0)], [(2.5, 3.0), (4.0, 5.0)]) == [MeasuredAnswer(2.0, 2.5)]

    def test_a_click_is_neither_a_caller_nor_an_agent(self, tmp_path: Path) -> None:
        call = Recording(8)
        call.speak(0, 1.0, 2.0)
        call.speak(0, 2.6, 2.63, level_db=-12.0)
        call.speak(1, 2.3, 2.33, level_db=-12.0)
        call.speak(1, 3.0, 4.0)
        assert silences(call.measure(tmp_path)) == pytest.approx([1000], abs=20)


class TestBothAtOnce:
    def test_an_agent_that_begins_before_the_caller_is_done(self) -> None:
        assert find_answers([(1.0, 3.0)], [(2.5, 5.0)]) == []

    def test_an_agent_that_talks_on(self) -> None:
        assert find_answers([(2.0, 2.5)], [(1.0, 4.0), (4.5, 6.0)]) == []

    def test_a_barge_in_is_answered_after_its_own_end(self) -> None:
        assert find_answers([(2.0, 4.0)], [(1.0, 2.3), (4.6, 6.0)]) == [MeasuredAnswer(4.0, 4.6)]

    def test_what_ends_with_the_agent_can_be_its_echo(self) -> None:
        assert find_answers([(1.1, 3.15)], [(1.0, 3.0), (3.5, 6.0)]) == []

    def test_an_answer_without_any_silence(self) -> None:
        assert find_answers([(1.0, 2.0)], [(2.0, 3.0)]) == [MeasuredAnswer(2.0, 2.0)]

    def test_a_caller_that_nobody_answers(self) -> None:
        assert find_answers([(1.0, 2.0)], []) == []


class TestNothingToMeasure:
    @pytest.mark.parametrize("noise_db", [-100.0, -60.0, -45.0])
    def test_a_line_that_only_hisses(self, tmp_path: Path, noise_db: float) -> None:
        call = Recording(10)
        call.hiss(0, noise_db)
        call.speak(1, 3.0, 5.0)
        assert call.measure(tmp_path) == []

    @pytest.mark.parametrize(
        "samples",
        [np.zeros((800, 1), "<i2"), np.zeros((800, 2), np.uint8), np.zeros((800, 2), "<i4")],
        ids=["mono", "8 bits", "32 bits"],
    )
    def test_another_kind_of_file(self, tmp_path: Path, samples: np.ndarray) -> None:
        with save_wav(tmp_path / "a.wav", samples).open("rb") as file:
            assert read_answers(file) is None

    @pytest.mark.parametrize("samples", [0, 1, 79, 80])
    def test_one_shorter_than_a_frame_or_two(self, tmp_path: Path, samples: int) -> None:
        with save_wav(tmp_path / "a.wav", np.full((samples, 2), 9000, "<i2")).open("rb") as file:
            assert read_answers(file) == []

    def test_one_that_ends_in_the_middle_of_a_frame(self, tmp_path: Path) -> None:
        path = three_turns().save(tmp_path / "a.wav")
        path.write_bytes(path.read_bytes()[:-3])
        with path.open("rb") as file:
            answers = read_answers(file)
        assert answers is not None
        assert len(answers) == 3

    def test_a_broken_one(self, tmp_path: Path) -> None:
        broken = tmp_path / "b.wav"
        broken.write_bytes(b"RIFF")
        with broken.open("rb") as file:
            assert read_answers(file) is None


class TestSummary:
    def test_percentiles_are_of_all_answers_and_the_list_is_bounded(self) -> None:
        answers = [MeasuredAnswer(float(turn), turn + (turn + 1) / 1000) for turn in range(MAX_ANSWERS + 100)]
        summary = summarize_answers(answers)
        assert (summary["p50_ms"], summary["p95_ms"]) == (300, 570)
        assert isinstance(summary["answers"], list)
        assert len(summary["answers"]) == MAX_ANSWERS
        assert summary["answers"][1] == {"caller_stopped_s": 1.0, "agent_audible_s": 1.002, "silence_ms": 2}

    def test_without_an_answer(self) -> None:
        assert summarize_answers([]) == {"p50_ms": None, "p95_ms": None, "answers": []}
