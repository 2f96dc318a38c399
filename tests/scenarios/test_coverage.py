"""Which nodes, edges, conditions and tools of an agent its scenarios took, and which its telephone calls."""

import copy
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from httpx2 import AsyncClient

from offhook.kit.crypto import Keyring
from offhook.orgs.data_keys.keys import DataKeys
from offhook.orgs.data_keys.word_keys import WordKeys, provide_word_keys
from offhook.root import Root
from offhook.runs import service as runs
from offhook.runs.artifacts.links import BROWSER
from offhook.runs.records.event_queries import NewEvent, append_events
from offhook.runs.records.storable_json import encode_event_data
from offhook.runs.states import TEXT_CHAT
from offhook.runs.tables import Run
from offhook.scenarios.coverage import service
from offhook.scenarios.plays import repository
from tests.fixtures_orgs import OrgFixture
from tests.scenarios.agents import DEFINITION
from tests.scenarios.test_plays import keep, order
from tests.scenarios.test_stored import GREETS, PRESSES
from tests.workflows.conftest import Editor, editor, other_editor, viewer

__all__ = ["editor", "other_editor", "viewer"]

SALES = (["start", "sales", "bye"], ["start-sales", "sales-bye"])
SUPPORT = (["start", "support"], ["start-support"])
NOTHING = {"start": 0, "sales": 0, "support": 0, "bye": 0}
NO_CONDITION = {
    "start-sales/words": 0,
    "start-sales/key": 0,
    "start-support/words": 0,
    "start-support/key": 0,
    "sales-bye/words": 0,
}
LOOKUP, CALCULATOR = "demo_order_status", "calculator"


@pytest.fixture
async def workflow_id(editor: Editor) -> int:
    """Published, with a draft that has scenarios."""
    made = await editor.create_published(DEFINITION, "Shop")
    await keep(editor, made, GREETS, PRESSES)
    return made


async def add_result(
    root: Root, org: OrgFixture, play_id: int, name: str, path: tuple[list[str], list[str]], **more: Any
) -> None:
    nodes, edges = path
    outcome: dict[str, Any] = {"nodes": nodes, "edges": edges, "end": nodes[-1], "outcome": None, "duration_s": 1.0}
    outcome |= {key: more.pop(key) for key in ("keyed_edges", "tools", "failed_tools") if key in more}
    row = {"name": name, "title": name, "seed": 0, "has_passed": True, "hash": "0" * 64, "faults": [], "turns": []}
    row |= {"outcome": outcome}
    async with root.db.transaction() as session:
        await repository.add_results(session, org.id, play_id, [row | more])


async def hold_call(
    root: Root, org: OrgFixture, workflow_id: int, path: tuple[list[str], list[str]], **values: Any
) -> None:
    """Stores a call that took this path, some of its edges by key (``keyed``), with answers of tools by name
    (``answered``, ``failed``); other ``values`` are set on its row afterwards."""
    nodes, edges = path
    now = datetime.now(UTC)
    mode, use_draft = values.pop("mode", "sandbox"), values.pop("use_draft", False)
    keyed = values.pop("keyed", ())
    answers = [(name, True) for name in values.pop("answered", ())]
    answers += [(name, False) for name in values.pop("failed", ())]
    async with root.db.transaction() as session:
        run = await runs.create_run(
            session,
            organization_id=org.id,
            workflow_id=workflow_id,
            mode=mode,
            direction="inbound",
            use_draft=use_draft,
        )
        went: list[tuple[str, dict[str, Any]]] = [("node_entered", {"node_id": node, "name": node}) for node in nodes]
        went += [
            ("edge_taken", {"edge_id": edge, "label": edge, "by": "dtmf" if edge in keyed else "model"})
            for edge in edges
        ]
        went += [("tool_answered", {"id": "1", "name": name, "ok": ok}) for name, ok in answers]
        went += [("agent_said", {"text": "start", "node_id": "start"})]
        events = [
            NewEvent(run.id, kind, at, encode_event_data(data), now + timedelta(microseconds=at))
            for at, (kind, data) in enumerate(went)
        ]
        await append_events(session, events)
        row = await session.get_one(Run, run.id)
        for name, value in ({"duration": 9, "created_at": now} | values).items():
            setattr(row, name, value)


def conditions(answer: dict[str, Any]) -> dict[str, int]:
    return {f"{part['edge_id']}/{part['condition']}": part["count"] for part in answer["conditions"]}


def tools(answer: dict[str, Any]) -> dict[str, tuple[int, int]]:
    return {part["name"]: (part["count"], part["failed_count"]) for part in answer["tools"]}


def counts(answer: dict[str, Any], parts: str) -> dict[str, int]:
    return {part["id"]: part["count"] for part in answer[parts]}


@pytest.fixture
async def with_tools(editor: Editor) -> int:
    """The same agent with two tools that need no set-up, published and with scenarios in its draft."""
    raw: dict[str, Any] = copy.deepcopy(DEFINITION)
    raw["nodes"][1]["data"]["tool_uuids"] = [LOOKUP, CALCULATOR]
    made = await editor.create_published(raw, "Shop with tools")
    await keep(editor, made, GREETS, PRESSES)
    return made


class TestScenarios:
    async def test_nothing_was_played(self, viewer: Editor, workflow_id: int) -> None:
        answer = (await viewer.get(f"/workflow/{workflow_id}/scenario-coverage")).json()
        assert counts(answer, "nodes") == NOTHING
        assert counts(answer, "edges") == {"start-sales": 0, "start-support": 0, "sales-bye": 0}
        assert (answer["version_number"], answer["version_status"], answer["last_played_at"]) == (2, "draft", None)
        assert (answer["total"], answer["played"], answer["passed"]) == (2, 0, 0)

    async def test_the_last_results_that_passed_count(
        self, root: Root, org: OrgFixture, editor: Editor, workflow_id: int
    ) -> None:
        path = f"/workflow/{workflow_id}/scenario-coverage"
        greets, presses = GREETS["name"], PRESSES["name"]
        first = (await order(editor, workflow_id))["id"]
        await add_result(root, org, first, greets, SUPPORT)
        await add_result(root, org, first, presses, SALES)
        await add_result(root, org, first, "deleted-since", SUPPORT)
        # a scenario that passes with one seed of several does not pass
        await add_result(root, org, first, presses, SALES, seed=1, has_passed=False)
        second = (await order(editor, workflow_id))["id"]
        await add_result(root, org, second, greets, (["start", "sales", "start"], ["start-sales", "start-sales"]))
        answer = (await editor.get(path)).json()
        assert (answer["total"], answer["played"], answer["passed"]) == (2, 2, 1)
        assert counts(answer, "nodes") == NOTHING | {"start": 1, "sales": 1}
        assert counts(answer, "edges") == {"start-sales": 1, "start-support": 0, "sales-bye": 0}
        assert answer["last_played_at"] is not None
        published = (await editor.get(f"{path}?version=1")).json()
        assert (published["version_status"], published["total"], counts(published, "nodes")) == (
            "published",
            0,
            NOTHING,
        )

    async def test_words_and_keys_tools_and_their_failures_are_counted(
        self, root: Root, org: OrgFixture, editor: Editor, with_tools: int
    ) -> None:
        path = f"/workflow/{with_tools}/scenario-coverage"
        nothing = (await editor.get(path)).json()
        assert (conditions(nothing), tools(nothing)) == (NO_CONDITION, {LOOKUP: (0, 0), CALCULATOR: (0, 0)})
        play = (await order(editor, with_tools))["id"]
        # a result of an older server
        await add_result(root, org, play, GREETS["name"], SUPPORT)
        both_ways = (["start", "sales", "start", "sales"], ["start-sales", "start-sales", "sales-bye"])
        found = {"keyed_edges": ["start-sales"], "tools": [LOOKUP], "failed_tools": [LOOKUP]}
        await add_result(root, org, play, PRESSES["name"], both_ways, **found)
        answer = (await editor.get(path)).json()
        taken = {"start-sales/words": 1, "start-sales/key": 1, "start-support/words": 1, "sales-bye/words": 1}
        assert conditions(answer) == NO_CONDITION | taken
        assert tools(answer) == {LOOKUP: (1, 1), CALCULATOR: (0, 0)}

    async def test_refuses_others(
        self, client: AsyncClient, editor: Editor, other_editor: Editor, workflow_id: int
    ) -> None:
        path = f"/workflow/{workflow_id}/scenario-coverage"
        assert (await client.get(path)).status_code == 401
        assert (await other_editor.get(path)).json()["code"] == "workflow_not_found"
        assert (await editor.get(f"{path}?version=99")).json()["code"] == "workflow_version_not_found"
        assert (await editor.get(f"{path}?version=0")).status_code == 422


class TestCalls:
    async def test_telephone_calls_of_the_period_count(
        self, root: Root, org: OrgFixture, editor: Editor, viewer: Editor, workflow_id: int
    ) -> None:
        path = f"/workflow/{workflow_id}/call-coverage"
        nothing = (await viewer.get(path)).json()
        assert (nothing["days"], nothing["calls"], counts(nothing, "nodes")) == (30, 0, NOTHING)
        other = await editor.create_published(DEFINITION, "Other shop")
        back_and_forth = (["start", "sales", "start", "gone-node"], ["start-sales", "gone-edge"])
        await hold_call(root, org, workflow_id, SALES)
        await hold_call(root, org, workflow_id, back_and_forth)
        await hold_call(root, org, workflow_id, SUPPORT, created_at=datetime.now(UTC) - timedelta(days=31))
        await hold_call(root, org, workflow_id, SUPPORT, duration=None)
        await hold_call(root, org, workflow_id, SUPPORT, mode=TEXT_CHAT, use_draft=True)
        await hold_call(root, org, workflow_id, SUPPORT, mode=BROWSER, use_draft=True)
        await hold_call(root, org, other, SUPPORT)
        answer = (await viewer.get(path)).json()
        assert (answer["version_number"], answer["calls"], answer["has_more"]) == (2, 2, False)
        assert counts(answer, "nodes") == {"start": 2, "sales": 2, "support": 0, "bye": 1}
        assert counts(answer, "edges") == {"start-sales": 2, "start-support": 0, "sales-bye": 1}
        longer = (await viewer.get(f"{path}?days=32")).json()
        assert (longer["calls"], counts(longer, "edges")["start-support"]) == (3, 1)

    @pytest.mark.parametrize("encrypts", [False, True])
    async def test_words_and_keys_tools_and_their_failures_are_counted(
        self, root: Root, org: OrgFixture, editor: Editor, with_tools: int, encrypts: bool
    ) -> None:
        provide_word_keys(root.db, WordKeys(DataKeys(root.get(Keyring)), encrypts=encrypts))
        await hold_call(root, org, with_tools, SALES, keyed=["start-sales"], answered=[LOOKUP, LOOKUP])
        await hold_call(root, org, with_tools, SALES, answered=[LOOKUP], failed=[LOOKUP, "gone_tool"])
        answer = (await editor.get(f"/workflow/{with_tools}/call-coverage")).json()
        assert counts(answer, "edges") == {"start-sales": 2, "start-support": 0, "sales-bye": 2}
        assert conditions(answer) == NO_CONDITION | {"start-sales/words": 1, "start-sales/key": 1, "sales-bye/words": 2}
        assert tools(answer) == {LOOKUP: (2, 1), CALCULATOR: (0, 0)}

    async def test_reads_a_bounded_number_of_the_newest(self, root: Root, org: OrgFixture, workflow_id: int) -> None:
        for age, path in ((1, SALES), (2, SALES), (3, SUPPORT)):
            await hold_call(root, org, workflow_id, path, created_at=datetime.now(UTC) - timedelta(hours=age))
        now = datetime.now(UTC)
        async with root.db.transaction() as session:
            found = await service.measure_calls(session, org.id, workflow_id, now, days=1, max_calls=2)
            assert (found.calls, found.has_more, found.graph.edges["start-support"]) == (2, True, 0)
            found = await service.measure_calls(session, org.id, workflow_id, now, days=1, max_calls=3)
            assert (found.calls, found.has_more, found.graph.edges["start-support"]) == (3, False, 1)

    async def test_refuses_others(
        self, client: AsyncClient, editor: Editor, other_editor: Editor, workflow_id: int
    ) -> None:
        path = f"/workflow/{workflow_id}/call-coverage"
        assert (await client.get(path)).status_code == 401
        assert (await other_editor.get(path)).json()["code"] == "workflow_not_found"
        assert (await editor.get(f"{path}?days=0")).status_code == 422
        assert (await editor.get(f"{path}?days={service.MAX_DAYS + 1}")).status_code == 422
