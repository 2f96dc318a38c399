"""Callers by a model: they say, press and hang up as it decides, and are recorded with the agent's answers."""

import asyncio
import json
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest

from offhook.models.ports import ModelRef, TextDelta
from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.scenarios import ScenarioResult, run_scenario
from offhook.scenarios.answers.files import AnswersFile
from offhook.scenarios.answers.model import AnsweredLlm
from offhook.scenarios.answers.play_answers import AnswerBudget, PlayAnswers
from offhook.scenarios.answers.questions import RECORDED, GivenAnswer, Question
from offhook.scenarios.answers.recorded import AnswerPiece, RecordedAnswer
from offhook.scenarios.answers.threads import AnswerLoop, LoopedAnswers
from offhook.scenarios.errors import ScenariosInvalid
from offhook.scenarios.files import parse_scenarios, read_scenarios, write_scenarios
from offhook_lab.sse import Reply, ScriptedAnswer
from tests.models.llm_vendors import ANTHROPIC, OPENAI, LlmVendor
from tests.scenarios.agents import agent, codes
from tests.scenarios.model_answers import answer_as_agent, model_of

ADA: dict[str, Any] = {
    "name": "ada-buys",
    "caller": {
        "model": {"persona": "Ada, 71, hard of hearing", "goal": "Buy a kettle", "style": "Short sentences."},
        "facts": {"city": "London"},
        "max_turns": 6,
    },
    "expect": {"edges": ["start-sales", "sales-bye"], "end": "bye"},
}


def is_caller(body: dict[str, Any]) -> bool:
    return "You play a person on the telephone" in json.dumps(body)


def answer_both(body: dict[str, Any]) -> Reply:
    """Plays the agent, and Ada."""
    if not is_caller(body):
        return answer_as_agent(body)
    heard = json.dumps((body.get("messages") or body["contents"])[-1])
    words = "sales please" if "Sales or support" in heard else "london"
    return ScriptedAnswer(json.dumps({"action": "say", "words": words, "keys": ""}))


class Moves:
    """Implements AnswerProvider: a caller who makes these moves, and an agent who says nothing but a question."""

    def __init__(self, moves: Sequence[Any]) -> None:
        self._moves = iter(moves)
        self.questions: list[Question] = []

    def answer_question(self, question: Question) -> GivenAnswer:
        self.questions.append(question)
        if question.asked == "helper":
            move = next(self._moves)
            text = move if isinstance(move, str) else json.dumps({"words": "", "keys": "", **move})
        else:
            text = "Which city are you in?"
        return GivenAnswer(RecordedAnswer((AnswerPiece(0.1, TextDelta(text)),)), ModelRef("llm", "a", "b"), True)


def play(source: Any, **fields: Any) -> ScenarioResult:
    (scenario,) = parse_scenarios([{**ADA, **fields}])
    return run_scenario(agent(), scenario, partial(AnsweredLlm, source, ModelRef("llm", "openai", "gpt-4.1")))


def moves_of(result: ScenarioResult) -> list[Any]:
    assert result.played is not None
    moves = [turn.move for turn in result.played.turns[1:]]
    return [
        move and (move.say or move.press or move.silence_s or ("hangs up" if move.hangs_up else None)) for move in moves
    ]


@pytest.mark.parametrize("vendor", [OPENAI, ANTHROPIC], ids=lambda vendor: vendor.provider)
async def test_a_recorded_caller_is_the_same_without_the_vendor(vendor: LlmVendor) -> None:
    (scenario,) = parse_scenarios([ADA])

    async def play_with(answers: PlayAnswers) -> ScenarioResult:
        source = LoopedAnswers(answers, AnswerLoop(asyncio.get_running_loop()))
        make_llm = partial(AnsweredLlm, source, ModelRef("llm", vendor.provider, vendor.model))
        return await asyncio.to_thread(run_scenario, agent(), scenario, make_llm)

    file = AnswersFile()
    async with vendor.serving(answer_both) as (server, llm):
        recorded = await play_with(PlayAnswers(RECORDED, file, model_of(llm), AnswerBudget(100), records=True))
        asked = [is_caller(request.body) for request in server.requests]
    assert (codes(recorded), moves_of(recorded)) == ([], ["sales please", "london"])
    assert asked.count(True) == 2
    copied = AnswersFile.from_json(json.loads(json.dumps(file.as_json())))
    again = await play_with(PlayAnswers(RECORDED, copied, copied.find_model, AnswerBudget(100)))
    assert again.hash == recorded.hash


def test_says_presses_waits_and_hangs_up() -> None:
    source = Moves(
        [
            {"action": "say", "words": "Hello there"},
            {"action": "wait"},
            {"action": "press", "keys": "4821#"},
            {"action": "hang_up"},
        ]
    )
    result = play(source, expect={"end_reason": "caller_hung_up"})
    assert (codes(result), moves_of(result)) == ([], ["Hello there", 4.0, "4821#", "hangs up"])
    instruction = source.questions[0].request
    for words in ("Ada, 71, hard of hearing", "Buy a kettle", "Short sentences.", "city: London"):
        assert words in str(instruction)


def test_turns_come_first_and_are_known_to_the_model() -> None:
    source = Moves([{"action": "hang_up"}])
    caller = {**ADA["caller"], "turns": ["Good morning"]}
    result = play(source, caller=caller, expect={"end_reason": "caller_hung_up"})
    assert moves_of(result) == ["Good morning", "hangs up"]
    asked = [question.request for question in source.questions if question.asked == "helper"]
    assert "Good morning" in str(asked)


@pytest.mark.parametrize(
    "answer",
    ["Hello!", "{", '{"action": "dance"}', {"action": "say"}, {"action": "press", "keys": "abc"}, "[1]"],
)
def test_an_answer_that_is_no_move_fails_the_scenario(answer: Any) -> None:
    assert codes(play(Moves([answer]))) == ["caller_unclear"]


def test_the_built_in_model_cannot_play_a_caller() -> None:
    (scenario,) = parse_scenarios([ADA])
    assert codes(run_scenario(agent(), scenario, BuiltinLlm)) == ["caller_needs_model"]


def test_is_written_to_files_and_read_again() -> None:
    scenarios = parse_scenarios([ADA])
    assert read_scenarios(write_scenarios(scenarios)) == scenarios
    for wrong in (
        {"persona": "Ada"},
        {"persona": "Ada", "goal": "x", "mood": "y"},
        {"persona": "A", "goal": "b", "name": "A b"},
    ):
        with pytest.raises(ScenariosInvalid):
            parse_scenarios([{**ADA, "caller": {"model": wrong}}])
