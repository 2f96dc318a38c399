"""Plays of scenarios as jobs, and the publish gate that asks for them."""

import asyncio
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from httpx2 import AsyncClient

from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.root import Root
from offhook.scenarios import run_suite
from offhook.scenarios.files import parse_scenarios
from offhook.scenarios.gate.verdict import GatePolicy
from offhook.scenarios.plays.content import read_policy
from offhook.scenarios.plays.orders import PlayOrder, hash_content
from offhook.scenarios.plays.program import play_order
from offhook.scenarios.plays.service import MAX_OPEN_PLAYS, PLAY_JOB
from offhook.scenarios.plays.tasks import ScenarioPlayJob
from offhook.scenarios.services import ScenarioServices
from offhook.scenarios.sound.player import SoundPlayer
from tests.fixtures_orgs import OrgFixture
from tests.scenarios.agents import DEFINITION, LOOKUP, agent
from tests.scenarios.test_stored import GREETS, PRESSES
from tests.workflows.conftest import Editor, editor, other_editor, viewer

__all__ = ["editor", "other_editor", "viewer"]

WRONG: dict[str, Any] = {"name": "wrong", "caller": {"turns": ["sales please", "london"]}, "expect": {"end": "support"}}
SPIN = "import resource,sys; resource.setrlimit(resource.RLIMIT_CPU,(1,2)); sys.stdin.read()\nwhile True: pass"
WAIT = "import sys,time; sys.stdin.read(); time.sleep(600)"
DIE = "import sys; sys.stdin.read(); sys.exit(3)"


@pytest.fixture
async def workflow_id(editor: Editor) -> int:
    """Published, with a draft that has scenarios."""
    made = await editor.create_published(DEFINITION, "Shop")
    await keep(editor, made, GREETS, PRESSES)
    return made


async def keep(editor: Editor, workflow_id: int, *scenarios: dict[str, Any]) -> None:
    answer = await editor.put(f"/workflow/{workflow_id}/scenarios", json={"scenarios": list(scenarios)})
    assert answer.status_code == 200, answer.text


async def order(editor: Editor, workflow_id: int, **body: Any) -> dict[str, Any]:
    answer = await editor.post(f"/workflow/{workflow_id}/scenario-plays", json=body)
    assert answer.status_code == 200, answer.text
    ordered: dict[str, Any] = answer.json()
    return ordered


async def read(editor: Editor, workflow_id: int, play_id: int, more: str = "") -> Any:
    answer = await editor.get(f"/workflow/{workflow_id}/scenario-plays/{play_id}{more}")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def run(root: Root, org: OrgFixture, play_id: int) -> None:
    assert PLAY_JOB in root.jobs.handlers
    await ScenarioPlayJob(root.db, root.get(ScenarioServices).recordings, None).run_play(
        {"organization_id": org.id, "play_id": play_id}
    )


async def run_with(root: Root, org: OrgFixture, play_id: int, program: str) -> None:
    job = ScenarioPlayJob(root.db, root.get(ScenarioServices).recordings, None, (sys.executable, "-c", program))
    await job.run_play({"organization_id": org.id, "play_id": play_id})


class TestPlays:
    async def test_says_what_was_played_and_what_came_of_it(
        self, root: Root, org: OrgFixture, editor: Editor, workflow_id: int
    ) -> None:
        await keep(editor, workflow_id, GREETS, WRONG)
        ordered = await order(editor, workflow_id)
        assert (ordered["state"], ordered["total"], ordered["version_number"]) == ("queued", 2, 2)
        await run(root, org, ordered["id"])
        play = await read(editor, workflow_id, ordered["id"])
        assert (play["state"], play["done"], play["passed"], play["failed"]) == ("failed", 2, 1, 1)
        assert [reason["code"] for reason in play["verdict"]["reasons"]] == ["scenario_failed"]
        assert play["verdict"]["coverage"]["edges"]["taken"] == ["start-sales"]
        # the same seed gives the same hash in every process
        suite = await asyncio.to_thread(run_suite, agent(), parse_scenarios([GREETS, WRONG]), BuiltinLlm)
        assert play["result_hash"] == suite.hash
        passed, failed = await read(editor, workflow_id, ordered["id"], "/results")
        assert (passed["passed"], passed["hash"]) == (True, suite.results[0].hash)
        assert failed["faults"][0]["code"] == "end_differs"
        assert [turn["caller"] for turn in failed["transcript"]] == [None, "sales please", "london"]
        assert failed["edges"] == ["start-sales", "sales-bye"]
        events = (await editor.get("/events")).json()["events"]
        (event,) = [event for event in events if event["type"] == "scenarios.played"]
        assert event["data"] | {"hash": None} == {
            "play_id": play["id"],
            "workflow_id": workflow_id,
            "version_number": 2,
            "state": "failed",
            "total": 2,
            "passed": 1,
            "hash": None,
        }
        # a job that is run again after its end changes nothing
        await run(root, org, ordered["id"])
        assert await read(editor, workflow_id, ordered["id"]) == play

    @pytest.mark.slow
    async def test_with_sound_a_play_says_what_was_heard(
        self, root: Root, org: OrgFixture, editor: Editor, workflow_id: int, tmp_path: Path
    ) -> None:
        await keep(editor, workflow_id, GREETS, WRONG)
        ordered = await order(editor, workflow_id, mode="sound")
        await run(root, org, ordered["id"])
        play = await read(editor, workflow_id, ordered["id"])
        assert (play["state"], play["mode"], play["passed"], play["verdict"]) == ("failed", "sound", 1, None)
        with closing(SoundPlayer(tmp_path)) as player:
            scenarios = parse_scenarios([GREETS, WRONG])
            suite = await asyncio.to_thread(run_suite, agent(), scenarios, BuiltinLlm, play=player.play_call)
        assert play["result_hash"] == suite.hash
        results = await read(editor, workflow_id, ordered["id"], "/results")
        assert [result["sound"] for result in results] == [result.as_json()["sound"] for result in suite.results]
        assert len(results[1]["sound"]["began_at_s"]) == len(results[1]["transcript"])

    async def test_text_is_what_is_played_by_default(self, editor: Editor, workflow_id: int) -> None:
        assert (await order(editor, workflow_id))["mode"] == "text"
        answer = await editor.post(f"/workflow/{workflow_id}/scenario-plays", json={"mode": "film"})
        assert answer.status_code == 422

    @pytest.mark.slow
    async def test_a_machine_without_voices_says_so(
        self, root: Root, org: OrgFixture, editor: Editor, workflow_id: int
    ) -> None:
        program = 'import sys; sys.stdin.read(); print(\'{"error": "There is no voice."}\'); sys.exit(1)'
        play = await order(editor, workflow_id, mode="sound")
        await run_with(root, org, play["id"], program)
        ended = await read(editor, workflow_id, play["id"])
        assert (ended["state"], ended["error"]) == ("broken", "There is no voice.")

    @pytest.mark.slow
    async def test_the_last_result_of_each_scenario_is_known(
        self, root: Root, org: OrgFixture, client: AsyncClient, editor: Editor, other_editor: Editor, workflow_id: int
    ) -> None:
        path = f"/workflow/{workflow_id}/scenario-results"
        assert (await editor.get(path)).json() == []
        await keep(editor, workflow_id, GREETS, WRONG)
        first = await order(editor, workflow_id)
        await run(root, org, first["id"])
        second = await order(editor, workflow_id, scenarios=["greets"], seeds=[1, 2])
        await run(root, org, second["id"])
        greets, wrong = (await editor.get(path)).json()
        assert (greets["name"], greets["passed"], greets["play_id"], greets["fault"]) == (
            "greets",
            True,
            second["id"],
            None,
        )
        assert (wrong["version_number"], wrong["play_id"], wrong["fault"]["code"]) == (2, first["id"], "end_differs")
        assert (await client.get(path)).status_code == 401
        assert (await other_editor.get(path)).json()["code"] == "workflow_not_found"
        assert (await editor.get(f"{path}?versions=21")).status_code == 422

    async def test_some_scenarios_give_no_verdict(self, editor: Editor, workflow_id: int) -> None:
        play = await order(editor, workflow_id, scenarios=["greets"], seeds=[2, 1, 2])
        assert (play["scenarios"], play["seeds"], play["total"]) == (["greets"], [1, 2], 2)

    @pytest.mark.parametrize(("program", "state"), [(SPIN, "out_of_budget"), (DIE, "broken")])
    @pytest.mark.slow
    async def test_a_process_that_does_not_get_to_the_end(
        self, root: Root, org: OrgFixture, editor: Editor, workflow_id: int, program: str, state: str
    ) -> None:
        play = await order(editor, workflow_id, cpu_budget_s=1)
        await run_with(root, org, play["id"], program)
        ended = await read(editor, workflow_id, play["id"])
        assert (ended["state"], ended["verdict"], bool(ended["error"])) == (state, None, True)

    async def test_a_canceled_play_ends_its_process(
        self, root: Root, org: OrgFixture, editor: Editor, workflow_id: int
    ) -> None:
        play = await order(editor, workflow_id)
        job = asyncio.create_task(run_with(root, org, play["id"], WAIT))
        while (await read(editor, workflow_id, play["id"]))["state"] != "running":
            await asyncio.sleep(0.02)
        cancel = f"/workflow/{workflow_id}/scenario-plays/{play['id']}/cancel"
        assert (await editor.post(cancel)).json()["state"] == "canceled"
        async with asyncio.timeout(60):
            await job
        assert (await read(editor, workflow_id, play["id"]))["state"] == "canceled"
        assert (await editor.post(cancel)).status_code == 200  # twice is no mistake

    async def test_what_cannot_be_played_is_refused(
        self, client: AsyncClient, editor: Editor, other_editor: Editor, viewer: Editor, workflow_id: int
    ) -> None:
        path = f"/workflow/{workflow_id}/scenario-plays"
        assert (await client.post(path, json={})).status_code == 401
        assert (await other_editor.post(path, json={})).status_code == 404
        assert (await viewer.post(path, json={})).status_code == 403
        assert (await editor.post(path, json={"scenarios": ["nobody"]})).json()["code"] == "scenario_not_found"
        assert (await editor.post(path, json={"version": 1})).json()["code"] == "no_scenarios"
        assert (await editor.post(path, json={"version": 9})).json()["code"] == "workflow_version_not_found"
        refused: list[dict[str, Any]] = [{"seeds": []}, {"seeds": [-1]}, {"seeds": [0] * 21}, {"cpu_budget_s": 601}]
        for bad in refused:
            assert (await editor.post(path, json=bad)).status_code == 422
        for _ in range(MAX_OPEN_PLAYS):
            await order(editor, workflow_id)
        assert (await editor.post(path, json={})).json()["code"] == "too_many_plays"
        listed = await viewer.get(path, params={"limit": 2})
        assert (len(listed.json()), listed.headers["X-Total-Count"]) == (2, str(MAX_OPEN_PLAYS))


def test_an_order_is_the_same_on_the_other_side() -> None:
    whole = agent(tools=[LOOKUP], documents={"d": "text"}, variables={"a": 1}, configurations={"max_call_duration": 60})
    sent = PlayOrder(whole, parse_scenarios([GREETS]), (1, 2), agent(), GatePolicy(min_edge_coverage=5))
    assert PlayOrder.from_json(sent.as_json()).as_json() == sent.as_json()


def test_every_seed_is_judged() -> None:
    unsteady = GREETS | {
        "caller": {"rules": [{"at": "start", "one_of": ["sales please", "support please"], "times": 1}]}
    }
    results = {}
    for seeds in ((0, 1, 2, 3, 4, 5), (0,), (1,), (2,), (3,)):
        *lines, end = play_order(PlayOrder(agent(), parse_scenarios([unsteady]), seeds, None, GatePolicy()), BuiltinLlm)
        results[seeds] = ([line["result"]["passed"] for line in lines], end["verdict"]["passed"])  # type: ignore[index,call-overload]
    passed, has_passed = results[0, 1, 2, 3, 4, 5]
    assert len(set(passed)) == 2  # both happen
    assert has_passed is False
    assert all(results[(seed,)] == ([passed[seed]], passed[seed]) for seed in range(4))


def test_the_hash_names_everything_that_a_verdict_rests_on() -> None:
    scenarios, policy = parse_scenarios([GREETS]), GatePolicy()
    same = hash_content(agent(), scenarios, None, policy)
    assert same == hash_content(agent(), scenarios, None, GatePolicy())
    others = {
        hash_content(agent(variables={"a": 1}), scenarios, None, policy),
        hash_content(agent(tools=[LOOKUP]), scenarios, None, policy),
        hash_content(agent(documents={"d": "t"}), scenarios, None, policy),
        hash_content(agent(), parse_scenarios([PRESSES]), None, policy),
        hash_content(agent(), scenarios, agent(), policy),
        hash_content(agent(), scenarios, None, GatePolicy(coverage_stays=False)),
        hash_content(agent(), scenarios, None, GatePolicy(with_sound=True)),
    }
    assert len(others) == 7
    # what is demanded by default is the same demand when it is written down
    assert hash_content(agent(), scenarios, None, read_policy({"is_required": True, "min_edge_coverage": 0})) == same
    assert same not in others


class TestPublishGate:
    async def demand(self, client: AsyncClient, org: OrgFixture, workflow_id: int, **demands: Any) -> Any:
        path = f"/workflow/{workflow_id}/publish-gate"
        answer = await client.put(path, json={"is_required": True, **demands}, headers=org.owner_headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def publish(self, client: AsyncClient, org: OrgFixture, workflow_id: int, role: str, **body: Any) -> Any:
        return await client.post(f"/workflow/{workflow_id}/publish", json=body, headers=org.headers_for(role))

    async def test_without_demands_a_draft_is_published(self, editor: Editor, workflow_id: int) -> None:
        gate = (await editor.get(f"/workflow/{workflow_id}/publish-gate")).json()
        assert (gate["is_required"], gate["may_publish"], gate["play"]) == (False, True, None)
        assert (await editor.publish(workflow_id)).status_code == 200
        gate = (await editor.get(f"/workflow/{workflow_id}/publish-gate")).json()
        assert (gate["may_publish"], gate["draft_hash"]) == (False, None)

    @pytest.mark.slow
    async def test_only_a_passing_verdict_about_exactly_this_draft_opens_it(
        self, root: Root, client: AsyncClient, org: OrgFixture, editor: Editor, workflow_id: int
    ) -> None:
        await keep(editor, workflow_id, GREETS, WRONG)
        asked = await self.demand(client, org, workflow_id)
        refused = await self.publish(client, org, workflow_id, "owner")
        assert (refused.status_code, refused.json()["code"]) == (409, "publish_not_tested")
        assert refused.json()["detail"]["hash"] == asked["draft_hash"]

        play = await order(editor, workflow_id)
        await run(root, org, play["id"])
        refused = await self.publish(client, org, workflow_id, "owner")
        assert (refused.status_code, refused.json()["code"]) == (409, "publish_gate_failed")
        assert refused.json()["detail"]["play_id"] == play["id"]
        assert [reason["scenario"] for reason in refused.json()["detail"]["reasons"]] == ["wrong"]

        # what fell is mended: another draft, which nobody has tried
        await keep(editor, workflow_id, GREETS)
        assert (await self.publish(client, org, workflow_id, "owner")).json()["code"] == "publish_not_tested"
        play = await order(editor, workflow_id)
        await run(root, org, play["id"])
        gate = (await editor.get(f"/workflow/{workflow_id}/publish-gate")).json()
        assert (gate["may_publish"], gate["play"]["content_hash"]) == (True, gate["draft_hash"])
        # what is demanded now was not looked at then
        await self.demand(client, org, workflow_id, min_edge_coverage=90)
        assert (await self.publish(client, org, workflow_id, "owner")).json()["code"] == "publish_not_tested"
        await self.demand(client, org, workflow_id)
        assert (await self.publish(client, org, workflow_id, "member")).status_code == 200

    async def test_an_admin_may_override_it_with_a_reason_that_is_recorded(
        self, client: AsyncClient, org: OrgFixture, workflow_id: int
    ) -> None:
        draft_hash = (await self.demand(client, org, workflow_id))["draft_hash"]
        refused = await self.publish(client, org, workflow_id, "member", gate_override="It burns.")
        assert (refused.status_code, refused.json()["code"]) == (403, "gate_override_forbidden")
        assert (await self.publish(client, org, workflow_id, "admin", gate_override=" ")).status_code == 422
        published = await self.publish(client, org, workflow_id, "admin", gate_override="It burns.", note="Fix")
        assert published.status_code == 200, published.text
        log = await client.get("/organizations/audit-log", headers=org.owner_headers)
        (entry,) = [entry for entry in log.json()["entries"] if entry["action"] == "workflow.gate_overridden"]
        assert entry["data"] == {"reason": "It burns.", "hash": draft_hash, "play": None, "fell": []}

    async def test_who_may_see_and_change_it(
        self, client: AsyncClient, org: OrgFixture, other_editor: Editor, viewer: Editor, workflow_id: int
    ) -> None:
        path = f"/workflow/{workflow_id}/publish-gate"
        assert (await client.get(path)).status_code == 401
        assert (await client.put(path, json={})).status_code == 401
        assert (await other_editor.get(path)).status_code == 404
        assert (await viewer.get(path)).status_code == 200
        assert (await client.put(path, json={}, headers=org.headers_for("member"))).status_code == 403
        bad = {"is_required": True, "min_edge_coverage": 101}
        assert (await client.put(path, json=bad, headers=org.owner_headers)).status_code == 422
