"""Values in spoken English, one table each."""

import time
from typing import Final

import pytest

from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin import edge_values
from offhook.models.providers.builtin.english import names, spoken_values
from offhook.models.providers.builtin.english.words import (
    answer_polarity,
    content_stems,
    is_plain_polarity,
    word_tokens,
)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("four two seven one", "4271"),
        ("four two, double seven", "4277"),
        ("triple five one", "5551"),
        ("oh one oh two", "0102"),
        ("oh, it's nine nine zero five", "9905"),
        ("forty two seventy one", "4271"),
        ("twenty twelve", "2012"),
        ("my number is 555-0142", "5550142"),
        ("(entered on the keypad) 4711", "4711"),
        ("I am looking for a lamp", ""),
        ("I ordered on March 12th around 3:45 and paid 1299 bucks", ""),
    ],
)
def test_digits(said: str, found: str) -> None:
    assert spoken_values.all_digits(said) == found


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("eight out of ten", 8),
        ("I'd say seven", 7),
        ("twenty one", 21),
        ("a hundred", 100),
        ("two hundred and ten", 210),
        ("three thousand five hundred", 3500),
        ("1,200 euros", 1200),
        ("four point five", 4.5),
        ("4.5 stars", 4.5),
        ("nineteen", 19),
        ("a lot", None),
    ],
)
def test_numbers(said: str, found: float | None) -> None:
    assert spoken_values.first_number(said) == found


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("tuesday", "Tuesday"),
        ("on Mondays", "Monday"),
        ("next friday please", "next Friday"),
        ("not monday, wednesday", "Wednesday"),
        ("tomorrow", "tomorrow"),
        ("at the weekend", "the weekend"),
        ("june the fifth", "June 5"),
        ("the 3rd of march", "March 3"),
        ("twenty first of may", "May 21"),
        ("may the twenty second", "May 22"),
        ("next week", "next week"),
        ("friday next week", "Friday next week"),
        ("next week on friday", "Friday next week"),
        ("friday of next week", "Friday next week"),
        ("not friday, next week", "next week"),
        ("any day is fine", "any day"),
        ("the lamp", None),
    ],
)
def test_days(said: str, found: str | None) -> None:
    assert spoken_values.day_phrase(said) == found


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("eleven", "eleven o'clock"),
        ("nine o'clock please", "nine o'clock"),
        ("half past ten", "half past ten"),
        ("quarter to five", "quarter to five"),
        ("at 3 pm", "3 pm"),
        ("at 10:30", "10:30"),
        ("in the morning", "in the morning"),
        ("at noon", "noon"),
        ("fifty", None),
        ("the lamp", None),
    ],
)
def test_times(said: str, found: str | None) -> None:
    assert spoken_values.time_of_day(said) == found


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("my name is alex morgan", "Alex Morgan"),
        ("this is Ann speaking", "Ann"),
        ("it's Jean-Luc", "Jean-Luc"),
        ("sarah o'neill", "Sarah O'neill"),
        ("yes, call me bob please", "Bob"),
        ("I would like to book a table for four people tonight", None),
    ],
)
def test_names(said: str, found: str | None) -> None:
    assert names.person_name(said) == found


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("alex at example dot com", "alex@example.com"),
        ("it's alex dot morgan at example dot co dot uk", "alex.morgan@example.co.uk"),
        ("Alex.Morgan@Example.com.", "alex.morgan@example.com"),
        ("I have none", None),
    ],
)
def test_email(said: str, found: str | None) -> None:
    assert spoken_values.email_address(said) == found


@pytest.mark.parametrize(
    ("said", "kind", "is_plain"),
    [
        ("yes please", "yes", True),
        ("sure, go ahead", "yes", True),
        ("that's right", "yes", True),
        ("yes but what does it cost", "yes", False),
        ("no thank you", "no", True),
        ("absolutely not", "no", True),
        ("not really", "no", True),
        ("no, my brother does", "no", False),
        ("I know", None, False),
        ("nothing", None, False),
        ("", None, False),
    ],
)
def test_yes_and_no(said: str, kind: str | None, is_plain: bool) -> None:
    assert (answer_polarity(said), is_plain_polarity(said)) == (kind, is_plain)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("moving", "move"),
        ("cancelled", "cancel"),
        ("orders", "order"),
        ("reschedule", "move"),
        ("my parcels", "the package"),
        ("a real human", "real person"),
        ("café", "cafe"),
        ("4 stars", "four star"),
    ],
)
def test_words_that_mean_the_same(one: str, other: str) -> None:
    assert content_stems(one) == content_stems(other)


def test_contractions_are_written_out() -> None:
    assert word_tokens("I can\u2019t, it's 9 o'clock & I'd rather") == [
        "i", "can", "not", "it", "is", "9", "oclock", "i", "would", "rather",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("today", "said", "heard"),
    [
        ("Friday", "tomorrow works", "Saturday works"),
        ("Sunday", "could I come today", "could I come Sunday"),
        ("Monday", "tomorrow works", "tomorrow works"),
        ("", "tomorrow works", "tomorrow works"),
    ],
)
def test_tomorrow_is_a_day_of_the_weekend_where_weekdays_are_offered(today: str, said: str, heard: str) -> None:
    assert edge_values.name_weekend(said, today, "Which day suits you best, Monday to Friday?") == heard
    assert edge_values.name_weekend(said, today, "Which day suits you best?") == said


ADULT = EdgeHint("adult", "is eighteen", "The applicant is at least eighteen years old.")
MINOR = EdgeHint("minor", "too young", "The applicant is younger than eighteen.")
GROUP = EdgeHint("group", "big group", "There are more than 6 people.")
TABLE = EdgeHint("table", "normal table", "6 people or fewer, at most 6.")


@pytest.mark.parametrize(
    ("said", "edges", "within"),
    [
        ("I'm forty", (ADULT, MINOR), ADULT),
        ("not till March, I'm still seventeen", (ADULT, MINOR), MINOR),
        ("eighteen", (ADULT, MINOR), ADULT),
        ("I'll be eighteen in March", (ADULT, MINOR), None),
        ("almost eighteen", (ADULT, MINOR), None),
        ("I'm not eighteen", (ADULT, MINOR), None),
        ("I'm sixteen, no, eighteen", (ADULT, MINOR), None),
        ("there'd be nine of us", (GROUP, TABLE), GROUP),
        ("six of us", (GROUP, TABLE), TABLE),
        ("half past seven", (GROUP, TABLE), None),
        ("there's a lot of us", (GROUP, TABLE), None),
        # one limit alone says nothing about what does not keep it
        ("forty", (ADULT, EdgeHint("no", "does not say", "The applicant declines to answer.")), None),
    ],
)
def test_the_edge_whose_limit_a_number_keeps(said: str, edges: tuple[EdgeHint, ...], within: EdgeHint | None) -> None:
    assert edge_values.edge_within_limit(said, edges) is within


OLD_ENOUGH: Final = EdgeHint("long ago", "long enough", "8 weeks or more")
TOO_EARLY: Final = EdgeHint("not yet", "too early", "less than 8 weeks")
FEW: Final = EdgeHint("few", "not enough", "under 15 guests")
MANY: Final = EdgeHint("many", "enough people", "they are enough")


@pytest.mark.parametrize(
    ("said", "edges", "within"),
    [
        ("it was, let me think, about three weeks back", (OLD_ENOUGH, TOO_EARLY), TOO_EARLY),
        ("back in the winter, so that's like half a year", (OLD_ENOUGH, TOO_EARLY), OLD_ENOUGH),
        ("a couple of months ago", (OLD_ENOUGH, TOO_EARLY), OLD_ENOUGH),
        ("on the 9th", (OLD_ENOUGH, TOO_EARLY), None),
        ("forty five I think", (FEW, MANY), MANY),
        ("just family, so, um, twelve", (FEW, MANY), FEW),
        ("it's 555 283 9911", (FEW, MANY), None),
        ("at eight o'clock", (FEW, MANY), None),
    ],
)
def test_the_edge_whose_limit_an_amount_keeps(said: str, edges: tuple[EdgeHint, ...], within: EdgeHint | None) -> None:
    assert edge_values.edge_within_limit(said, edges, "How many guests, and how long ago was the last?") is within


def test_a_limit_alone_decides_nothing_where_no_amount_is_asked_for() -> None:
    assert edge_values.edge_within_limit("there are forty of us", (FEW, MANY), "What can I do for you?") is None


def test_days_are_looked_for_in_long_examples_without_holding_up_calls() -> None:
    began = time.process_time()
    assert spoken_values.day_phrase("we come on a " * 3000) is None
    assert spoken_values.day_phrase(f"{'we come on a ' * 3000} a week from next Friday") == "a week from next Friday"
    # minutes where all words before each one are searched
    assert time.process_time() - began < 2
