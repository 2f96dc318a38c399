"""``offhook test``: what it prints, what it exits with, and which agents it finds."""

import json
from hashlib import sha256
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from offhook.workflows.demo import demo_agent
from tests.commands.conftest import Offhook
from tests.quick import first_quick
from tests.scenarios.agents import DEFINITION

SCENARIOS = """
scenarios:
  - name: buys
    caller: {turns: [sales please, london]}
    expect: {end: bye}
  - name: complains
    caller: {turns: [support please]}
    expect: {end: %s}
"""


@pytest.fixture
def definition(tmp_path: Path) -> Path:
    path = tmp_path / "shop.json"
    path.write_text(json.dumps(DEFINITION))
    return path


def write_scenarios(folder: Path, end: str) -> str:
    path = folder / "scenarios.yaml"
    path.write_text(SCENARIOS % end)
    return str(path)


@pytest.mark.slow
def test_a_template_needs_no_database(tmp_path: Path) -> None:
    offhook = Offhook(tmp_path / "nothing")
    done = offhook.run("test", "survey", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["total"], report["passed"], report["failed"]) == (5, 5, 0)
    assert offhook.run("test", "survey", "--json").stdout == done.stdout
    assert not (tmp_path / "nothing" / "postgres").exists()


@pytest.mark.slow
def test_a_definition_and_what_does_not_hold(shared: Offhook, definition: Path, tmp_path: Path) -> None:
    junit = tmp_path / "junit.xml"
    file = write_scenarios(tmp_path, "bye")
    done = shared.run("test", str(definition), "--file", file, "--junit", str(junit))
    assert done.returncode == 1, done.stderr
    assert "passed  buys\nFAILED  complains\n        end_differs: " in done.stdout
    suite = ET.parse(junit).getroot()[0]
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("2", "1")
    failure = suite[1][0]
    assert failure.attrib["type"] == "end_differs"
    assert shared.run("test", str(definition), "--file", file, "--scenario", "buys").returncode == 0


@pytest.mark.slow
def test_an_agent_of_the_installation(shared: Offhook, tmp_path: Path) -> None:
    file = tmp_path / "one.yaml"
    file.write_text("scenarios: [{name: one, caller: {turns: [hello]}, expect: {is_over: false}}]")
    by_name = shared.run("test", demo_agent("survey")["name"], "--file", str(file), "--json")
    assert by_name.returncode == 0, by_name.stderr
    assert json.loads(by_name.stdout)["total"] == 1
    # without a file the agent's own scenarios, which came with the demo
    own = json.loads(shared.run("test", "1", "--version", "1", "--json").stdout)
    assert (own["failed"], own["total"]) == (0, len(demo_agent("survey")["scenarios"]))
    missing = shared.run("test", "1", "--version", "77", "--file", str(file))
    assert (missing.returncode, missing.stderr) == (2, "offhook: Workflow version not found.\n")


@pytest.mark.slow
def test_check_plays_nothing(shared: Offhook, definition: Path) -> None:
    clean = shared.run("test", "order_status", "--check")
    assert (clean.returncode, clean.stdout) == (0, "Order status: 0 errors, 0 warnings\n"), clean.stderr
    raw = json.loads(definition.read_text())
    raw["edges"][0]["data"] |= {"condition": "never", "digits": ""}
    definition.write_text(json.dumps(raw))
    found = shared.run("test", str(definition), "--check", "--json")
    assert found.returncode == 1, found.stderr
    report = json.loads(found.stdout)
    assert (report["errors"], report["findings"][0]["code"]) == (3, "edge_never_taken")


@pytest.mark.slow
def test_proposals_judge_a_changed_definition(shared: Offhook, definition: Path, tmp_path: Path) -> None:
    proposed = shared.run("test", str(definition), "--propose")
    assert proposed.returncode == 0, proposed.stderr
    scenarios = tmp_path / "proposed.yaml"
    scenarios.write_text(proposed.stdout)
    raw = json.loads(definition.read_text())
    raw["nodes"][3]["data"]["say"] = "Bye."
    worse = tmp_path / "worse.json"
    worse.write_text(json.dumps(raw))
    same = shared.run("test", str(definition), "--against", str(definition), "--file", str(scenarios))
    assert (same.returncode, same.stdout.splitlines()[-1][:36]) == (0, "shop: nothing is against publishing,"), (
        same.stderr
    )
    judged = shared.run("test", str(worse), "--against", str(definition), "--file", str(scenarios), "--json")
    assert judged.returncode == 1, judged.stderr
    verdict = json.loads(judged.stdout)
    assert (verdict["passed"], verdict["reasons"][0]["code"]) == (False, "scenario_regressed")


@pytest.mark.slow
def test_with_sound_failed_calls_keep_their_recordings(shared: Offhook, definition: Path, tmp_path: Path) -> None:
    folder, file = tmp_path / "recordings", write_scenarios(tmp_path, "bye")
    arguments = ("test", str(definition), "--file", file, "--sound", "--json")
    done = shared.run(*arguments, "--recordings", str(folder))
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    assert (report["total"], report["passed"]) == (2, 1)
    assert [found["sound"]["talk_overs"] for found in report["scenarios"]] == [0, 0]
    (recording,) = folder.iterdir()
    assert recording.name == "complains-0.wav"
    assert sha256(recording.read_bytes()).hexdigest() == report["scenarios"][1]["sound"]["recording_hash"]
    # the same bytes in another process
    assert shared.run(*arguments).stdout == done.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    first_quick(
        [
            (["survey", "--draft"], "--draft and --version are for agents of the installation"),
            (["survey", "--against", "published"], "--against published is for agents of the installation"),
            (["survey", "--against", "0"], "--against takes 'published', the number of a version"),
            (["survey", "--sound", "--recordings", "x", "--against", "2"], "either --recordings or --against"),
            (["survey", "--recordings", "here"], "--recordings and --recognizer need --sound"),
            (["survey", "--scenario", "other"], "There is no scenario 'other'"),
            (["survey", "--file", "missing.yaml"], "Cannot read missing.yaml: No such file"),
            (["missing.json"], "Cannot read missing.json: No such file"),
            (["1", "--draft", "--version", "1"], "provide either --draft or --version"),
            (["Nobody knows it"], "No agent is named 'Nobody knows it'"),
        ],
    ),
)
def test_bad_input(shared: Offhook, arguments: list[str], sentence: str) -> None:
    done = shared.run("test", *arguments)
    assert done.returncode == 2
    assert sentence in done.stderr


@pytest.mark.slow
def test_files_that_are_not_what_they_must_be(shared: Offhook, definition: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("scenarios: [{name: a, caller: {turns: [hi]}, expect: {edgs: []}}]")
    done = shared.run("test", str(definition), "--file", str(wrong))
    assert done.returncode == 2
    assert "scenarios[0].expect.edgs: extra inputs are not permitted" in done.stderr
    assert shared.run("test", str(definition)).returncode == 2
    for text in ("[", "[]", '{"nodes": 1}'):
        definition.write_text(text)
        assert shared.run("test", str(definition), "--file", str(wrong)).returncode == 2
