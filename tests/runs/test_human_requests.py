"""Callers who ask for a person."""

import pytest

from offhook.runs.finishing.human_request_detection import HUMAN_REQUESTED, asks_for_a_person
from offhook.runs.records.projections import RunTally


@pytest.mark.parametrize(
    "text",
    [
        "Can I talk to a real person?",
        "I want to speak to a human.",
        "Human, please!",
        "Operator.",
        "Representative please",
        "Just transfer me to a live agent",
        "Let me speak with a representative",
        "I don't want to talk to a robot.",
        "Ich möchte mit einem Menschen sprechen",
        "Quiero hablar con una persona",
        "Je veux parler à un conseiller",
    ],
)
def test_is_heard(text: str) -> None:
    assert asks_for_a_person(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Are you a real person?",
        "Am I talking to a human?",
        "I don't need a person, thanks.",
        "A table for one person.",
        "It's for four persons, please.",
        "I am a sales representative of Acme.",
        "I already spoke to a person about it.",
        "My operator is T-Mobile.",
        "The person who called me was Anna.",
    ],
)
def test_is_not_made_up(text: str) -> None:
    assert not asks_for_a_person(text)


def test_it_is_said_once_in_a_call() -> None:
    tally = RunTally()
    assert not tally.has_asked_for_person
    tally.add_event(HUMAN_REQUESTED, 1.0, {"text": "Operator."})
    assert tally.has_asked_for_person
