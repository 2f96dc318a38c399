"""``offhook replay``: what it says when there is nothing to replay."""

import json

import pytest

from offhook.commands.replay import replay_lines
from offhook.scenarios.replays.comparison import ReplayDifference
from offhook.scenarios.replays.service import RunReplay
from tests.commands.conftest import Offhook


def test_a_run_that_does_not_exist_is_one_sentence(shared: Offhook) -> None:
    done = shared.run("replay", "999999")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "offhook: Run not found.\n"


def test_one_version_at_a_time(shared: Offhook) -> None:
    done = shared.run("replay", "1", "--draft", "--version", "2")
    assert done.returncode == 2
    assert "either --draft or --version" in done.stderr


@pytest.mark.parametrize(
    ("is_exact", "head"),
    [
        (True, "Run 7 differs with version 3 at turn 2, step 'Ask', 4.120 s: agent_said"),
        (False, "Run 7 differs with the version that it was held with at turn 2, step 'Ask', 4.120 s: agent_said"),
    ],
)
def test_a_difference_names_its_place(is_exact: bool, head: str) -> None:
    difference = ReplayDifference(2, "ask", "Ask", 4120, "agent_said", "text: Hello.", "text: Good day.")
    result = RunReplay(7, 3, not is_exact, is_exact, 12, "abc", difference)
    assert replay_lines(result) == [head, "  expected: text: Hello.", "  came:     text: Good day."]
    found = json.loads(json.dumps(result.as_json()))
    assert found["first_difference"]["node_id"] == "ask"
    assert (found["is_same"], found["is_exact"], found["version"]) == (False, is_exact, 3)
