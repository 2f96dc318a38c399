"""What the publish gate stops, and what it lets pass."""

import copy
from typing import Any

import pytest

from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.scenarios import Scenario, ScenarioAgent
from offhook.scenarios.gate.comparison import compare_graphs
from offhook.scenarios.gate.conditions import find_reversed_conditions
from offhook.scenarios.gate.report import verdict_lines
from offhook.scenarios.gate.verdict import GatePolicy, GateSide, GateVerdict, examine_version, judge_draft
from offhook.scenarios.proposals.proposer import propose_scenarios
from tests.scenarios.agents import DEFINITION, LOOKUP, agent, scenario

DEMANDS = GatePolicy()
SCENARIOS = propose_scenarios(agent(), BuiltinLlm)


def changed(**parts: dict[str, Any]) -> dict[str, Any]:
    """The small agent with other data at nodes and edges; ids with ``-`` are written ``__``."""
    raw = copy.deepcopy(DEFINITION)
    for item in (*raw["nodes"], *raw["edges"]):
        part = parts.get(item["id"].replace("-", "__"), {})
        item |= {key: value for key, value in part.items() if key == "target"}
        item["data"] |= {key: value for key, value in part.items() if key != "target"}
    return raw


def examine(definition: dict[str, Any] | None = None, **parts: Any) -> GateSide:
    return examine_version(agent(definition, **parts), SCENARIOS, BuiltinLlm)


def judge(definition: dict[str, Any], policy: GatePolicy = DEMANDS) -> GateVerdict:
    return judge_draft(examine(definition), examine(), policy)


def codes(verdict: GateVerdict) -> list[str]:
    return [reason.code for reason in verdict.reasons]


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("The caller wants sales.", "The caller does not want sales."),
        ("The caller doesn't want any help.", "The caller wants help."),
        ("The caller says yes.", "The caller says no."),
        ("The address is correct", "The address is incorrect"),
        ("The caller has an appointment", "The caller has no appointment"),
    ],
)
def test_a_condition_that_says_the_opposite_is_found_though_examples_hide_it(was: str, now: str) -> None:
    before, after = (changed(start__sales={"condition": text}) for text in (was, now))
    verdict = judge_draft(examine(after), examine(before), DEMANDS)
    assert [(reason.code, reason.id) for reason in verdict.reasons] == [("condition_reversed", "start-sales")]
    assert list(find_reversed_conditions(after, before)) == [("start-sales", was)]
    # somebody who means it changes the examples too
    meant = changed(start__sales={"condition": now, "examples": ["something else"]})
    assert list(find_reversed_conditions(before, meant)) == []


def test_other_words_for_the_same_condition_are_no_reversal() -> None:
    for was, now in (
        ("The caller wants sales.", "The caller asks for sales, not support."),
        ("The caller does not want sales.", "The caller doesn’t want sales"),
        ("The caller says yes.", "The caller agrees."),
    ):
        before, after = (changed(start__sales={"condition": text}) for text in (was, now))
        assert list(find_reversed_conditions(before, after)) == []


GREETING = "Hello {{ first_name | there }}. Sales or support?"
GREETS: dict[str, Any] = {"name": "greets", "context": {"first_name": "Ada"}, "caller": {"turns": ["support please"]}}


def judge_words(before: dict[str, Any], after: dict[str, Any], *expected: dict[str, Any]) -> GateVerdict:
    """Compares two versions by a caller whose name is known, and by these, whose name is not."""
    scenarios = [scenario(**GREETS, expect={"says": ["Hello Ada"]})]
    scenarios += [
        scenario(name=f"unknown-{at}", caller=GREETS["caller"], expect=expect) for at, expect in enumerate(expected)
    ]
    published, draft = (examine_version(agent(raw), scenarios, BuiltinLlm) for raw in (before, after))
    return judge_draft(draft, published, DEMANDS)


@pytest.mark.parametrize("now", ["their", "", None])
def test_another_default_that_no_scenario_hears_stops(now: str | None) -> None:
    before = changed(start={"greeting": GREETING})
    slot = "{{ first_name }}" if now is None else f"{{{{ first_name | {now} }}}}"
    after = changed(start={"greeting": GREETING.replace("{{ first_name | there }}", slot)})
    verdict = judge_words(before, after)
    assert ("default_changed", "start") in [(reason.code, reason.id) for reason in verdict.reasons]
    has = f"“{now}”" if now else "nothing"
    message = f"“start” has {has} instead of “there” where first_name is missing, and no scenario expects that"
    assert message in [reason.message for reason in verdict.reasons]
    # a scenario that does not hear those of before, and heard them before
    assert "default_changed" not in codes(judge_words(before, after, {"never_says": ["hello there"]}))


def test_another_default_that_a_scenario_expects_is_meant() -> None:
    before = changed(start={"greeting": GREETING})
    after = changed(start={"greeting": GREETING.replace("there", "dear caller")})
    assert codes(judge_words(before, after)) == ["default_changed"]
    assert codes(judge_words(before, after, {"says": ["Hello dear caller"]})) == []
    # words that were said before, too, are no sign of it
    assert codes(judge_words(before, after, {"says": ["Sales or support?"]})) == ["default_changed"]


def test_defaults_of_prompts_count_unless_the_prompt_is_written_anew() -> None:
    def prompted(text: str) -> dict[str, Any]:
        return changed(start={"greeting": GREETING}, sales={"prompt": text})

    before = prompted("Ask {{ first_name | the caller }} for the city.")
    assert codes(judge_words(before, prompted("Ask {{first_name|them}} for the city."))) == ["default_changed"]
    for text in (
        "Ask {{ first_name | them }} politely which city it is.",
        "Ask {{first_name|the caller}} for the city.",
        "Ask {{ first_name | the caller }} for the {{ place | city }}.",
    ):
        assert codes(judge_words(before, prompted(text))) == []


def test_fixed_values_that_texts_use_count() -> None:
    raw = changed(sales={"prompt": "Ask for the city, for {{ company }}."})

    def side(**variables: str) -> GateSide:
        return examine_version(agent(raw, variables=variables), SCENARIOS, BuiltinLlm)

    verdict = judge_draft(side(company="Northwynd", code="2"), side(company="Northwind", code="1"), DEMANDS)
    assert [reason.message for reason in verdict.reasons] == [
        "The variable company is “Northwynd” now instead of “Northwind”, and no scenario expects that"
    ]
    assert codes(judge_draft(side(), side(company="Northwind"), DEMANDS))[-1] == "default_changed"
    assert codes(judge_draft(side(company="Northwind"), side(), DEMANDS)) == []


def test_the_same_version_passes_and_what_no_caller_notices() -> None:
    for raw in (DEFINITION, changed(start={"name": "Welcome", "notes": "Checked."})):
        verdict = judge(raw)
        assert (verdict.reasons, verdict.changes, verdict.has_passed) == ((), (), True)


def test_a_regression_names_the_scenario_and_what_changed() -> None:
    verdict = judge(changed(bye={"say": "Bye."}))
    assert codes(verdict) == ["scenario_regressed"] * 2 + ["coverage_lost"] * 3
    assert [reason.scenario for reason in verdict.reasons[:2]] == ["takes-sales", "presses-sales"]
    assert [reason.id for reason in verdict.reasons[2:]] == ["sales", "start-sales", "start-sales/words"]
    assert [change.as_json() for change in verdict.changes] == [
        {"kind": "node", "id": "bye", "change": "changed", "fields": ["say"]}
    ]
    lines = list(verdict_lines(verdict))
    assert lines[0] == "changed  node bye: say"
    assert lines[-1].startswith("Shop: 5 reasons not to publish, hash ")


def test_a_scenario_that_failed_before_is_no_regression() -> None:
    wrong = scenario(caller={"turns": ["support please"]}, expect={"end": "bye"})
    side = examine_version(agent(), [wrong], BuiltinLlm)
    assert codes(judge_draft(side, side, GatePolicy())) == ["scenario_failed"]


def test_new_findings_stop_and_old_ones_do_not() -> None:
    raw = changed(sales__bye={"condition": "never"})
    assert "finding_edge_never_taken" in codes(judge(raw))
    assert judge_draft(examine(raw), examine(raw), GatePolicy(scenarios_pass=False)).has_passed


def test_without_a_published_version_only_errors_count() -> None:
    policy = GatePolicy(scenarios_pass=False)
    assert judge_draft(examine(changed(bye={"say": "Anything else?"})), None, policy).has_passed
    first = judge_draft(examine(changed(sales__bye={"condition": "never"})), None, policy)
    assert codes(first) == ["finding_edge_never_taken", "finding_end_cut_off"]


def test_swapped_texts_stop_although_no_scenario_hears_them() -> None:
    prompts = {"start": {"prompt": "Ask for the city."}, "sales": {"prompt": "Ask what the caller wants."}}
    verdict = judge(changed(**prompts), GatePolicy(scenarios_pass=False))
    assert codes(verdict) == ["texts_swapped"]


def test_each_demand_can_be_left_out() -> None:
    nothing = GatePolicy(False, False, False, 0.0, False)
    assert judge(changed(bye={"say": "Bye."}, sales__bye={"condition": "never"}), nothing).has_passed


def test_a_prompt_of_another_step_stops_and_a_new_one_does_not() -> None:
    scenarios_aside = GatePolicy(scenarios_pass=False)
    verdict = judge(changed(start={"prompt": "Ask for the city."}), scenarios_aside)
    assert [(reason.code, reason.id) for reason in verdict.reasons] == [("prompt_copied", "start")]
    assert verdict.reasons[0].message == "“start” has the prompt of “sales” now, instead of its own"
    assert judge(changed(start={"prompt": "Find out what the caller wants."}), scenarios_aside).has_passed
    # a step that had the same prompt before has lost nothing
    alike = changed(start={"prompt": "Ask for the city."})
    assert judge_draft(examine(alike), examine(alike), scenarios_aside).has_passed


def test_keys_that_lead_elsewhere_stop() -> None:
    swapped = changed(start__sales={"digits": "2"}, start__support={"digits": "1"})
    assert codes(judge(swapped))[:2] == ["scenario_regressed", "scenario_regressed"]
    lost = judge(changed(start__sales={"digits": ""}))
    assert [reason.scenario for reason in lost.reasons if reason.scenario] == ["presses-sales"]


def test_coverage_tells_words_from_keys() -> None:
    said, pressed = (
        scenario(caller={"turns": [{act: value}]}, expect={"is_over": False})
        for act, value in (("say", "sales please"), ("press", "1"))
    )
    words, keys = (examine_version(agent(), [one], BuiltinLlm).coverage.conditions.taken for one in (said, pressed))
    assert (words, keys) == (("start-sales/words",), ("start-sales/key",))


def test_coverage_counts_tools_and_their_failures() -> None:
    raw = changed(sales={"tool_uuids": ["lookup-1"], "prompt": "Ask for the city with look_up."})
    shop = agent(raw, tools=[LOOKUP])
    side = examine_version(shop, propose_scenarios(shop, BuiltinLlm), BuiltinLlm)
    shares = {name: share.percent for name, share in side.coverage.shares().items()}
    assert shares == {"nodes": 100.0, "edges": 100.0, "conditions": 100.0, "tools": 100.0, "error_paths": 100.0}
    played = [result.as_json() for result in side.suite.results if result.name.startswith("tool-fails")]
    assert [(one["tools"], one["failed_tools"]) for one in played] == [(["look_up"], ["look_up"])]
    none = examine_version(shop, [], BuiltinLlm)
    assert none.coverage.tools.missed == ("lookup-1",)
    demanding = judge_draft(none, None, GatePolicy(min_edge_coverage=50))
    assert codes(demanding) == ["coverage_too_low"]


def test_a_slower_answer_stops() -> None:
    def side(seconds: float) -> GateSide:
        raw = changed(sales={"tool_uuids": ["lookup-1"], "prompt": "Ask for the city with look_up."})
        slow = {"lookup-1": [{"result": {"status": "ok"}, "takes_s": seconds}]}
        scenarios: list[Scenario] = [
            scenario(caller={"turns": ["sales please"]}, tools=slow, expect={"is_over": False})
        ]
        shop: ScenarioAgent = agent(raw, tools=[LOOKUP])
        return examine_version(shop, scenarios, BuiltinLlm)

    assert codes(judge_draft(side(2.0), side(0.5), GatePolicy())) == ["answer_time_lost"]
    assert codes(judge_draft(side(0.5), side(2.0), GatePolicy())) == []


def test_added_and_removed_parts_are_changes() -> None:
    raw = copy.deepcopy(DEFINITION)
    raw["edges"][1]["id"] = "other"
    changes = [(change.kind, change.id, change.change) for change in compare_graphs(DEFINITION, raw)]
    assert changes == [("edge", "start-support", "removed"), ("edge", "other", "added")]
