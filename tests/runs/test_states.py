"""The state machine: only forwards, and final is final in any order of the reports."""

from hypothesis import given
from hypothesis import strategies as st

from offhook.runs.states import ALL_STATES, FINAL_STATES, LIVE_STATES, OUTCOME_OF, can_move, source_states

STATUSES = st.sampled_from(sorted(ALL_STATES))
_RANK = {"initiated": 0, "ringing": 1, "in_progress": 2} | dict.fromkeys(FINAL_STATES, 3)


def after(statuses: list[str]) -> str:
    state = "initiated"
    for status in statuses:
        if can_move(state, status):
            state = status
    return state


@given(st.lists(STATUSES, max_size=12))
def test_a_run_never_goes_back_and_the_first_final_state_stays(statuses: list[str]) -> None:
    finals = [status for status in statuses if status in FINAL_STATES]
    if finals:
        assert after(statuses) == finals[0]
    else:
        assert after(statuses) == max(["initiated", *statuses], key=_RANK.__getitem__)


@given(st.permutations(["initiated", "ringing", "in_progress", "completed"]))
def test_one_calls_callbacks_in_any_order_end_in_the_same_state(statuses: list[str]) -> None:
    assert after(statuses) == "completed"


@given(st.lists(STATUSES, max_size=8), STATUSES)
def test_a_duplicate_changes_nothing(statuses: list[str], status: str) -> None:
    once = after([*statuses, status])
    assert after([*statuses, status, status]) == once


@given(STATUSES, STATUSES)
def test_the_compare_and_swap_allows_what_the_machine_allows(current: str, target: str) -> None:
    assert (current in source_states(target)) == can_move(current, target)


def test_every_state_is_live_or_final_and_every_final_one_has_an_outcome() -> None:
    assert not LIVE_STATES & FINAL_STATES
    assert set(OUTCOME_OF) == FINAL_STATES


def test_a_status_that_does_not_exist_moves_nothing() -> None:
    assert not can_move("initiated", "answered")
    assert not can_move("nonsense", "completed")
