"""Which of an author's facts answers what callers ask: quoted beside the question of the step, and none where none does."""

import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from offhook.models.edge_reading import ASKS_FACT, AnswerToRead, EdgeOdds
from offhook.models.providers.builtin.llm import BuiltinLlm
from tests.models.conversations import hold_conversation, offline_agent

MONEY = "how long till I see my money"
REFUNDS = "Refunds reach your card within seven business days after we receive the package."
RETURNS = "You can return anything unused within thirty days."


class FixedReader:
    """Implements ReadEdges: knows facts only, and gives one its probability, "none" its own and the rest to another fact."""

    def __init__(self, fact: str, probability: float, of_none: float = 0.0) -> None:
        self.fact, self.probability, self.of_none = fact, probability, of_none

    async def __call__(self, answer: AnswerToRead) -> EdgeOdds:
        if answer.asked != ASKS_FACT:
            return (*(0.0 for _ in answer.edges), 1.0)
        odds = [self.probability if edge.label == self.fact else 0.0 for edge in answer.edges]
        other = next(place for place, edge in enumerate(answer.edges) if edge.label != self.fact)
        odds[other] = 1 - sum(odds) - self.of_none
        return (*odds, self.of_none)


async def reply_to_money(reader: FixedReader) -> str:
    llm = BuiltinLlm(read_edges=reader)
    return (await hold_conversation("order_status", ["I have something to send back", MONEY], llm)).last_reply


class TestAFactThatMayAnswer:
    async def test_is_quoted_instead_of_another_where_it_is_probable(self) -> None:
        assert (await reply_to_money(FixedReader(REFUNDS, 0.9))).startswith(REFUNDS)

    async def test_is_not_quoted_where_it_is_improbable(self) -> None:
        assert REFUNDS not in await reply_to_money(FixedReader(REFUNDS, 0.1, of_none=0.5))

    async def test_is_not_quoted_where_none_answers(self) -> None:
        assert "don't have that information" in await reply_to_money(FixedReader(RETURNS, 0.0, of_none=0.99))

    async def test_does_not_keep_from_calling_for_help(self) -> None:
        llm = BuiltinLlm(read_edges=FixedReader(REFUNDS, 0.99))
        said = ["I have something to send back", "my husband has chest pains, can you help"]
        assert "911" in (await hold_conversation("order_status", said, llm)).last_reply


@pytest.fixture
async def llm(models_folder: Path) -> AsyncIterator[BuiltinLlm]:
    async with offline_agent(models_folder) as agent:
        yield agent


@pytest.mark.parametrize(
    ("slug", "turns", "says"),
    [
        ("appointment_booking", ["before I do anything, do you take MetLife"], "MetLife"),
        ("appointment_booking", ["Monday please", "two o'clock", "no, my first time, where do I park"], "behind"),
        ("order_status", ["I have something to send back", "how long till I see my money"], "seven business days"),
        ("order_status", ["I'm tracking a package", "what's the fastest you can ship something"], "next business day"),
        ("event_reminder", ["yes I'm coming", "what do people wear to this thing"], "casual"),
        ("survey", ["sure", "four", "before I say, how many more of these are there"], "three questions"),
    ],
)
async def test_a_question_in_other_words_is_answered(
    llm: BuiltinLlm, slug: str, turns: Sequence[str], says: str
) -> None:
    outcome = await hold_conversation(slug, turns, llm)
    assert re.search(says, outcome.last_reply), outcome.last_reply
    assert outcome.last_reply.endswith("?")


@pytest.mark.parametrize(
    ("slug", "turns"),
    [
        ("appointment_booking", ["do you happen to repair hearing aids too"]),
        ("order_status", ["which of your jackets would look good on my husband"]),
    ],
)
async def test_what_no_fact_answers_is_not_known(llm: BuiltinLlm, slug: str, turns: Sequence[str]) -> None:
    assert "don't have that information" in (await hold_conversation(slug, turns, llm)).last_reply
