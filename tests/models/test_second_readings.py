"""A second opinion on the edge that an answer means: what it adds, what it withholds, and what it leaves alone."""

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

import pytest

from offhook.models.edge_reading import ASKS_FACT, AnswerToRead, EdgeOdds
from offhook.models.providers.builtin.llm import BuiltinLlm
from tests.models.conversations import hold_conversation, offline_agent

UNCLEAR = "The gate is never locked."
HOME = "someone is home"


class TwoReaders:
    """Implements ReadEdges: the probabilities of edges by their labels, of each of the two models."""

    def __init__(self, first: Mapping[str, float], second: Mapping[str, float]) -> None:
        self._first, self._second = first, second

    async def __call__(self, answer: AnswerToRead) -> EdgeOdds:
        if answer.asked == ASKS_FACT:
            return (*(0.0 for _ in answer.edges), 1.0)
        known = self._second if answer.is_second else self._first
        odds = [known.get(edge.label, 0.0) for edge in answer.edges]
        return (*odds, 1 - sum(odds))


async def stands_at(readers: TwoReaders, *turns: str, slug: str = "delivery_window") -> str:
    return (await hold_conversation(slug, turns, BuiltinLlm(read_edges=readers))).node


class TestAnAnswerOfWhichTheFirstIsNotSure:
    async def test_means_the_edge_that_the_second_is_sure_of(self) -> None:
        assert await stands_at(TwoReaders({HOME: 0.4}, {HOME: 0.95}), UNCLEAR) == "window"

    async def test_is_asked_about_where_the_second_is_not_sure_either(self) -> None:
        assert await stands_at(TwoReaders({HOME: 0.4}, {HOME: 0.8}), UNCLEAR) == "greeting"

    async def test_is_asked_about_where_only_the_second_sees_it(self) -> None:
        assert await stands_at(TwoReaders({HOME: 0.2}, {HOME: 0.95}), UNCLEAR) == "greeting"


class TestACallerWhoIsLeaving:
    """ "Take me off your list" ends the call, by the way that both readers see."""

    LEAVES = "Take me off your list, will you."

    async def test_leaves_by_the_way_that_both_see(self) -> None:
        readers = TwoReaders({"no thanks": 0.8}, {"no thanks": 0.9})
        assert await stands_at(readers, self.LEAVES, slug="survey") == "refused"

    async def test_is_asked_again_where_one_does_not_see_it(self) -> None:
        readers = TwoReaders({"no thanks": 0.6}, {"no thanks": 0.3})
        assert await stands_at(readers, self.LEAVES, slug="survey") == "greeting"


@pytest.fixture
async def llm(models_folder: Path) -> AsyncIterator[BuiltinLlm]:
    async with offline_agent(models_folder) as agent:
        yield agent


@pytest.mark.parametrize(
    ("slug", "turns", "node"),
    [
        # taken for a payment that was made, for a day, and for a no
        ("payment_reminder", ["yes it's me", "Sure, I get paid Wednesday, I'll do it then"], "promised"),
        ("delivery_window", ["I'm away then", "what about Saturday, everybody's home Saturday"], "day"),
        ("payment_reminder", ["yes", "that amount is crazy, I was gone the whole month, I'm not paying for that"], "callback"),
        ("lead_qualification", ["okay", "yes it's ours", "I'd sooner talk this over with one of your advisors"], "callback"),
        # asked about again
        ("lead_qualification", ["Nope, we already signed with somebody else last week"], "not_interested"),
        ("lead_qualification", ["You caught me right in the middle of dinner, give me a ring tomorrow would you"], "later"),
        ("payment_reminder", ["No this is her son, she's at the hospital"], "not_here"),
        ("reception", ["I'm leavin' my husband and need a divorce lawyer"], "name"),
        ("after_hours", ["boiler's pouring water"], "address"),
        ("support_triage", ["it's really sluggish", "I did that twice already this morning, made no difference"], "specialist"),
        # left on the way out
        ("no_show_recall", ["Don't you call here no more, hear?"], "closed"),
        ("payment_reminder", ["Yes, it is.", "I will see to it, but don't ring me about it again."], "opted_out"),
        ("recruiting_screen", ["sure", "I'm nineteen.", "Yes I can.", "nights", "Hmm, you know what, we're moving, so forget about it."], "withdrew"),
        # said after a wait
        ("appointment_booking", ["Monday, please", "two o'clock", "no, never", "Let me think. All right, yes, let's do that."], "booked"),
        ("support_triage", ["Everything's awful slow today.", "Give me a minute... there. Yes, it's working fine now."], "solved"),
        ("recruiting_screen", ["Okay.", "I'm forty."], "lifting"),
        # given with what led there
        ("reception", ["My name's Nuala Byrne, I want to see somebody about a divorce, and I'm on 087 555 0199"], "confirm"),
        ("lead_qualification", ["Go on", "I do own it, yes", "could I not speak to one of your lads about it instead?"], "callback"),
        ("no_show_recall", ["Yes, sorry about that. Monday at ten if it's going"], "confirm"),
        ("order_status", ["Good day. The number on my slip is four four one nine two."], "order"),
    ],
)  # fmt: skip
async def test_where_two_readings_lead(llm: BuiltinLlm, slug: str, turns: Sequence[str], node: str) -> None:
    assert (await hold_conversation(slug, turns, llm)).node == node


@pytest.mark.parametrize(
    ("slug", "turns", "node"),
    [
        ("order_status", ["No, I do have one more question"], "greeting"),
        (
            "appointment_booking",
            ["I need to change my appointment", "You know what, forget it, leave it how it is"],
            "change",
        ),
        ("survey", ["yes", "four", "the staff", "I have no friends"], "recommend"),
        (
            "payment_reminder",
            ["yeah it's me", "I'll pay it, yes", "Monday... hmm, no, I'd need longer than that"],
            "when",
        ),
        ("payment_reminder", ["yeah it's me", "I'll pay it, yes", "Friday, no, that's my day off, Monday"], "promised"),
        ("survey", ["yes", "five", "the food", "oh I already told my sister to go"], "happy"),
        ("appointment_booking", ["Got anything Wednesday afternoon?", "the later one's better for me"], "visited"),
    ],
)
async def test_what_stays_as_the_rules_have_it(llm: BuiltinLlm, slug: str, turns: Sequence[str], node: str) -> None:
    assert (await hold_conversation(slug, turns, llm)).node == node
