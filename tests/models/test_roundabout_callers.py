"""What callers say in a roundabout way, or in two words, leads where the plain words lead; what only sounds alike, nowhere."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from offhook.models.providers.builtin.llm import BuiltinLlm
from tests.models.conversations import hold_conversation, offline_agent
from tests.quick import first_quick

DATA = Path(__file__).parents[1] / "data"


@dataclass(frozen=True, slots=True)
class Ways:
    """Sentences that are each said after the same turns, and the nodes where the call may stand then."""

    id: str
    slug: str
    turns: list[str]
    ends: list[str]
    said: list[str]


def load_ways(name: str) -> list[Ways]:
    return [Ways(**ways) for ways in json.loads((DATA / name).read_text())]


WAYS = load_ways("roundabout_sentences.json")
SHORT = load_ways("short_sentences.json")


@pytest.fixture
async def llm(models_folder: Path) -> AsyncIterator[BuiltinLlm]:
    async with offline_agent(models_folder) as agent:
        yield agent


@pytest.mark.parametrize("ways", first_quick(WAYS), ids=lambda ways: ways.id)
async def test_roundabout_sentences_lead_where_plain_ones_do(llm: BuiltinLlm, ways: Ways) -> None:
    outcomes = {text: await hold_conversation(ways.slug, (*ways.turns, text), llm) for text in ways.said}
    assert [f"{text} -> {outcome.node}" for text, outcome in outcomes.items() if outcome.node not in ways.ends] == []


@pytest.mark.parametrize("ways", SHORT, ids=lambda ways: ways.id)
async def test_two_words_are_enough(llm: BuiltinLlm, ways: Ways) -> None:
    outcomes = {text: await hold_conversation(ways.slug, (*ways.turns, text), llm) for text in ways.said}
    assert [f"{text} -> {outcome.node}" for text, outcome in outcomes.items() if outcome.node not in ways.ends] == []


async def test_an_hour_that_is_changed_is_not_asked_for_again(llm: BuiltinLlm) -> None:
    said = ("Book me in, please.", "Wednesday", "four", "yes", "Yes, but can you make it eleven?")
    outcome = await hold_conversation("appointment_booking", said, llm)
    assert (outcome.node, outcome.values["time"]) == ("confirm", "eleven o'clock")
    assert "eleven" in outcome.last_reply


async def test_an_hour_behind_a_corrected_day_is_kept(llm: BuiltinLlm) -> None:
    said = ("I need an appointment.", "Thursday", "No, sorry, I said Tuesday.", "Eleven would be great, thanks.")
    outcome = await hold_conversation("appointment_booking", said, llm)
    assert (outcome.values["day"], outcome.values["time"]) == ("Tuesday", "eleven o'clock")


async def test_a_day_that_was_wished_for_beside_a_question_is_not_asked_for(llm: BuiltinLlm) -> None:
    said = ("How late are you open, and could I get Thursday at four?", "Yes, please.")
    outcome = await hold_conversation("appointment_booking", said, llm)
    assert (outcome.node, outcome.values["day"], outcome.values["time"]) == ("visited", "Thursday", "four o'clock")


@pytest.mark.parametrize(
    "opening",
    ["I have an appointment on Thursday. How late are you open?", "How late are you open? I can't do Thursday."],
)
async def test_a_day_that_is_taken_or_refused_is_asked_for(llm: BuiltinLlm, opening: str) -> None:
    outcome = await hold_conversation("appointment_booking", (opening, "I want to book an appointment."), llm)
    assert outcome.node != "time"
    assert outcome.values.get("time") is None


async def test_a_yes_with_another_hour_confirms_nothing_yet(llm: BuiltinLlm) -> None:
    said = ("Book me in, please.", "Wednesday", "two", "yes", "Yes, but could it be four instead of two?")
    outcome = await hold_conversation("appointment_booking", said, llm)
    assert (outcome.node, outcome.values["time"]) == ("confirm", "four o'clock")
    assert outcome.values.get("is_confirmed") is not True


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("How long would I wait for my refund?", "seven business days"),
        ("And when would I get my money back?", "seven business days"),
        ("Do I pay for the label?", "free"),
    ],
)
async def test_a_document_wins_that_is_about_what_is_asked(llm: BuiltinLlm, asked: str, answer: str) -> None:
    assert answer in (await hold_conversation("order_status", ("I want to return a lamp.", asked), llm)).last_reply


async def test_an_act_that_is_only_mentioned_is_not_done(llm: BuiltinLlm) -> None:
    said = ("I need to change my appointment", "Cancel it? I never said that.")
    assert (await hold_conversation("appointment_booking", said, llm)).node == "change"


async def test_a_number_that_is_said_again_replaces_the_one_that_was_heard(llm: BuiltinLlm) -> None:
    outcome = await hold_conversation("survey", ("Yes.", "five", "I said four, not five.", "the food"), llm)
    assert outcome.values == {"rating": 4, "topic": "food"}


@pytest.mark.parametrize("said", ["bye", "wait", "I'll call back"])
async def test_who_leaves_at_the_last_question_has_confirmed_nothing(llm: BuiltinLlm, said: str) -> None:
    turns = ("book an appointment", "Tuesday", "nine", "yes", said)
    outcome = await hold_conversation("appointment_booking", turns, llm)
    assert outcome.values.get("is_confirmed") is None


async def test_a_question_that_nothing_was_said_to_has_no_answer(llm: BuiltinLlm) -> None:
    assert "topic" not in (await hold_conversation("survey", ("Yes.", "five"), llm)).values


async def test_a_number_that_is_denied_is_not_kept(llm: BuiltinLlm) -> None:
    said = "I wouldn't give it a one, but it wasn't a three either."
    outcome = await hold_conversation("survey", ("Sure.", said), llm)
    assert outcome.values.get("rating") is None


async def test_what_was_understood_is_said_again(llm: BuiltinLlm) -> None:
    asked = ("Order status", "One two three four five six", "Wait, is that right, what number did you get?")
    assert "123456" in (await hold_conversation("order_status", asked, llm)).last_reply


async def test_who_gives_up_has_confirmed_nothing(llm: BuiltinLlm) -> None:
    said = ("I want an appointment for Monday at eleven", "I've been in before", "Forget it, I'll call some other time")
    assert "is_confirmed" not in (await hold_conversation("appointment_booking", said, llm)).values


@pytest.mark.parametrize(
    ("said", "number"),
    [
        ("Six six one, um, hold on, I can't see without my glasses, okay, nine.", "6619"),
        ("Nine nine, let me turn the light on, zero five.", "9905"),
        ("Four two seven, no wait, four two eight one.", "4281"),
        ("I misread it, the first one should be a five. Five two seven two.", "5272"),
        ("nine nine five zero no nine nine zero five", "9905"),
        ("Four two seven nine. Sorry, no, it ends in a one. Four two seven one.", "4271"),
    ],
)
async def test_an_aside_is_no_part_of_a_number(llm: BuiltinLlm, said: str, number: str) -> None:
    outcome = await hold_conversation("order_status", ("Where is my order?", said), llm)
    assert outcome.values["order_number"] == number


@pytest.mark.parametrize(
    "asked", ["Was that nine or eleven?", "Sorry, did you say two?", "The line broke up. Did you mean nine, or four?"]
)
async def test_a_question_back_sets_no_value(llm: BuiltinLlm, asked: str) -> None:
    outcome = await hold_conversation("appointment_booking", ("Book a checkup.", "Tuesday.", asked), llm)
    assert "time" not in outcome.values


@pytest.mark.parametrize(
    "said",
    [
        "I want to sleep on it.",
        "Don't book it yet, I have to ask my boss.",
        "Don't put it in quite yet, I need to talk to my wife.",
    ],
)
async def test_who_decides_later_has_confirmed_nothing(llm: BuiltinLlm, said: str) -> None:
    turns = ("Book a checkup.", "Tuesday at nine.", "Yes, I've been there.", said)
    assert (await hold_conversation("appointment_booking", turns, llm)).values.get("is_confirmed") is not True


@pytest.mark.parametrize(
    "said", ["Well, my ride's here, gotta go.", "I've got to jump off, my kid's crying.", "Sorry, I need to run."]
)
async def test_who_has_to_leave_has_answered_nothing(llm: BuiltinLlm, said: str) -> None:
    assert "topic" not in (await hold_conversation("survey", ("Sure.", "Five.", said), llm)).values


@pytest.mark.parametrize(
    ("slug", "asked", "wrong"),
    [
        ("appointment_booking", "I'm trying to get in for a cleaning.", "emergency"),
        ("appointment_booking", "Could you put the hygienist on?", "wheelchair"),
        ("order_status", "What would I have to pay to get something by tomorrow?", "damaged"),
    ],
)
async def test_a_document_that_answers_nothing_is_not_quoted(
    llm: BuiltinLlm, slug: str, asked: str, wrong: str
) -> None:
    assert wrong not in (await hold_conversation(slug, (asked,), llm)).all_replies


async def test_an_hour_is_corrected_beside_a_reason(llm: BuiltinLlm) -> None:
    said = ("Book me in, please.", "Monday", "nine, hmm no, make that two, I'm no good in the mornings")
    outcome = await hold_conversation("appointment_booking", said, llm)
    assert (outcome.node, outcome.values["time"]) == ("visited", "two o'clock")


@pytest.mark.parametrize(
    ("slug", "said", "name"),
    [
        ("survey", ("sure", "one", "the service", "certainly not"), "would_recommend"),
        ("order_status", ("I want to return my helmet", "forget the return, I'll keep it"), "wants_return_label"),
    ],
)
async def test_what_is_declined_in_other_words_is_kept_as_declined(
    llm: BuiltinLlm, slug: str, said: tuple[str, ...], name: str
) -> None:
    assert (await hold_conversation(slug, said, llm)).values[name] is False


async def test_no_bother_denies_nothing(llm: BuiltinLlm) -> None:
    said = ("Yes, I've got time.", "I'm over eighteen, and I can lift fifty no bother.")
    assert (await hold_conversation("recruiting_screen", said, llm)).values.get("is_adult") is not False
