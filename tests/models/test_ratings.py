"""What a caller rates with, of all the numbers in a sentence."""

import pytest

from offhook.models.providers.builtin.english.numbers.ratings import rating_in

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
        ("I can't give it a five, so four", 4),
        ("it wasn't a five, it was a four", 4),
        ("not a four, more like a three", 3),
        ("better than a two, so three", 3),
        ("nothing less than a five", 5),
        ("I'd rather give it a four", 4),
        ("I was in room three, call it a two", 2),
        ("one, if there was a zero I'd say zero", 1),
        ("five, and I'd give it ten if I could", 5),
        ("four, no, I'd give it a five", 5),
        ("no that is wrong I didn't say two I said five", 5),
        ("ten out of ten", 5),
        ("I'd give it full marks", 5),
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
        "I wouldn't give it a one, but it wasn't a three either",
        "nowhere near a five",
        "I'd never give anybody a five",
        "less than a four",
        "it didn't deserve a one",
        "five? no",
        "I was in room three",
        "it was lovely",
    ],
)
def test_other_numbers_rate_nothing(said: str) -> None:
    assert rating_in(said, SCALE) is None
