"""Callers who give a reason, a second fact or a correction beside their answer."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from offhook.models.providers.builtin.english.names import person_name
from offhook.models.providers.builtin.english.spelling import mend_spelling
from offhook.models.providers.builtin.english.spoken_values import day_phrase
from offhook.models.providers.builtin.english.utterance import parse_utterance
from offhook.models.providers.builtin.llm import BuiltinLlm
from tests.models.conversations import hold_conversation, offline_agent


@pytest.fixture
async def llm(models_folder: Path) -> AsyncIterator[BuiltinLlm]:
    async with offline_agent(models_folder) as agent:
        yield agent


@pytest.mark.parametrize(
    ("slug", "turns", "node", "values"),
    [
        # a reason that names another choice
        ("recruiting_screen", ["sure", "I am", "yes", "nights, I was never one for mornings"], "start", {"shift": "nights"}),
        ("recruiting_screen", ["go on", "yes", "I can", "Days. No, sorry, nights, my husband has the days."], "start", {}),
        ("appointment_booking", ["a check-up please", "Tuesday, because Wednesday my brother visits", "Eleven, so I can catch the ten-forty bus"], "visited", {"day": "Tuesday", "time": "eleven o'clock"}),
        ("survey", ["No, because the last one took ages."], "refused", {}),
        ("survey", ["yes", "two", "the shower", "Would I? No. Not unless they'd repaired it."], "sorry", {"would_recommend": False}),
        ("survey", ["okay", "1", "there were bugs in the bathroom", "God no"], "sorry", {"would_recommend": False}),
        ("survey", ["yes", "4 it was good"], "best", {}),
        ("appointment_booking", ["an appointment please", "Friday", "eleven", "I've been there", "Yes, but will you take cash for it?"], "confirm", {}),
        # a second fact
        ("lead_qualification", ["Sure, we own our place and the bill's around a hundred and eighty a month."], "timing", {"owns_home": True}),
        ("survey", ["yes", "One. The room was dirty, and I would not send anybody there."], "recommend", {}),
        ("event_reminder", ["yes", "Yes, my neighbor, Denise Okafor"], "meal", {"guest_name": "Denise Okafor"}),
        ("reception", ["I need a consultation about a divorce, it's Karen Whitfield, 617 555 0138."], "confirm", {"caller_name": "Karen Whitfield"}),
        ("appointment_booking", ["Monday please", "two o'clock", "no, it'll be my first time, where do I park"], "confirm", {}),
        # a correction
        ("survey", ["yes ok", "5", "the pool", "Well no, actually, more the staff, now I think of it."], "recommend", {}),
        ("after_hours", ["there's no heat", "9 Winter Street, Salem", "978 555 0190", "hang on, the last bit's 0109"], "confirm", {"phone": "9785550109"}),
        ("lead_qualification", ["okay", "own", "120", "this year", "Wednesday at one", "Yes, but Thursday instead, sorry, I've my grandkids on the Wednesday."], "confirm", {"day": "Thursday"}),
        ("no_show_recall", ["let's rebook", "Friday", "five", "Yes, but no later than that, mind. Go ahead and book it."], "booked", {}),
        # other words, and slips
        ("after_hours", ["The heating's packed up and there's a baby in the house"], "address", {}),
        ("no_show_recall", ["worng numbr, no jaimie here, im not a patietn"], "not_here", {}),
        ("lead_qualification", ["cnat talk now im at wrok, tyr tomorow"], "later", {}),
        ("payment_reminder", ["yes", "That amount's plain wrong, I was away all of March. I want someone to look at it."], "callback", {}),
    ],
)  # fmt: skip
async def test_the_answer_is_taken_and_nothing_else(
    llm: BuiltinLlm, slug: str, turns: Sequence[str], node: str, values: dict[str, object]
) -> None:
    outcome = await hold_conversation(slug, turns, llm)

    assert outcome.node == node
    assert {name: outcome.values.get(name) for name in values} == values


async def test_what_led_to_a_step_does_not_answer_it_as_well(llm: BuiltinLlm) -> None:
    outcome = await hold_conversation(
        "support_triage", ["can't get online", "there's no light on it, none at all"], llm
    )

    assert outcome.node == "power"


async def test_what_is_wanted_is_not_read_as_not_wanted(llm: BuiltinLlm) -> None:
    outcome = await hold_conversation("no_show_recall", ["Yeah I need to come back in", "Monday"], llm)

    assert outcome.node == "time"


async def test_an_hour_that_is_asked_for_is_no_question_about_ages(llm: BuiltinLlm) -> None:
    outcome = await hold_conversation(
        "appointment_booking", ["Can I come in on Monday?", "Have you nothing round about three?"], llm
    )

    assert "three o'clock is not free" in outcome.last_reply


async def test_a_message_is_taken_down_and_not_answered_from_a_document(llm: BuiltinLlm) -> None:
    asked = "Would you tell them the toilet upstairs keeps running, and I'd like it looked at this week"

    outcome = await hold_conversation("after_hours", ["it can wait", asked], llm)

    assert outcome.node == "callback_number"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("cnat tlak now", "can't talk now"),
        ("thsi is teh wrogn numbre", "this is the wrong number"),
        ("form Ana to Bart", "form Ana to Bart"),
        ("Nguyen and Wendt", "Nguyen and Wendt"),
    ],
)
def test_two_swapped_letters_are_mended_in_common_words(typed: str, meant: str) -> None:
    assert mend_spelling(typed) == meant


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("Let's say a week from today", "a week from today"),
        ("two weeks from Monday, I've got to give notice", "two weeks from Monday"),
        ("a week after next Friday", "a week after next Friday"),
        ("Tuesday in two weeks", "Tuesday"),
    ],
)
def test_days_that_are_counted_from_another_one(said: str, day: str) -> None:
    assert day_phrase(said) == day


@pytest.mark.parametrize(
    ("said", "standing"),
    [
        ("Eleven, so I can catch the ten-forty bus", "eleven, so i can catch the ten forty bus"),
        ("Yes, but Thursday instead, sorry, I've my kids on the Wednesday", "yes, thursday instead, sorry, i have my kids on the wednesday"),
        ("I'll be there, and no nuts for me", "i will be there, and no nuts for me"),
        ("Wednesday, no, so make it Thursday", "so make it thursday"),
        # what is said again before it is refused is not what is wanted
        ("forty five just for that? no, then I'll drive to the city", "no, i will drive to the city"),
        ("sixty bucks? my neighbor has cables, forget it", "no, my neighbor has cables, forget it"),
    ],
)  # fmt: skip
def test_what_stands_beside_a_reason(said: str, standing: str) -> None:
    assert parse_utterance(said).standing == standing


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Yes, my partner, Denise Okafor", "Denise Okafor"),
        ("a divorce, it's Karen Whitfield, 617 555 0138", "Karen Whitfield"),
        ("I live at 4, Dock Road, Salem", None),
        ("on Friday, Bank Holiday Monday", None),
        ("for a divorce, and I never called", None),
    ],
)
def test_a_full_name_that_was_not_asked_for_is_written_as_one(said: str, name: str | None) -> None:
    assert person_name(said, may_be_whole=False) == name
