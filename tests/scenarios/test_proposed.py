"""Scenarios that are proposed over HTTP, for what an agent's own ones do not take."""

import asyncio
import sys
from typing import Any

import pytest
from httpx2 import AsyncClient

from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.root import Root
from offhook.scenarios.errors import ProposalsFailed, TooManyProposals
from offhook.scenarios.plays.orders import PlayOrder
from offhook.scenarios.proposals import service as proposals
from offhook.scenarios.proposals.program import propose_lines
from offhook.scenarios.proposals.service import ScenarioProposalService
from tests.fixtures_orgs import OrgFixture
from tests.scenarios.agents import DEFINITION, agent
from tests.scenarios.test_coverage import SUPPORT, add_result
from tests.scenarios.test_plays import keep, order
from tests.scenarios.test_stored import GREETS
from tests.workflows.conftest import Editor, editor, other_editor, viewer
from tests.workflows.definitions import simple

__all__ = ["editor", "other_editor", "viewer"]

ONE = '{"scenario": {"name": "one"}, "covers": ["start-sales"]}'
FIRST_AND_LATE = (
    f"import os,signal,sys; sys.stdin.read(); print({ONE!r}, flush=True); os.kill(os.getpid(), signal.SIGXCPU)"
)
WAIT = "import sys,time; sys.stdin.read(); time.sleep(600)"
FIRST_AND_DEAD = f"import sys; sys.stdin.read(); print({ONE!r}); sys.exit(3)"
DEAD = "import sys; sys.stdin.read(); sys.exit(3)"


@pytest.fixture
async def workflow_id(editor: Editor) -> int:
    """A draft with one scenario."""
    made = int((await editor.create(DEFINITION, "Shop"))["id"])
    await keep(editor, made, GREETS)
    return made


def service(root: Root, program: str, **more: Any) -> ScenarioProposalService:
    return ScenarioProposalService(root.db, None, (sys.executable, "-c", program), **more)


def test_the_program_proposes_what_is_not_covered() -> None:
    lines: list[Any] = list(propose_lines(PlayOrder(agent(), (), ()), ["start-support"], ["start-sales"], BuiltinLlm))
    assert [line.get("covers") for line in lines] == [["start-sales", "sales-bye"], [], None]
    assert [line.get("keys") for line in lines] == [[], ["start-support"], None]
    assert (lines[0]["scenario"]["name"], lines[0]["scenario"]["title"]) == ("takes-sales", "Takes “sales”")


@pytest.mark.slow
async def test_proposals_fill_the_gaps_and_nothing_is_stored(
    root: Root, org: OrgFixture, editor: Editor, workflow_id: int
) -> None:
    play = (await order(editor, workflow_id))["id"]
    await add_result(root, org, play, GREETS["name"], SUPPORT, keyed_edges=["start-support"])
    before = (await editor.get(f"/workflow/{workflow_id}/scenarios")).json()
    answer = await editor.post(f"/workflow/{workflow_id}/scenario-proposals")
    assert answer.status_code == 200, answer.text
    proposed = answer.json()
    assert (proposed["version_number"], proposed["is_complete"], proposed["missed"]) == (1, True, [])
    words, keys = proposed["proposals"]
    assert (words["covers"], words["keys"]) == (["start-sales", "sales-bye"], [])
    assert (keys["covers"], keys["keys"]) == ([], ["start-sales"])
    assert (await editor.get(f"/workflow/{workflow_id}/scenarios")).json() == before
    # what is proposed can be stored as it is
    stored = await editor.put(f"/workflow/{workflow_id}/scenarios", json={"scenarios": [GREETS, keys["scenario"]]})
    assert stored.json()["scenarios"][1] == keys["scenario"]


async def test_what_came_before_the_time_was_up_is_kept(root: Root, org: OrgFixture, workflow_id: int) -> None:
    found = await service(root, FIRST_AND_LATE).propose(org.id, workflow_id)
    assert (len(found.proposals), found.missed, found.is_complete) == (1, ["start-support", "sales-bye"], False)
    nothing = await service(root, WAIT, timeout_s=0.01).propose(org.id, workflow_id)
    assert (nothing.proposals, nothing.is_complete) == ([], False)


async def test_an_organization_asks_once_at_a_time(root: Root, org: OrgFixture, workflow_id: int) -> None:
    waiting = service(root, WAIT)
    first = asyncio.create_task(waiting.propose(org.id, workflow_id))
    await asyncio.sleep(0)
    with pytest.raises(TooManyProposals):
        await waiting.propose(org.id, workflow_id)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_two_organizations_do_not_lock_a_third_out(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    first_are_done, done = asyncio.Event(), list[int]()

    async def write_order(_: Any, organization_id: int, __: int) -> Any:
        if organization_id < 3:
            await first_are_done.wait()
        done.append(organization_id)
        raise ProposalsFailed

    monkeypatch.setattr(proposals, "_write_order", write_order)
    asked = service(root, DEAD)
    tasks = [asyncio.create_task(asked.propose(organization_id, 1)) for organization_id in (1, 2, 3)]
    await asyncio.sleep(0.05)
    first_are_done.set()
    answers = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(answer) for answer in answers] == [ProposalsFailed] * 3
    assert sorted(done) == [1, 2, 3]


async def test_a_program_that_dies_is_no_error_of_ours(root: Root, org: OrgFixture, workflow_id: int) -> None:
    found = await service(root, FIRST_AND_DEAD).propose(org.id, workflow_id)
    assert (len(found.proposals), found.is_complete) == (1, False)
    dead = service(root, DEAD)
    for _ in range(2):  # the place is free again
        with pytest.raises(ProposalsFailed):
            await dead.propose(org.id, workflow_id)


async def test_refuses_others(
    client: AsyncClient, editor: Editor, other_editor: Editor, viewer: Editor, workflow_id: int
) -> None:
    path = f"/workflow/{workflow_id}/scenario-proposals"
    assert (await client.post(path)).status_code == 401
    assert (await viewer.post(path)).status_code == 403
    assert (await other_editor.post(path)).json()["code"] == "workflow_not_found"
    assert (await editor.post("/workflow/x/scenario-proposals")).status_code == 422
    no_start = simple()
    no_start["nodes"] = [node for node in no_start["nodes"] if node["type"] != "startCall"]
    without_start = (await editor.create(no_start, "Nothing"))["id"]
    answer = await editor.post(f"/workflow/{without_start}/scenario-proposals")
    assert (answer.status_code, answer.json()["code"]) == (422, "agent_not_testable")
