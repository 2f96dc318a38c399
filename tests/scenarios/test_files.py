"""Files of scenarios: what is read, how it is written, and what is said about mistakes."""

import time

import pytest

from offhook.scenarios import read_scenarios, write_scenarios
from offhook.scenarios.errors import ScenariosInvalid
from offhook.scenarios.files import MAX_BYTES
from offhook.scenarios.templates import template_scenarios
from offhook.workflows.catalog.templates import TEMPLATE_IDS

GOOD = """
scenarios:
  - name: books
    caller:
      turns:
        - Yes
        - no
        - 11:30
        - 007
        - {press: 1}
        - say: on
          agent_says: ok
    expect:
      variables: {is_new: true, count: 3, when: null, rate: 1.5}
"""


def refused(text: str | bytes) -> list[tuple[str, str]]:
    with pytest.raises(ScenariosInvalid) as caught:
        read_scenarios(text)
    return [(issue.path, issue.code) for issue in caught.value.issues]


def test_words_stay_words() -> None:
    (scenario,) = read_scenarios(GOOD)
    assert [turn.say for turn in scenario.caller.turns] == ["Yes", "no", "11:30", "007", None, "on"]
    assert scenario.caller.turns[4].press == "1"
    assert scenario.expect.variables == {"is_new": True, "count": 3, "when": None, "rate": 1.5}


def test_what_is_written_is_read() -> None:
    scenarios = read_scenarios(GOOD)
    assert read_scenarios(write_scenarios(scenarios)) == scenarios


@pytest.mark.parametrize("template_id", TEMPLATE_IDS)
def test_the_catalog_is_written_and_read(template_id: str) -> None:
    scenarios = template_scenarios(template_id)
    assert read_scenarios(write_scenarios(scenarios)) == scenarios


def test_every_wrong_field_is_named() -> None:
    text = """
scenarios:
  - name: Books it
    caller: {turns: [{say: hi, press: 1}]}
    expect: {edges: [a], edgs_never: [b]}
  - name: other
    caller: {}
    expect: {}
  - name: third
    caller: {turns: [hi]}
    expect: {end: x}
  - name: third
    caller: {turns: [hi]}
    expect: {end: x}
  - name: fourth
    caller: {turns: [hi], manner: {voice: en gb}}
    expect: {end: x}
"""
    assert refused(text) == [
        ("scenarios[0].name", "string_pattern_mismatch"),
        ("scenarios[0].caller.turns[0]", "value_error"),
        ("scenarios[0].expect.edgs_never", "extra_forbidden"),
        ("scenarios[1].caller", "value_error"),
        ("scenarios[1].expect", "value_error"),
        ("scenarios[3].name", "name_taken"),
        ("scenarios[4].caller.manner.voice", "value_error"),
    ]


@pytest.mark.parametrize(
    ("text", "issue"),
    [
        ("", ("", "scenarios_missing")),
        ("{}", ("", "scenarios_missing")),
        ("scenarios: 3", ("", "scenarios_missing")),
        ("scenarios: [", ("", "yaml_invalid")),
        ("scenarios: &a [*a]", ("", "yaml_alias")),
        ("scenarios: []\nscenarios: []", ("scenarios", "key_twice")),
        ("scenarios: !!python/object:os.system {}", ("scenarios", "yaml_tag")),
        ("scenarios: " + "[" * 60 + "]" * 60, ("", "nested_too_deeply")),
        ("scenarios: [{? [a, b] : 1}]", ("scenarios[0]", "key_not_text")),
        ("scenarios: [{? %s : 1}]" % ("k" * 1001), ("scenarios[0]", "key_too_long")),
        ("scenarios: [{context: {a: [" + "1," * 250_000 + "]}}]", ("", "too_many_values")),
        ("scenarios: [{caller: {turns: [" + "1," * 100_000 + "]}}]", ("scenarios[0]", "too_many_mistakes")),
        (b"\xff\xfe\xff", ("", "not_text")),
        (b"#" * (MAX_BYTES + 1), ("", "file_too_large")),
        ("scenarios: [" + "{}," * 300 + "]", ("", "too_many_scenarios")),
    ],
)
def test_files_that_are_refused(text: str | bytes, issue: tuple[str, str]) -> None:
    assert refused(text) == [issue]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        *((unit * (200_000 // len(unit)), "nested_too_deeply") for unit in ("[", "{", "[{", "{a: ", "? ", "- ", "[? ")),
        ("".join(" " * depth + "a:\n" for depth in range(1000)), "nested_too_deeply"),
        ("".join(" " * depth + "-\n" for depth in range(1000)), "nested_too_deeply"),
        ("? " + "[" * 200_000, "nested_too_deeply"),
        ("".join(f"%TAG !a{number}! x\n" for number in range(60_000)) + "--- x", "yaml_tag"),
        (f"? {'k' * 300_000}\n: [" + "a," * 120_000 + "]", "key_too_long"),
        ("scenarios: [{expect: {tools: [" + "1," * 240_000 + "]}}]", "too_many_mistakes"),
        ("- " + "word " * 200_000, "model_type"),
        ('"' + "\n" * 1_000_000 + '"', "scenarios_missing"),
    ],
    ids=range(15),
)
def test_no_file_takes_longer_than_others_of_its_size(text: str, code: str) -> None:
    ordinary, _ = timed_refusal("scenarios: [" + "1, " * 240_000 + "]")
    taken, issues = timed_refusal(text)
    assert [found for _, found in issues] == [code]
    assert taken < 3 * ordinary


def timed_refusal(text: str) -> tuple[float, list[tuple[str, str]]]:
    """Returns the seconds of CPU that it takes to refuse a file, and what is wrong with it."""
    began = time.thread_time()
    issues = refused(text)
    return time.thread_time() - began, issues
