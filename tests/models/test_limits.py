"""Amounts that callers name, against the limits of an author's conditions."""

import time

import pytest

from offhook.models.providers.builtin.english.numbers.limits import MAX_AMOUNTS, keeps_limit, read_limits


@pytest.mark.parametrize(
    ("said", "condition", "is_kept"),
    [
        ("we've had it like five months", "less than 2 years old", True),
        ("Kenmore, fifteen years if it's a day", "2 years or older", True),
        ("it's a Whirlpool, um, must be eight years, no, nine", "2 years or older", True),
        ("a year and a half ago", "less than 2 years", True),
        ("two and a half years", "less than 2 years", False),
        ("it was two years and a half ago", "less than 3 years", True),
        ("half an hour", "within 20 minutes", False),
        ("over three years", "2 years or older", True),
        ("over a year", "2 years or older", None),
        ("five of us I think, yeah, five", "2-6 players", True),
        ("eight of us", "2 to 6 people", False),
        ("twenty something", "> 15 people", True),
        ("two hundred and ten", "more than 200", True),
        ("one forty", "over 110 pounds", True),
        ("it's about a mile", "more than 3 miles", False),
        ("I turned nineteen in March", "18+", True),
    ],
)
def test_what_is_so_now_keeps_a_limit_or_breaks_it(said: str, condition: str, is_kept: bool | None) -> None:
    assert keeps_limit(said, condition) is is_kept


@pytest.mark.parametrize(
    ("said", "condition"),
    [
        ("I'll be eighteen in May", "at least eighteen"),
        ("when I was twelve", "18 or over"),
        ("I was forty then", "18 or over"),
        ("at 4 pm", "up to 6"),
        ("555 283 9911", "more than 5"),
        ("the 9th", "8 weeks or more"),
        ("quite a few, I should think", "more than 15 people"),
        ("five months", "something we fix"),
    ],
)
def test_what_is_no_amount_of_now_keeps_nothing(said: str, condition: str) -> None:
    assert keeps_limit(said, condition) is None


def test_conditions_of_many_limits_hold_up_no_other_call() -> None:
    said, condition = "five, " * 130, "at most 1, " * 3600
    began = time.process_time()
    limits = read_limits(condition)
    assert keeps_limit(said, condition) is None
    assert keeps_limit("five, " * MAX_AMOUNTS, condition) is False
    assert len(limits) == 3600
    # 30 s where each limit is read with all words before it, and what is said with each limit
    assert time.process_time() - began < 2
