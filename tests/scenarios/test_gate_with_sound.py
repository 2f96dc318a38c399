"""The publish gate over plays with sound: answers stay as quick, and callers are not talked over."""

import copy
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from httpx2 import AsyncClient

from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.root import Root
from offhook.scenarios.gate.report import verdict_lines
from offhook.scenarios.gate.verdict import GatePolicy, GateSide, examine_version, judge_draft
from offhook.scenarios.sound.player import SoundPlayer
from tests.fixtures_orgs import OrgFixture
from tests.scenarios.agents import DEFINITION, agent, scenario
from tests.scenarios.test_plays import keep, order, read, run
from tests.workflows.conftest import Editor, editor

__all__ = ["editor"]

BUYS: dict[str, Any] = {"name": "buys", "caller": {"turns": ["sales please", "london"]}, "expect": {"end": "bye"}}
SLOW: dict[str, Any] = {"turn_stop_strategy": "silence", "turn_stop_silence_secs": 3}
# answers every pause, and does not notice that the caller goes on
RASH: dict[str, Any] = {
    "turn_stop_strategy": "silence",
    "turn_stop_silence_secs": 0.2,
    "turn_start_strategy": "never",
    "vad_configuration": {"stop_seconds": 0.1},
}
# pauses after a filler, in the middle of what is said
HESITATES: dict[str, Any] = {
    "name": "hesitates",
    "caller": {
        "turns": ["I would like, hmm, sales please, because I want a chair and a large table.", "london"],
        "manner": {"hesitates": 1.0},
    },
    "expect": {"end": "bye"},
}
DEMANDS = GatePolicy(with_sound=True)


@pytest.fixture(scope="module")
def player(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SoundPlayer]:
    with closing(SoundPlayer(tmp_path_factory.mktemp("recordings"))) as made:
        yield made


def examine(
    player: SoundPlayer, definition: dict[str, Any] | None = None, caller: dict[str, Any] = BUYS, **configurations: Any
) -> GateSide:
    shop = agent(definition, configurations=configurations)
    return examine_version(shop, [scenario(**caller)], BuiltinLlm, play=player.play_call)


def test_other_words_at_the_same_pace_pass(player: SoundPlayer) -> None:
    reworded = copy.deepcopy(DEFINITION)
    reworded["nodes"][1]["data"]["offline_say"] = "And which town would you like us to deliver to?"
    verdict = judge_draft(examine(player, reworded), examine(player), DEMANDS)
    assert verdict.reasons == ()
    heard = verdict.as_json()
    assert heard["sound"]["answers"] == heard["published_sound"]["answers"] > 0  # type: ignore[index,call-overload,operator]


def test_slower_answers_are_a_reason(player: SoundPlayer) -> None:
    verdict = judge_draft(examine(player, **SLOW), examine(player), DEMANDS)
    [reason] = [reason for reason in verdict.reasons if reason.code == "answer_time_lost"]
    assert "in the published version" in reason.message
    assert judge_draft(examine(player), examine(player, **SLOW), DEMANDS).has_passed
    lenient = GatePolicy(with_sound=True, answer_time_stays=False)
    assert judge_draft(examine(player, **SLOW), examine(player), lenient).has_passed


def test_talking_over_a_caller_who_pauses_is_a_reason(player: SoundPlayer) -> None:
    published, rash = (examine(player, caller=HESITATES, **settings) for settings in ({}, RASH))
    verdict = judge_draft(rash, published, DEMANDS)
    heard = verdict.as_json()
    assert heard["sound"]["talk_overs"] > heard["published_sound"]["talk_overs"] == 0  # type: ignore[index,call-overload,operator]
    assert [(reason.code, reason.scenario) for reason in verdict.reasons] == [("talks_over_callers", "hesitates")]
    assert "talked over the caller" in "\n".join(verdict_lines(verdict))
    assert judge_draft(rash, published, GatePolicy(with_sound=True, talk_overs_stay=False)).has_passed
    assert judge_draft(published, rash, DEMANDS).has_passed
    # by itself, the scenario holds: only the comparison tells
    assert (rash.suite.failed, published.suite.failed) == (0, 0)


@pytest.mark.slow
async def test_only_a_play_with_sound_opens_a_gate_that_demands_it(
    root: Root, client: AsyncClient, org: OrgFixture, editor: Editor
) -> None:
    shop = await editor.create_published(DEFINITION, "Shop")
    await keep(editor, shop, BUYS)
    gate = f"/workflow/{shop}/publish-gate"
    demanded = await client.put(gate, json={"is_required": True, "with_sound": True}, headers=org.owner_headers)
    assert demanded.json()["with_sound"] is True

    by_text = await order(editor, shop)
    await run(root, org, by_text["id"])
    assert (await read(editor, shop, by_text["id"]))["verdict"] is None
    assert (await editor.publish(shop)).json()["code"] == "publish_not_tested"
    aloud = await order(editor, shop, mode="sound")
    await run(root, org, aloud["id"])
    verdict = (await read(editor, shop, aloud["id"]))["verdict"]
    assert (verdict["passed"], verdict["sound"]) == (True, verdict["published_sound"])
    assert verdict["sound"].keys() == {"answers", "mean_answer_ms", "max_answer_ms", "talk_overs"}

    changed = await editor.put(f"/workflow/{shop}", json={"workflow_configurations": SLOW})
    assert changed.status_code == 200, changed.text
    slower = await order(editor, shop, mode="sound")
    await run(root, org, slower["id"])
    refused = await editor.publish(shop)
    assert (refused.status_code, refused.json()["code"]) == (409, "publish_gate_failed")
    assert [reason["code"] for reason in refused.json()["detail"]["reasons"]] == ["answer_time_lost"]
    override = {"gate_override": "It is late."}
    published = await client.post(f"/workflow/{shop}/publish", json=override, headers=org.headers_for("admin"))
    assert published.status_code == 200, published.text
    log = (await client.get("/organizations/audit-log", headers=org.owner_headers)).json()["entries"]
    [entry] = [entry for entry in log if entry["action"] == "workflow.gate_overridden"]
    assert (entry["data"]["play"], entry["data"]["fell"]) == (slower["id"], ["answer_time_lost"])
