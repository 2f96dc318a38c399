"""What a client built on Dograh's SDK does with workflows, node types and test calls works here unchanged."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from fastapi import FastAPI
from httpx2 import AsyncClient
from pydantic import BaseModel

from offhook.root import Root
from offhook.workflows.demo import ensure_demo
from offhook.workflows.nodes import KINDS
from tests.fakes.calls import FixedModels, use_fakes
from tests.fixtures_orgs import OrgFixture
from tests.recordings.conftest import Studio
from tests.sdk.client import ApiError, SdkClient, SpecMismatch, ToolBody, WorkflowBody, build


@pytest.fixture
async def sdk(app: FastAPI, client: AsyncClient, org: OrgFixture) -> AsyncIterator[SdkClient]:
    async with SdkClient(app, org.key) as sdk:
        yield sdk


async def an_agent(sdk: SdkClient) -> dict[str, Any]:
    """Start → agent → end, made from the served node types as the SDK's builder makes it."""
    specs = {spec.name: spec for spec in (await sdk.list_node_types()).node_types}
    nodes = [
        build(specs["startCall"], 1, name="Hello", prompt="Greet the caller."),
        build(specs["agentNode"], 2, name="Help", prompt="Help the caller."),
        build(specs["endCall"], 3, name="Bye", prompt="Say goodbye."),
    ]
    edges = [
        {"id": "1-2", "source": "1", "target": "2", "data": {"label": "Go on", "condition": "The caller answers"}},
        {"id": "2-3", "source": "2", "target": "3", "data": {"label": "Done", "condition": "The caller is done"}},
    ]
    return {"nodes": nodes, "edges": edges, "viewport": {"x": 0, "y": 0, "zoom": 1}}


async def test_every_node_type_is_served_and_nothing_more(sdk: SdkClient) -> None:
    served = await sdk.list_node_types()
    assert served.spec_version == "1.0.0"
    assert {spec.name for spec in served.node_types} == {name for name, kind in KINDS.items() if kind.is_offered}
    for spec in served.node_types:
        assert await sdk.get_node_type(spec.name) == spec
    with pytest.raises(SpecMismatch):
        await sdk.get_node_type("teleport")


async def test_examples_of_node_types_are_valid_nodes(sdk: SdkClient) -> None:
    for spec in (await sdk.list_node_types()).node_types:
        for example in spec.examples or []:
            build(spec, 1, **example.data)


async def test_create_list_get_update_delete(sdk: SdkClient) -> None:
    created = await sdk.create_workflow(WorkflowBody(name="Front desk", workflow_definition=await an_agent(sdk)))
    assert [item.id for item in await sdk.list_workflows()] == [created.id]
    assert await sdk.list_workflows("archived") == []
    assert (await sdk.get_workflow(created.id)).workflow_definition == created.workflow_definition
    changed = await sdk.update_workflow(created.id, WorkflowBody(workflow_configurations={"max_call_duration": 60}))
    assert (changed.name, changed.workflow_configurations) == ("Front desk", {"max_call_duration": 60})
    assert (changed.workflow_uuid, changed.version_status) == (created.workflow_uuid, "draft")
    await sdk.delete_workflow(created.id)
    with pytest.raises(ApiError) as gone:
        await sdk.get_workflow(created.id)
    assert gone.value.status == 404
    with pytest.raises(ApiError) as refused:
        await sdk.list_workflows("sleeping")
    assert refused.value.status == 422
    assert "sleeping" in refused.value.message


async def test_load_change_save(sdk: SdkClient) -> None:
    created = await sdk.create_workflow(WorkflowBody(name="Desk", workflow_definition=await an_agent(sdk)))
    loaded = await sdk.load_workflow(created.id)
    loaded["nodes"][1]["data"] |= {"prompt": "Ask for the name.", "mcp_tool_filters": {"t": ["find"]}}
    saved = await sdk.save_workflow(created.id, "Reception", loaded)
    assert saved.name == "Reception"
    assert await sdk.load_workflow(created.id) == loaded
    published = await sdk.call("POST", f"/workflow/{created.id}/publish")
    assert (published["status"], published["version_number"]) == ("published", 1)
    validated = await sdk.call("POST", f"/workflow/{created.id}/validate")
    assert validated | {"is_valid": True, "errors": [], "warnings": [], "findings": []} == validated


async def test_the_demo_agents_can_be_loaded(sdk: SdkClient, root: Root, org: OrgFixture) -> None:
    async with root.db.transaction() as session:
        made = await ensure_demo(session, org.id, None)
    assert {item.id for item in await sdk.list_workflows("active,archived")} == set(made)
    for workflow_id in made:
        await sdk.load_workflow(workflow_id)


class CallBody(BaseModel):
    workflow_id: int
    phone_number: str | None = None
    workflow_run_id: int | None = None


async def test_a_test_call_runs_the_draft(sdk: SdkClient, root: Root) -> None:
    use_fakes(root, FixedModels())
    created = await sdk.create_workflow(WorkflowBody(name="Desk", workflow_definition=await an_agent(sdk)))
    placed = await sdk.test_phone_call(CallBody(workflow_id=created.id, phone_number="+15550000002"))
    assert placed["workflow_run_name"] in placed["message"]
    with pytest.raises(ApiError) as unknown:
        await sdk.test_phone_call(CallBody(workflow_id=999_999, phone_number="+15550000002"))
    assert unknown.value.status == 404


async def test_tools_credentials_and_recordings(sdk: SdkClient, client: AsyncClient, org: OrgFixture) -> None:
    made = await sdk.create_tool(ToolBody(name="Sum", category="calculator", definition={"type": "calculator"}))
    assert [tool.tool_uuid for tool in await sdk.list_tools("active", "calculator")] == [made.tool_uuid]
    assert await sdk.list_tools("archived") == []
    bearer = {"name": "CRM", "credential_type": "bearer_token", "credential_data": {"token": "x"}}
    await client.post("/credentials/", json=bearer, headers=org.key_headers)
    assert [credential.name for credential in await sdk.list_credentials()] == ["CRM"]
    recorded = await Studio(client, org.key_headers).record("welcome", tts_provider="rime")
    listed = await sdk.list_recordings(tts_provider="rime")
    assert ([item.recording_id for item in listed.recordings], listed.total) == (["welcome"], 1)
    assert listed.recordings[0].storage_key == recorded["storage_key"]
    assert (await sdk.list_recordings(workflow_id=7)).total == 0


@pytest.mark.slow
def test_what_the_sdk_offers_is_marked_for_its_generator(app: FastAPI) -> None:
    operations = [operation for path in app.openapi()["paths"].values() for operation in path.values()]
    marked = {operation["x-sdk-method"] for operation in operations if "x-sdk-method" in operation}
    assert marked >= {
        "list_workflows", "get_workflow", "create_workflow", "update_workflow", "delete_workflow", "list_node_types",
        "get_node_type", "list_tools", "create_tool", "list_credentials", "list_recordings", "test_phone_call",
    }  # fmt: skip
    assert all(operation["x-sdk-description"] for operation in operations if "x-sdk-method" in operation)


async def test_a_bad_key(app: FastAPI, client: AsyncClient) -> None:
    async with SdkClient(app, "ohk_nothing") as stranger:
        with pytest.raises(ApiError) as refused:
            await stranger.list_workflows()
    assert refused.value.status == 401
