"""Edges that an answer means, where no rule decides: what is taken, and what is asked about again."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin.denied_edges import is_denied, says_phrase_of
from offhook.models.providers.builtin.english.polarity import polarity_of
from offhook.models.providers.builtin.english.refusals import after_waiting, without_disclaimer
from offhook.models.providers.builtin.english.utterance import parse_utterance
from offhook.models.providers.builtin.llm import BuiltinLlm
from tests.models.conversations import hold_conversation, offline_agent

RENTS = EdgeHint("rents", "rents", "The person rents.", ("no", "no thank you", "nope", "i rent", "we're tenants"))
OWNS = EdgeHint("owns", "owns", "The person owns the home.", ("yes", "yes please", "sure", "i own it", "it's ours"))
CHANGES = EdgeHint("change", "change", "The caller moves or cancels it.", ("i have to cancel", "move my appointment"))


@pytest.fixture
async def llm(models_folder: Path) -> AsyncIterator[BuiltinLlm]:
    async with offline_agent(models_folder) as agent:
        yield agent


@pytest.mark.parametrize(
    ("slug", "turns", "node"),
    [
        ("lead_qualification", ["yes okay", "no we don't rent it's ours"], "bill"),
        ("after_hours", ["no no it's not an emergency, nothing leaks, I want to ask about a new boiler"], "message"),
        ("after_hours", ["Thank God, somebody picked up. Sorry, this line is breaking up."], "greeting"),
        ("payment_reminder", ["No, he's not here, I'm only his mother."], "not_here"),
        ("payment_reminder", ["Yes, that's me.", "No, no, it's not that I can't. I paid you last Monday."], "paid"),
        ("recruiting_screen", ["yes", "yes", "yes", "Days. Hmm, let me think. No, nights, please."], "start"),
        ("survey", ["ok", "not quite a five a four"], "best"),
        ("event_reminder", ["No, no, I'm not canceling. I'm still coming."], "guest"),
        ("event_reminder", ["Sure, I wouldn't miss it for the world."], "guest"),
        ("delivery_window", ["Thursday works, my wife is home. And could they take away our old couch?"], "window"),
        ("after_hours", ["no it can wait"], "message"),
        # denied, asked, or of somebody else
        (
            "appointment_booking",
            ["I've been putting it off and my daughter says mom you have to go, so here I am"],
            "greeting",
        ),
        ("order_status", ["I'd rather not speak to a colleague if it can be avoided."], "greeting"),
        ("payment_reminder", ["the account holder, that's my daughter, she is at work"], "greeting"),
        ("support_triage", ["it's very slow today", "okay, doing that now, give me a sec, it's restarting"], "restart"),
    ],
)
async def test_where_an_answer_leads(llm: BuiltinLlm, slug: str, turns: Sequence[str], node: str) -> None:
    assert (await hold_conversation(slug, turns, llm)).node == node


@pytest.mark.parametrize(
    ("heard", "edge", "denied"),
    [
        ("no, we don't rent, it's ours", RENTS, True),
        ("no, we rent", RENTS, False),
        ("I don't rent, well, actually I rent", RENTS, False),
        ("I'm not renting yet, no", RENTS, True),
        ("I don't want to cancel", CHANGES, True),
        # one of its matters is denied, and another one wanted
        ("I don't want to cancel, I just need a different day", CHANGES, False),
        ("it's not that I'm not happy", RENTS, False),
    ],
)
def test_what_is_denied(heard: str, edge: EdgeHint, denied: bool) -> None:
    assert is_denied(heard, edge) is denied


def test_words_of_a_yes_behind_a_no() -> None:
    assert says_phrase_of("no, no, it's ours", OWNS)
    assert not says_phrase_of("no, sure", OWNS)
    assert not says_phrase_of("it's ours", OWNS)


@pytest.mark.parametrize(
    ("said", "rest"),
    [
        ("Tuesday. Wait, sorry, Wednesday.", "sorry, Wednesday."),
        ("Days. Hmm, let me think. Nights, please.", "Nights, please."),
        ("Fine... wait.", None),
        ("Hang on, one second please.", None),
        ("Wait for me on Friday.", None),
    ],
)
def test_what_is_said_after_waiting(said: str, rest: str | None) -> None:
    assert after_waiting(said) == rest


@pytest.mark.parametrize(
    ("said", "rest"),
    [
        ("It's not that I don't want to come, I just can't.", "I just can't."),
        ("I didn't say I'm not coming, I said I come late.", "I said I come late."),
        ("I'm not saying I'm not interested, I'm at work.", "I'm at work."),
        ("It's not that.", "It's not that."),
        ("I didn't say that.", "I didn't say that."),
    ],
)
def test_what_is_said_beside_a_disclaimer(said: str, rest: str) -> None:
    assert without_disclaimer(said) == rest


def test_an_acknowledged_no_declines() -> None:
    assert polarity_of("all right, then no") == "no"
    assert polarity_of("all right, then yes") == "yes"


def test_what_is_said_twice_is_no_correction() -> None:
    said = parse_utterance("water is pouring through the ceiling, I mean pouring, and the lights flicker")
    assert "ceiling" in said.standing
    assert not said.is_correction
