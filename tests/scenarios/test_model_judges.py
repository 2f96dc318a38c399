"""Criteria that a model judges: asked when every assertion holds, and never passed by an answer that cannot be used."""

import json
from functools import partial
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from offhook.models.ports import ModelRef, TextDelta
from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.scenarios import ScenarioResult, SuiteResult, run_scenario
from offhook.scenarios.answers.model import AnsweredLlm
from offhook.scenarios.answers.questions import GivenAnswer, Question
from offhook.scenarios.answers.recorded import AnswerPiece, RecordedAnswer
from offhook.scenarios.engine.outside_models import AnswerRefused
from offhook.scenarios.files import parse_scenarios
from offhook.scenarios.gate.verdict import GatePolicy, judge_draft, summarize_suite
from offhook.scenarios.report import junit_xml, report_lines
from tests.scenarios.agents import agent, codes

JUDGE = ModelRef("llm", "openai", "gpt-4.1")
CRITERIA = ["The agent asks one question", "The agent promises no date"]
SCENARIO: dict[str, Any] = {
    "name": "greets",
    "title": "Greets",
    "caller": {"turns": [{"silence_s": 1}]},
    "expect": {"says": ["Sales or support"], "judged": CRITERIA, "judged_by": "openai/gpt-4.1"},
}
MET = [
    {"number": 1, "passed": True, "quote": "Sales or support?", "reason": "It asks which department."},
    {"number": 2, "passed": True, "quote": "", "reason": "No date is mentioned."},
]
NOT_MET = [MET[0], {"number": 2, "passed": False, "quote": "Hello.", "reason": "It greets."}]


class Judge:
    """Implements AnswerProvider with one verdict; the agent needs no model for its greeting."""

    def __init__(self, verdicts: Any) -> None:
        self._verdicts = verdicts
        self.questions: list[Question] = []

    def answer_question(self, question: Question) -> GivenAnswer:
        self.questions.append(question)
        if isinstance(self._verdicts, AnswerRefused):
            raise self._verdicts
        text = self._verdicts if isinstance(self._verdicts, str) else json.dumps({"verdicts": self._verdicts})
        return GivenAnswer(RecordedAnswer((AnswerPiece(0.1, TextDelta(text)),)), JUDGE, is_recorded=True)


def play(judge: Judge, **expect: Any) -> ScenarioResult:
    (scenario,) = parse_scenarios([{**SCENARIO, "expect": {**SCENARIO["expect"], **expect}}])
    return run_scenario(agent(), scenario, partial(AnsweredLlm, judge, JUDGE))


def test_a_verdict_names_the_criterion_the_words_and_the_model() -> None:
    judge = Judge(NOT_MET)
    result = play(judge)
    assert codes(result) == ["judged_failed"]
    (question,) = judge.questions
    assert question.model == "openai/gpt-4.1"
    assert "Agent: Hello. Sales or support?" in str(question.request)
    plain: Any = result.as_json()
    assert plain["faults"][0]["is_by_model"]
    assert plain["verdicts"][1] == {
        "criterion": CRITERIA[1],
        "passed": False,
        "quote": "Hello.",
        "reason": "It greets.",
        "provider": "openai",
        "model": "gpt-4.1",
        "is_recorded": True,
        "code": "judged_failed",
    }


def test_all_met_passes() -> None:
    result = play(Judge(MET))
    assert (result.has_passed, [verdict.has_passed for verdict in result.verdicts]) == (True, [True, True])


def test_nobody_is_asked_when_an_assertion_failed() -> None:
    judge = Judge(MET)
    result = play(judge, says=["Good evening"])
    assert (codes(result), judge.questions, result.verdicts) == (["words_missing"], [], ())


@pytest.mark.parametrize(
    "answer",
    [
        "It is fine.",
        "{}",
        [MET[0]],
        [*MET, MET[1]],
        [MET[0], {**MET[1], "number": 3}],
        [MET[0], {**MET[1], "passed": "yes"}],
        [MET[0], {**MET[1], "passed": None}],
        [MET[0], {**MET[1], "reason": " "}],
        [{**MET[0], "quote": "Would you like a kettle?"}, MET[1]],
        [MET[0], {"number": 2}],
        [1, 2],
    ],
    ids=str,
)
def test_an_answer_that_cannot_be_used_passes_nothing(answer: Any) -> None:
    result = play(Judge(answer))
    assert codes(result) == ["judge_unclear", "judge_unclear"]
    assert [verdict.has_passed for verdict in result.verdicts] == [None, None]


def test_a_judge_that_is_not_recorded_passes_nothing() -> None:
    refused = AnswerRefused("answer_not_recorded", "there is no recorded answer")
    assert codes(play(Judge(refused))) == ["answer_not_recorded", "answer_not_recorded"]


def test_the_built_in_model_leaves_criteria_without_a_verdict() -> None:
    (scenario,) = parse_scenarios([SCENARIO])
    result = run_scenario(agent(), scenario, BuiltinLlm)
    assert (result.has_passed, result.is_unjudged) == (True, True)
    assert "not judged" in "\n".join(report_lines(SuiteResult("Shop", 0, (result,))))


def test_reports_say_who_judged() -> None:
    suite = SuiteResult("Shop", 0, (play(Judge(NOT_MET)),))
    text = "\n".join(report_lines(suite))
    assert "not met by openai gpt-4.1, recorded: “The agent promises no date”: It greets. (“Hello.”)" in text
    case = ET.fromstring(junit_xml(suite))[0][0]
    assert case[0].attrib["type"] == "judged_failed"
    assert "by openai gpt-4.1, recorded" in str(case[1].text)


class TestGate:
    def test_warns_of_what_a_model_has_judged(self) -> None:
        verdict = judge_draft(side(Judge(NOT_MET)), None, GatePolicy())
        assert (verdict.has_passed, [warning.code for warning in verdict.warnings]) == (True, ["judged_failed"])

    def test_stops_for_it_where_the_agent_demands_that(self) -> None:
        verdict = judge_draft(side(Judge(NOT_MET)), None, GatePolicy(model_verdicts_stop=True))
        assert ([reason.code for reason in verdict.reasons], verdict.warnings) == (["judged_failed"], ())

    def test_demands_a_verdict_then(self) -> None:
        (scenario,) = parse_scenarios([SCENARIO])
        unjudged = run_scenario(agent(), scenario, BuiltinLlm)
        of_draft = summarize_suite(agent(), SuiteResult("Shop", 0, (unjudged,)))
        assert judge_draft(of_draft, None, GatePolicy()).has_passed
        verdict = judge_draft(of_draft, None, GatePolicy(model_verdicts_stop=True))
        assert [reason.code for reason in verdict.reasons] == ["not_judged"]


def side(judge: Judge) -> Any:
    return summarize_suite(agent(), SuiteResult("Shop", 0, (play(judge),)))
