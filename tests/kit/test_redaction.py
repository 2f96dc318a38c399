"""What is redacted in what people say, and what stays: cards, codes, numbers and addresses."""

import time

import pytest

from offhook.kit.redaction.email_addresses import find_email_addresses
from offhook.kit.redaction.redactor import Redactor
from offhook.kit.redaction.spoken_digits import read_digit_runs


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("My card is 4242 4242 4242 4242.", "My card is [card]."),
        ("four two four two four two four two four two four two four two four two", "[card]"),
        ("It is forty-two forty-two, forty-two forty-two, forty-two forty-two, forty-two forty-two.", "It is [card]."),
        ("double four double four, 4444 4444 4448", "[card]"),
        ("4242424242424242 and 123", "[card] and [cvv]"),
        ("Security code one two three.", "Security code [cvv]."),
        ("My social is 123-45-6789", "My social is [ssn]"),
        ("DE89 3704 0044 0532 0130 00 please", "[iban] please"),
        ("Write to ann.lee@example.com!", "Write to [email]!"),
        ("ann dot lee at example dot co dot uk", "[email]"),
        ("Call +49 30 12345678 or (201) 555-0123.", "Call [phone] or [phone]."),
        ("two oh one five five five oh one two three", "[phone]"),
    ],
)
def test_redacted(text: str, redacted: str) -> None:
    assert Redactor().redact_text(text) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "4242 4242 4242 4243", "My order is 12345.", "At 10:30 on the 24th of 2026.", "That is 1,250 dollars and 99 cents.",
        "DE89 3704 0044 0532 0130 01", "one moment, two or three people", "See you at noon dot.", "", "Room 123",
    ],
)  # fmt: skip
def test_kept(text: str) -> None:
    assert Redactor().redact_text(text) == text


def test_only_the_kinds_that_are_chosen() -> None:
    assert Redactor(["email"]).redact_text("a@b.com, 4242424242424242") == "[email], 4242424242424242"
    assert Redactor([]).redact_text("a@b.com") == "a@b.com"


def test_a_question_names_its_answer() -> None:
    redactor = Redactor()
    assert redactor.redact_text("What is your social security number?") == "What is your social security number?"
    assert redactor.redact_text("one two three four five six seven eight nine") == "[ssn]"
    assert Redactor().redact_text("one two three four five six seven eight nine") != "[ssn]"
    redactor.redact_text("4242 4242 4242 4242")
    assert redactor.redact_text("And 1 2 3.") == "And [cvv]."


def test_values() -> None:
    value = {
        "cvv": "123",
        "mail": ["a@b.com", 5, True, None],
        "card": 4242424242424242,
        "name": "Ann",
        "n": {"x": "+14152000007"},
    }
    redacted = {
        "cvv": "[cvv]",
        "mail": ["[email]", 5, True, None],
        "card": "[card]",
        "name": "Ann",
        "n": {"x": "[phone]"},
    }
    assert Redactor().redact_value(value) == redacted


@pytest.mark.parametrize("repeated", ["1", "a.", "a-", "a b ", "a dot ", "a@", "double "])
def test_any_text_takes_linear_time(repeated: str) -> None:
    text = (repeated * 40_000)[:40_000] + " at home"
    began = time.process_time()
    assert find_email_addresses(text) == []
    read_digit_runs(text)
    assert time.process_time() - began < 2


def test_addresses_of_the_longest_length() -> None:
    mailbox = "a" * 64
    assert Redactor().redact_text(f"Write to {mailbox}@example.com.") == "Write to [email]."
    assert Redactor().redact_text("b o b at example dot com") == "[email]"
