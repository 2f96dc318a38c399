"""What a caller tells before it is asked for, corrects in part, or asks in other words than a document has."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from offhook.models.providers.builtin.english.corrections import corrected_part, replace_part
from offhook.models.providers.builtin.english.names import person_name
from offhook.models.providers.builtin.english.offered_options import pick_hour
from offhook.models.providers.builtin.english.persona import read_prompts
from offhook.models.providers.builtin.english.spoken_values import first_number, time_of_day
from offhook.models.providers.builtin.english.utterance import parse_utterance
from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.models.providers.builtin.value_kinds import asks_address, street_address
from tests.models.conversations import hold_conversation, offline_agent

LEAK = ("toilet's overflowing and it won't quit", "it's 41 Bridge Street", "five oh eight, 555, 0177")


@pytest.fixture
async def llm(models_folder: Path) -> AsyncIterator[BuiltinLlm]:
    async with offline_agent(models_folder) as agent:
        yield agent


@pytest.mark.parametrize(
    ("slug", "turns", "node", "values"),
    [
        (
            "reception",
            ["hello, my name is Harold Jenkins and I need to get my will redone"],
            "phone",
            {"caller_name": "Harold Jenkins"},
        ),
        (
            "after_hours",
            ["hi, my furnace quit and it's fifty degrees in here, I'm over at 27 Lafayette Street in Salem"],
            "phone",
            {"address": "27 Lafayette Street in Salem"},
        ),
        ("after_hours", [*LEAK, "wait, did I say 41? It's 14.", "yes, send him"], "dispatched", {"address": "14 Bridge Street"}),
        ("after_hours", [*LEAK, "No, sorry, the last part's wrong, it's 0171, not 0177"], "confirm", {"phone": "5085550171"}),
        ("event_reminder", ["Count me in", "yes, my daughter", "Her name's Brianna Cole"], "meal", {"guest_name": "Brianna Cole"}),
        ("recruiting_screen", ["Yes sir", "not yet, I turn eighteen in March"], "too_young", {"is_adult": False}),
        ("no_show_recall", ["yes", "Friday", "five is fine, I get off at four"], "confirm", {"time": "five o'clock"}),
        ("no_show_recall", ["No, I'm done with all that", "My knee's a whole lot better, I've been out walking"], "closed", {}),
        ("appointment_booking", ["book me in", "Tuesday", "none of those are any good to me. What about Wednesday?"], "time", {"day": "Wednesday"}),
        ("lead_qualification", ["sure", "we own it", "somewhere around one eighty, two hundred in the summer"], "timing", {"monthly_bill": 180}),
        ("delivery_window", ["I didn't order any furniture, who is this? You got the wrong fella"], "wrong_number", {}),
        ("payment_reminder", ["That's me", "I can't, I got laid off in August"], "plan", {}),
        ("order_status", ["can I send back a duvet", "no wait, how much is the postage?"], "return", {}),
    ],
)  # fmt: skip
async def test_what_is_told_in_passing(
    llm: BuiltinLlm, slug: str, turns: Sequence[str], node: str, values: dict[str, object]
) -> None:
    outcome = await hold_conversation(slug, turns, llm)

    assert outcome.node == node
    assert {name: outcome.values.get(name) for name in values} == values


@pytest.mark.parametrize(
    ("slug", "turns", "told"),
    [
        (
            "order_status",
            ["returning some curtains", "I bought them back in the spring, am I too late?"],
            "thirty days",
        ),
        ("survey", ["what do I get out of it, is there a voucher or something"], "no reward"),
    ],
)
async def test_a_question_in_other_words_than_the_document(
    llm: BuiltinLlm, slug: str, turns: Sequence[str], told: str
) -> None:
    assert told in (await hold_conversation(slug, turns, llm)).last_reply


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("wait, did I say 41? It's 14. 14 Bridge Street", ("41", "14")),
        ("the last part's wrong, it's 0112, not 0121", ("0121", "0112")),
        ("not Jon, it's John", ("Jon", "John")),
        ("yes, that's right", None),
    ],
)
def test_which_part_is_corrected(text: str, part: tuple[str, str] | None) -> None:
    assert corrected_part(text) == part


def test_only_what_is_in_a_value_is_replaced_in_it() -> None:
    assert replace_part("9785550121", "0121", "0112") == "9785550112"
    assert replace_part("41 Bridge Street", "41", "14") == "14 Bridge Street"
    assert replace_part("41 Bridge Street", "17", "14") is None


def test_values_in_long_sentences() -> None:
    assert street_address("the furnace quit, I'm at 27 Elm Street in Salem. Hurry") == "27 Elm Street in Salem"
    assert street_address("I have 27 questions") is None
    assert asks_address("address", "Where the technician goes.")
    assert not asks_address("email", "The email address.")
    assert person_name("Her name's Ana Diaz, and she's nine", may_be_whole=False) == "Ana Diaz"
    assert first_number("one eighty, two hundred in the summer") == 180
    assert time_of_day("around four'd be good", may_be_lone=False) == "four o'clock"
    assert pick_hour([9, 11], "none of those are any good") is None
    assert (
        parse_utterance("ten, one and four, I can't do any of those. What about Friday?").standing
        == "what about friday"
    )


def test_terse_facts_are_spoken_as_sentences() -> None:
    persona = "open monday to saturday 9 to 6, closed sundays. Dr. Ruiz and Dr. Park are our vets. friendly and short."

    assert read_prompts(persona, "").facts == (
        "We're open Monday to Saturday 9 to 6, closed Sundays.",
        "Dr. Ruiz and Dr. Park are our vets.",
    )
