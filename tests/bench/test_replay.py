"""Calls of the lab are the same again, and a change of their agent is found in the turn in which it shows."""

import pytest
from bench.replay import replay_once


@pytest.mark.parametrize("seed", [1_000_006, 1_000_012])
def test_a_call_is_the_same_and_changes_are_found(seed: int) -> None:
    figures = replay_once(seed, planted=99)
    assert figures.difference == ""
    assert {kind for kind, _, _ in figures.found} == {
        "changed_phrase",
        "wrong_edge",
        "dropped_tool",
        "swapped_prompt",
        "lost_variable",
    }
    assert [(turn, found) for _, turn, found in figures.found] == [(turn, turn) for _, turn, _ in figures.found]
