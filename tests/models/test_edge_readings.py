"""A model that reads edges: what the offline agent makes of its odds, and what happens when it is slow or away."""

import asyncio
from collections.abc import Sequence

import pytest

from offhook.models.edge_reading import AnswerToRead, EdgeOdds, EdgeReader
from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.models.providers.builtin.readings import EdgeReadings
from tests.models.conversations import hold_conversation

UNCLEAR = "The gate is never locked."


class FixedReader:
    """Implements ReadEdges: gives the edge that has ``label`` its probability, the others nothing. Its second model has no
    opinion."""

    def __init__(self, label: str, probability: float) -> None:
        self.label, self.probability = label, probability
        self.read: list[AnswerToRead] = []

    async def __call__(self, answer: AnswerToRead) -> EdgeOdds:
        if answer.is_second:
            return (1 / (len(answer.edges) + 1),) * (len(answer.edges) + 1)
        self.read.append(answer)
        odds = [self.probability if edge.label == self.label else 0.0 for edge in answer.edges]
        return (*odds, 1 - sum(odds))


async def stands_at(reader: FixedReader, turns: Sequence[str]) -> str:
    return (await hold_conversation("delivery_window", turns, BuiltinLlm(read_edges=reader))).node


class TestAnAnswerThatNoRuleUnderstands:
    async def test_takes_the_edge_that_is_probable(self) -> None:
        reader = FixedReader("someone is home", 0.8)
        assert await stands_at(reader, [UNCLEAR]) == "window"
        (read,) = {answer.heard: answer for answer in reader.read if answer.heard == UNCLEAR}.values()
        assert read.asked == "Will someone be home that day?"
        assert "someone is home" in {edge.label for edge in read.edges}

    async def test_is_asked_about_where_none_is_probable(self) -> None:
        assert await stands_at(FixedReader("someone is home", 0.4), [UNCLEAR]) == "greeting"

    async def test_is_not_taken_for_a_yes_where_it_begins_with_a_no(self) -> None:
        said = ["nah, I took something at the post office"]
        assert await stands_at(FixedReader("someone is home", 0.9), said) != "window"

    async def test_ends_no_call_unless_it_is_very_probable(self) -> None:
        said = ["The color of the sofa is not the one that I picked."]
        assert await stands_at(FixedReader("problem with the order", 0.8), said) == "greeting"
        assert await stands_at(FixedReader("problem with the order", 0.95), said) == "callback"

    async def test_of_somebody_else_has_to_be_very_probable(self) -> None:
        said = ["My daughter, she has a key to the gate."]
        assert await stands_at(FixedReader("someone is home", 0.8), said) == "greeting"
        assert await stands_at(FixedReader("someone is home", 0.95), said) == "window"

    async def test_is_not_taken_for_a_yes_of_the_person_who_was_asked_for(self) -> None:
        llm = BuiltinLlm(read_edges=FixedReader("right person", 0.99))
        assert (await hold_conversation("payment_reminder", ["My wife handles all of that."], llm)).node == "greeting"

    async def test_is_read_once(self) -> None:
        reader = FixedReader("someone is home", 0.0)
        llm = BuiltinLlm(read_edges=reader)
        for _ in range(2):
            await hold_conversation("delivery_window", [UNCLEAR], llm)
        assert [answer.heard for answer in reader.read].count(UNCLEAR) == 1


class TestANoWithMoreThanThat:
    """At "Will you be able to pay it this week?", where a "no" needs more time."""

    SAID = "No, I put the money in an envelope, the post office was packed."

    async def stands_at(self, reader: FixedReader, said: str) -> str:
        turns = ["Yes, this is he.", said]
        return (await hold_conversation("payment_reminder", turns, BuiltinLlm(read_edges=reader))).node

    async def test_takes_the_edge_of_its_reason(self) -> None:
        assert await self.stands_at(FixedReader("already paid", 0.8), self.SAID) == "paid"

    async def test_is_a_no_where_no_other_edge_is_probable(self) -> None:
        assert await self.stands_at(FixedReader("already paid", 0.6), self.SAID) == "plan"
        assert await self.stands_at(FixedReader("needs more time", 0.3), self.SAID) == "plan"

    async def test_says_goodbye_only_where_that_is_very_probable(self) -> None:
        assert await self.stands_at(FixedReader("opts out", 0.8), self.SAID) == "plan"

    @pytest.mark.parametrize("said", ["No.", "No, not really, sorry.", "No, next Friday."])
    async def test_is_not_doubted_without_a_reason_or_with_a_day(self, said: str) -> None:
        reader = FixedReader("already paid", 0.99)
        await self.stands_at(reader, said)
        assert said not in [answer.heard for answer in reader.read]


ANSWER = AnswerToRead("Shall I book it?", "go on then", ())


class TestReadings:
    async def test_a_slow_model_is_not_waited_for_and_helps_the_next_turn(self) -> None:
        goes_on = asyncio.Event()

        async def read(_: AnswerToRead) -> EdgeOdds:
            await goes_on.wait()
            return (1.0,)

        readings = EdgeReadings(read)
        assert readings.odds(ANSWER) is None
        assert not await readings.read_wanted(asyncio.get_running_loop().time())
        goes_on.set()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert readings.odds(ANSWER) == (1.0,)

    async def test_a_model_that_fails_is_left_alone_for_a_while(self) -> None:
        asked = 0

        async def fail(_: AnswerToRead) -> EdgeOdds:
            nonlocal asked
            asked += 1
            raise OSError("no memory")

        readings = EdgeReadings(fail)
        for _ in range(2):
            assert readings.odds(ANSWER) is None
            assert not await readings.read_wanted(asyncio.get_running_loop().time() + 60)
        assert asked == 1

    async def test_without_a_model_nothing_is_wanted(self) -> None:
        readings = EdgeReadings()
        assert readings.odds(ANSWER) is None
        assert not await readings.read_wanted(asyncio.get_running_loop().time() + 60)

    async def test_a_port_without_a_model_says_so(self) -> None:
        with pytest.raises(LookupError):
            await EdgeReader()(ANSWER)
