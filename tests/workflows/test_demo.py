"""The demo agents: valid without a warning, complete offline, and made once."""

import asyncio
import re
from typing import Any

import pytest
from sqlalchemy import text

from offhook.root import Root
from offhook.workflows import service
from offhook.workflows.demo import SLUGS, demo_agent, ensure_demo
from offhook.workflows.graph import parse_graph
from offhook.workflows.nodes import KINDS
from offhook.workflows.ports import ToolFacts
from offhook.workflows.validation import ValidationReport, validate_definition
from tests.fixtures_orgs import OrgFixture
from tests.workflows.conftest import Editor

TOOLS = {"demo_order_status": ToolFacts("demo_order_status", timeout_s=5)}
AGENTS = {slug: demo_agent(slug)["definition"] for slug in SLUGS}


@pytest.fixture(params=SLUGS)
def raw(request: pytest.FixtureRequest) -> dict[str, Any]:
    found: dict[str, Any] = {**AGENTS[request.param]}
    return found


def test_nothing_is_wrong_with_it(raw: dict[str, Any]) -> None:
    assert validate_definition(raw, tools=TOOLS) == ValidationReport()


def test_a_client_library_can_load_it(raw: dict[str, Any]) -> None:
    for node in raw["nodes"]:
        declared = {spec.name for spec in KINDS[node["type"]].spec.properties}
        assert set(node["data"]) <= declared, node["id"]


def test_it_always_has_something_to_say_without_a_model(raw: dict[str, Any]) -> None:
    for node in parse_graph(raw).nodes.values():
        if KINDS[node.kind].is_conversational:
            sentence = node.say or node.greeting or node.data["offline_say"]
            assert sentence.endswith((".", "?", "!"))
            assert ("?" in sentence) == (node.kind != "endCall")


def test_every_way_can_be_told_apart_by_its_phrases(raw: dict[str, Any]) -> None:
    graph = parse_graph(raw)
    for node_id in graph.nodes:
        seen: dict[str, str] = {}
        for edge in graph.edges_from(node_id):
            assert len(edge.examples) >= 3, edge.id
            for phrase in edge.examples:
                assert re.fullmatch(r"[a-z' ]+", phrase), phrase
                assert seen.setdefault(phrase, edge.id) == edge.id, f"{phrase!r} at {node_id}"


def test_the_script_of_the_caller_leads_to_the_end(raw: dict[str, Any]) -> None:
    graph = parse_graph(raw)
    said = {(move["node"], move["say"].lower().strip(".?!").replace(",", "")) for move in raw["demo_caller"]}
    assert {node_id for node_id, _ in said} <= set(graph.nodes)
    node_id = graph.start_id
    assert node_id is not None
    for _ in range(10):
        if graph.nodes[node_id].kind == "endCall":
            return
        words = {phrase for at, phrase in said if at == node_id}
        taken = [edge for edge in graph.edges_from(node_id) if words & set(edge.examples)]
        assert taken, f"no phrase of the script fits an edge of {node_id}: {words}"
        node_id = taken[0].target
    pytest.fail("the script goes in circles")


async def test_made_and_published_once(root: Root, org: OrgFixture, editor: Editor) -> None:
    async def make() -> list[int]:
        async with root.db.transaction() as session:
            return await ensure_demo(session, org.id, org.user_ids["owner"])

    created = [ids for ids in await asyncio.gather(*(make() for _ in range(4))) if ids]
    assert len(created) == 1
    rows = (await editor.get("/workflow/fetch")).json()
    assert [row["name"] for row in rows] == [demo_agent(slug)["name"] for slug in SLUGS]
    assert {(row["published_version_number"], row["has_draft"]) for row in rows} == {(1, False)}
    async with root.db.transaction() as session:
        version = await service.get_version_to_run(session, org.id, rows[0]["id"])
        assert version.definition["demo_caller"] == AGENTS["appointment_booking"]["demo_caller"]
        actions = (await session.execute(text("SELECT action FROM audit_entries ORDER BY id"))).scalars().all()
    assert actions[-1] == "workflow.demo_created"


async def test_an_organization_that_has_workflows_is_left_alone(root: Root, org: OrgFixture, editor: Editor) -> None:
    await editor.create()
    async with root.db.transaction() as session:
        assert await ensure_demo(session, org.id, None) == []
