"""Node types: the shape that client libraries read strictly."""

from typing import Any

import pytest

from offhook.workflows.nodes import KINDS
from offhook.workflows.validation import validate_definition
from tests.workflows.conftest import Editor
from tests.workflows.definitions import definition, edge, end, node, start

NODE_KEYS = {
    "name",
    "display_name",
    "description",
    "llm_hint",
    "category",
    "icon",
    "version",
    "properties",
    "examples",
    "graph_constraints",
}
PROPERTY_KEYS = {
    "name",
    "type",
    "display_name",
    "description",
    "llm_hint",
    "default",
    "required",
    "placeholder",
    "display_options",
    "options",
    "properties",
    "min_value",
    "max_value",
    "min_length",
    "max_length",
    "pattern",
    "editor",
    "extra",
}


async def test_every_kind_is_listed(editor: Editor) -> None:
    answer = await editor.get("/node-types")
    assert answer.status_code == 200
    assert answer.json()["spec_version"] == "1.0.0"
    assert [spec["name"] for spec in answer.json()["node_types"]] == [
        "startCall",
        "agentNode",
        "endCall",
        "globalNode",
        "trigger",
        "webhook",
        "qa",
    ]


async def test_no_key_that_a_strict_reader_refuses(editor: Editor) -> None:
    def check(properties: list[dict[str, Any]]) -> None:
        for item in properties:
            assert set(item) <= PROPERTY_KEYS
            assert item["description"]
            check(item.get("properties", []))

    for spec in (await editor.get("/node-types")).json()["node_types"]:
        assert set(spec) <= NODE_KEYS
        check(spec["properties"])


async def test_one_kind(editor: Editor) -> None:
    spec = (await editor.get("/node-types/startCall")).json()
    assert spec["graph_constraints"] == {"min_incoming": 0, "max_incoming": 0}
    limits = (await editor.get("/node-types")).json()["instance_limits"]
    assert limits["startCall"] == {"min_instances": 1, "max_instances": 1}
    assert limits.keys() == {"startCall", "globalNode", "trigger"}
    names = {item["name"] for item in spec["properties"]}
    assert {"prompt", "greeting", "pre_call_fetch_enabled", "say", "offline_say", "document_refs"} <= names
    assert (await editor.get("/node-types/robot")).status_code == 404


async def test_a_kind_of_other_platforms_is_described_and_not_listed(editor: Editor) -> None:
    spec = (await editor.get("/node-types/tuner")).json()
    assert {item["name"] for item in spec["properties"]} >= {"tuner_agent_id", "tuner_workspace_id", "tuner_api_key"}


@pytest.mark.parametrize(
    "kind",
    [kind for kind in KINDS.values() if kind.name != "startCall" and kind.is_offered],
    ids=lambda kind: kind.name,
)
def test_examples_and_defaults_pass_our_own_validation(kind: Any) -> None:
    defaults = {spec.name: spec.default for spec in kind.spec.properties if spec.default is not None}
    for example in kind.spec.examples:
        data = {**defaults, **{spec.name: "x" for spec in kind.spec.properties if spec.required}, **example.data}
        nodes = [start(), end("e2"), node("n", kind.name, **data)]
        edges = [edge("s", "e2", "Out")] + ([edge("s", "n", "In")] if kind.constraints.min_incoming else [])
        edges += [edge("n", "e2", "On")] if kind.name == "agentNode" else []
        assert validate_definition(definition(*nodes, edges=edges)).errors == ()
