"""What a caller told is read back where a prompt asks for it and its author wrote no sentence."""

import pytest

from offhook.models.ports import LlmMessage
from offhook.models.providers.builtin.turns.read_back import read_back

PROMPT = "read the order back and ask if it's right"
TALK = (
    ("How much do you want to spend?", "oh, say sixty five tops"),
    (
        "Could you please tell me the delivery address and the day?",
        "that's 9 Willow Court, and it'd have to be there Friday",
    ),
    ("Could you please tell me your name and number?", "Helen Marsh, 555 204 7781"),
)


def messages(*talk: tuple[str, str]) -> list[LlmMessage]:
    return [line for asked, heard in talk for line in (LlmMessage("assistant", asked), LlmMessage("user", heard))]


def test_values_are_read_back_in_the_order_they_were_told() -> None:
    assert read_back(PROMPT, messages(*TALK)) == (
        "I have 65 dollars, 9 Willow Court, Friday, Helen Marsh, and 555 204 7781."
    )


def test_a_corrected_value_takes_the_place_of_the_first_one() -> None:
    changed = read_back(PROMPT, messages(*TALK, ("What would you like to change?", "Saturday instead of Friday")))

    assert changed == "I have 65 dollars, 9 Willow Court, Saturday, Helen Marsh, and 555 204 7781."


@pytest.mark.parametrize(
    ("asked", "heard", "read"),
    [
        ("How much do you want to borrow?", "eighteen grand, around there", "I have 18,000 dollars."),
        ("What day and time can you come in?", "Wednesday at ten", "I have Wednesday and ten o'clock."),
        ("How many guests are coming?", "there'll be six of us", "I have 6 guests."),
        ("What is your name and phone number?", "Grace Amadi, five five five, four four six one", "I have Grace Amadi and 5554461."),
        ("What is your email?", "it's alex at example dot com", "I have alex@example.com."),
        ("Which pizza and what size?", "um, a large margherita, please", "I have a large margherita."),
        ("Which pizza and what size?", "what do you have?", ""),
        ("Which pizza and what size?", "I'm not sure yet", ""),
        ("What happened?", "it broke down on the bridge", ""),
        ("Is it urgent?", "no, it can wait", ""),
    ],
)  # fmt: skip
def test_each_kind_of_value_is_told_from_its_question(asked: str, heard: str, read: str) -> None:
    assert read_back(PROMPT, messages((asked, heard))) == read


@pytest.mark.parametrize(
    "prompt",
    [
        "say day, time and name back, ask if right",
        "say the job and the day again and ask if that's ok",
        "say back the date and time",
        "tell them what you got and ask if its right",
        "confirm the day and time",
        "double check the number",
        "sum it all up, ask if right",
        "go over everything once more",
    ],
)
def test_newcomers_ask_for_it_in_their_own_words(prompt: str) -> None:
    assert read_back(prompt, messages(*TALK[2:])) == "I have Helen Marsh and 555 204 7781."


@pytest.mark.parametrize(
    "prompt",
    [
        "say the owner rings them back today",
        "say the office calls back",
        "say money back within 5 days",
        "say we call again tomorrow",
        "confirm that the address is correct",
        "check if they are over 18",
    ],
)
def test_a_call_back_is_no_reading_back(prompt: str) -> None:
    assert read_back(prompt, messages(*TALK)) == ""


@pytest.mark.parametrize(
    "prompt",
    ["ask if it's right", "say Dana will call them back", "are they a repeat customer?", "Thank them and say goodbye."],
)
def test_nothing_is_read_back_unless_a_prompt_asks_for_it(prompt: str) -> None:
    assert read_back(prompt, messages(*TALK)) == ""
