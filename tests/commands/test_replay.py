"""``offhook replay``: what it says, also when there is nothing to replay."""

import json
from collections import Counter
from datetime import UTC, datetime

import pytest
import typer

from offhook.commands.replay import replay_lines
from offhook.commands.replay.periods import period_lines, read_period
from offhook.scenarios.replays.comparison import ReplayDifference
from offhook.scenarios.replays.orders import RunReplay
from offhook.scenarios.replays.period import PeriodReplay, ReplayPeriod
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


NOW = datetime(2026, 11, 26, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("since", "until", "begin", "end"),
    [
        ("7d", None, datetime(2026, 11, 19, 12, 0, tzinfo=UTC), NOW),
        ("2w", "12h", datetime(2026, 11, 12, 12, 0, tzinfo=UTC), datetime(2026, 11, 26, 0, 0, tzinfo=UTC)),
        (
            "2026-11-01",
            "2026-11-02T08:00+01:00",
            datetime(2026, 11, 1, tzinfo=UTC),
            datetime(2026, 11, 2, 7, 0, tzinfo=UTC),
        ),
    ],
)
def test_a_period_is_a_duration_or_two_moments(since: str, until: str | None, begin: datetime, end: datetime) -> None:
    assert read_period(since, until, NOW) == (begin, end)


@pytest.mark.parametrize(
    ("since", "until", "sentence"),
    [
        ("week", None, "--since takes a duration, such as 7d, 12h or 30m, or a date, such as 2026-11-19; not 'week'"),
        ("0d", None, "--since takes"),
        ("-7d", None, "--since takes"),
        ("999999w", None, "--since takes"),
        ("7d", "soon", "--until takes"),
        ("1d", "2d", "--since must be before --until"),
        ("2027-01-01", None, "--since must be in the past"),
    ],
)
def test_what_is_no_period_is_said(since: str, until: str | None, sentence: str) -> None:
    with pytest.raises(typer.BadParameter, match=sentence):
        read_period(since, until, NOW)


def test_runs_of_a_period_are_a_table() -> None:
    def replay(run_id: int, difference: ReplayDifference | None, *, is_exact: bool = True) -> RunReplay:
        return RunReplay(run_id, 4, False, is_exact, 12, "abc", difference)

    other = ReplayDifference(2, "ask", "Ask", 4120, "agent_said", "text: Hello.", "text: Good day.")
    result = PeriodReplay("Front desk", ReplayPeriod(1, 2, NOW, NOW), 4, total=3, done=3)
    result.by_position = {1: replay(8, other), 0: replay(9, None), 2: replay(7, other, is_exact=False)}
    counts = "Front desk with version 4: 1 the same, 1 different"
    result.skipped = Counter({("text_chat", "This run was a text chat."): 2})
    assert list(period_lines(result)) == [
        "run        turn  step                          time  first difference",
        "9                                                    same",
        "8          2     Ask                        4.120 s  agent_said",
        "           expected: text: Hello.",
        "           came:     text: Good day.",
        "7          2     Ask                        4.120 s  agent_said (with its own version)",
        "           expected: text: Hello.",
        "           came:     text: Good day.",
        "",
        "First difference",
        "     1  agent_said",
        "",
        "Step of the first difference",
        "     1  Ask",
        "",
        "Not replayed",
        "     2  This run was a text chat.",
        "",
        f"{counts}, 1 different with the version that they were held with, 2 not replayed.",
    ]
    plain = json.loads(json.dumps(result.as_json()))
    assert (plain["total"], plain["same"], plain["different"], plain["inexact"]) == (3, 1, 1, 1)
    assert plain["by_step"] == [{"node_id": "ask", "node": "Ask", "runs": 1}]
    assert plain["not_replayed"] == [{"code": "text_chat", "message": "This run was a text chat.", "runs": 2}]
    assert [run["run_id"] for run in plain["runs"]] == [9, 8, 7]
    result.total = 5
    assert list(period_lines(result))[-1].endswith("2 not replayed. Stopped after 3 of 5 runs.")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["Nobody", "--since", "7d"], "offhook: No agent is named 'Nobody'. Use its id."),
        (["1", "--since", "7d", "--org", "Nowhere"], "offhook: No organization is named 'Nowhere'."),
        (["1", "--since", "soon"], "--since takes a duration"),
        (["1", "--limit", "3"], "--until and --limit need --since"),
        (["Front desk"], "is not the number of a run"),
    ],
)
def test_what_cannot_be_replayed_is_one_sentence(shared: Offhook, arguments: list[str], sentence: str) -> None:
    done = shared.run("replay", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in " ".join(done.stderr.replace("│", " ").split())
