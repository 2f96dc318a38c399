"""The judge of the turn-taking panel: what is silence, what goes on at the word, and which figures are shown."""

import numpy as np
from bench.turns.clips import find_audio
from bench.turns.judging import Panel, Tally, find_segments


def loudness(*runs: tuple[bool, int]) -> np.ndarray:
    return np.concatenate([np.full(frames, is_loud) for is_loud, frames in runs])


def test_a_gap_of_200_ms_is_silence_and_a_shorter_one_is_not() -> None:
    assert list(find_segments(loudness((True, 20), (False, 9), (True, 20)))) == [(0, 49)]
    assert list(find_segments(loudness((True, 20), (False, 10), (True, 20)))) == [(0, 20), (30, 50)]


def test_audio_is_found_where_it_was_said_also_at_a_lower_volume() -> None:
    said = np.random.default_rng(1).normal(0, 3000, 16000).astype(np.int16)

    assert find_audio(said, (said[5000:8000] * 0.25).astype(np.float64)) == [5000]
    assert sorted(find_audio(np.concatenate([said, said]), said[5000:8000].astype(np.float64))) == [5000, 21000]
    assert find_audio(said, np.random.default_rng(2).normal(0, 3000, 3000)) == []


def test_rates_have_an_interval_and_few_events_no_rate() -> None:
    tally = Tally()
    for index in range(100):
        tally.add(index < 95)
    assert tally.rate() == {"value": 0.95, "n": 100, "interval": [0.888, 0.978]}

    panel = Panel()
    panel.tallies["S_BC"].add(True)
    assert panel.figures()["S_BC"]["value"] is None
