"""Definitions of results and criteria: what is accepted, and what their rules hold of a call."""

from typing import Any

import pytest
from pydantic import ValidationError

from offhook.workflows.results.definitions import CallAnalysis, CallRule, ResultDefinition, parse_call_analysis
from offhook.workflows.results.rules import (
    CallFacts,
    CriterionVerdict,
    choose_result,
    do_rules_hold,
    is_success,
)
from tests.workflows.conftest import Editor

FACTS = CallFacts(
    {"day": "Tuesday", "is_confirmed": True, "count": 3.0, "note": "", "wants": "no"},
    nodes={"n1", "Goodbye"},
    edges={"e7"},
    end_reason="caller_hung_up",
)
HOLDS: list[tuple[dict[str, Any], bool]] = [
    ({"check": "variable", "name": "day", "values": ["tuesday", "monday"]}, True),
    ({"check": "variable", "name": "day", "operator": "is_not", "values": ["tuesday"]}, False),
    ({"check": "variable", "name": "day", "operator": "contains", "values": ["TUES"]}, True),
    ({"check": "variable", "name": "is_confirmed", "values": ["yes"]}, True),
    ({"check": "variable", "name": "wants", "values": ["false"]}, True),
    ({"check": "variable", "name": "count", "values": ["3"]}, True),
    ({"check": "variable", "name": "note", "operator": "is_set"}, False),
    ({"check": "variable", "name": "missing", "operator": "is_not_set"}, True),
    ({"check": "variable", "name": "missing", "operator": "is_not", "values": ["x"]}, True),
    ({"check": "node", "name": "goodbye"}, True),
    ({"check": "node", "name": "n2", "operator": "is_not"}, True),
    ({"check": "edge", "name": "e7"}, True),
    ({"check": "edge", "name": "e8"}, False),
    ({"check": "end_reason", "name": "caller_hung_up"}, True),
]


@pytest.mark.parametrize(("rule", "holds"), HOLDS)
def test_rules(rule: dict[str, Any], holds: bool) -> None:
    definition = ResultDefinition(name="x", rules=[CallRule.model_validate(rule)])
    assert do_rules_hold(definition, FACTS) is holds


def test_all_or_any_and_the_first_that_fits() -> None:
    yes, no = {"check": "node", "name": "n1"}, {"check": "node", "name": "n9"}
    analysis = CallAnalysis.model_validate(
        {
            "results": [
                {"name": "For a model"},
                {"name": "All", "rules": [yes, no]},
                {"name": "Any", "match": "any", "rules": [no, yes]},
                {"name": "Later", "rules": [yes]},
            ]
        }
    )
    result = choose_result(analysis, FACTS)
    assert result is not None
    assert result.name == "Any"


def test_success_is_every_judged_criterion_or_else_the_result() -> None:
    won = ResultDefinition(name="Booked", is_success=True)
    assert is_success(won, []) is True
    assert is_success(None, []) is None
    assert is_success(won, [CriterionVerdict("a", None)]) is True
    assert is_success(won, [CriterionVerdict("a", True), CriterionVerdict("b", False)]) is False


@pytest.mark.parametrize(
    "bad",
    [
        {"results": [{"name": ""}]},
        {"results": [{"name": "a" * 41}]},
        {"results": [{"name": "Booked"}, {"name": "booked"}]},
        {"results": [{"name": "a", "rules": [{"check": "variable", "name": "x"}]}]},
        {
            "results": [
                {"name": "a", "rules": [{"check": "variable", "name": "x", "operator": "is_set", "values": ["1"]}]}
            ]
        },
        {"results": [{"name": "a", "rules": [{"check": "node", "name": "x", "operator": "contains"}]}]},
        {"results": [{"name": "a", "rule": []}]},
        {"results": [{"name": f"r{number}"} for number in range(13)]},
        {"criteria": [{"name": "a"}, {"name": "A"}]},
    ],
)
def test_what_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        CallAnalysis.model_validate(bad)
    assert parse_call_analysis({"call_analysis": bad}) == CallAnalysis()


async def test_settings_keep_it_and_say_what_is_wrong(editor: Editor) -> None:
    workflow_id = await editor.create_published()
    fine = {"results": [{"name": "Booked", "is_success": True, "rules": [{"check": "node", "name": "bye"}]}]}
    path = f"/workflow/{workflow_id}"
    saved = await editor.put(path, json={"workflow_configurations": {"call_analysis": fine}})
    assert saved.status_code == 200, saved.text
    assert saved.json()["workflow_configurations"]["call_analysis"] == fine
    bad = {"call_analysis": {"results": [{"name": "Booked", "rules": [{"check": "mood", "name": "x"}]}]}}
    refused = await editor.put(path, json={"workflow_configurations": bad})
    assert refused.status_code == 422
    assert "call_analysis" in str(refused.json()["detail"][0]["loc"])
