"""What a caller rates with, of all the numbers in a sentence."""

import pytest

from offhook.models.providers.builtin.english.ratings import rating_in

SCALE = (1.0, 2.0, 3.0, 4.0, 5.0)


@pytest.mark.parametrize(
    ("said", "rating"),
    [
        ("five", 5),
        ("I'd say a four", 4),
        ("four out of five", 4),
        ("a four, I would say", 4),
        ("three stars, because the room was cold", 3),
        ("I'd give it a five if it weren't for the noise, so three", 3),
        ("I was in room two oh four and I'd give it a five", 5),
        ("no, you misheard, I said one, not four", 1),
        ("no that is wrong I didn't say two I said five", 5),
    ],
)
def test_the_number_that_rates_is_found(said: str, rating: float) -> None:
    assert rating_in(said, SCALE) == rating


@pytest.mark.parametrize(
    "said",
    [
        "there were five of us, and we stayed two nights",
        "two thumbs up",
        "it's a four-star hotel on the website",
        "somewhere between three and four",
        "seven",
        "one is the best, right?",
        "not exactly a five",
        "it was lovely",
    ],
)
def test_other_numbers_rate_nothing(said: str) -> None:
    assert rating_in(said, SCALE) is None
