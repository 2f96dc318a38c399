"""The published client library ``dograh-sdk``, unchanged, against a real server: every method of it."""

import asyncio
import runpy
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import pytest
from dograh_sdk import ApiError, DograhClient, SpecMismatchError, ValidationError, Workflow, codegen, typed
from dograh_sdk._generated_models import (
    CreateToolRequest,
    CreateWorkflowRequest,
    InitiateCallRequest,
    UpdateWorkflowRequest,
)

from offhook.root import Root
from offhook.settings import Settings
from offhook.workflows.demo import ensure_demo
from tests.calls.conftest import serving
from tests.fakes.calls import FixedModels, use_fakes
from tests.fixtures_orgs import OrgFixture
from tests.recordings.conftest import Studio

T = TypeVar("T")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Without a public address: uploads go to the port of this test's own server."""
    return Settings(data_dir=tmp_path / "data")


class Client(DograhClient):
    """The library's client; ``used`` names the methods that were called."""

    used: set[str]

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("_") and name != "used":
            self.used.add(name)
        return super().__getattribute__(name)


class Session:
    """One organization on a server of its own. The library is synchronous: its calls run in a thread."""

    def __init__(self, root: Root, url: str, org: OrgFixture, http: httpx2.AsyncClient) -> None:
        self.root = root
        self.org = org
        self.http = http
        self.sdk = Client.__new__(Client)
        self.sdk.used = set()
        self.sdk.__init__(base_url=url, api_key=org.key)  # type: ignore[misc]

    async def ask(self, method: Callable[..., T], *args: Any, **more: Any) -> T:
        return await asyncio.to_thread(method, *args, **more)


@pytest.fixture
async def session(root: Root, org: OrgFixture) -> AsyncIterator[Session]:
    use_fakes(root, FixedModels())
    async with (
        serving(root) as url,
        httpx2.AsyncClient(base_url=f"{url}/api/v1", headers=org.key_headers, trust_env=False) as http,
    ):
        session = Session(root, url, org, http)
        try:
            yield session
        finally:
            await session.ask(session.sdk.close)


def an_agent(sdk: DograhClient) -> Workflow:
    """One node of each class that the library has, but no second start, joined by its builder."""
    agent = Workflow(client=sdk, name="Front desk")
    start = agent.add_typed(typed.StartCall(prompt="Greet the caller."), position=(10, 20))
    variable = typed.agent_node.AgentNode_Extraction_variablesRow(name="day")
    help_ = agent.add_typed(typed.AgentNode(prompt="Help.", extraction_enabled=True, extraction_variables=[variable]))
    end = agent.add_typed(typed.EndCall(prompt="Say goodbye."))
    agent.add_typed(typed.GlobalNode(prompt="Be kind."))
    agent.add_typed(typed.Trigger())
    agent.add_typed(typed.Webhook(endpoint_url="https://example.com/hook"))
    agent.add_typed(typed.Qa())
    agent.edge(start, help_, label="Go on", condition="The caller answers.", transition_speech="One moment.")
    agent.edge(help_, end, label="Done", condition="The caller is done.")
    return agent


async def use_node_types(session: Session) -> None:
    listed = await session.ask(session.sdk.list_node_types)
    assert session.sdk.spec_version == listed.spec_version == "1.0.0"
    session.sdk._spec_cache.clear()
    for spec in listed.node_types:
        assert await session.ask(session.sdk.get_node_type, spec.name) == spec
    with pytest.raises(SpecMismatchError):
        await session.ask(session.sdk.get_node_type, "robot")


async def use_workflows(session: Session) -> int:
    sdk = session.sdk
    built = await session.ask(an_agent, sdk)
    made = await session.ask(
        sdk.create_workflow, body=CreateWorkflowRequest(name=built.name, workflow_definition=built.to_json())
    )
    assert [one.id for one in await session.ask(sdk.list_workflows, status="active")] == [made.id]
    loaded = await session.ask(sdk.load_workflow, made.id)
    assert {node["type"] for node in loaded.to_json()["nodes"]} == {node["type"] for node in built.to_json()["nodes"]}
    assert loaded.find_node("1") == loaded.find_node(lambda node: node.type == "startCall")
    await session.ask(loaded.add, type="endCall", name="Another", prompt="Say goodbye too.")
    loaded.name = "Reception"
    saved = await session.ask(sdk.save_workflow, made.id, loaded)
    again = await session.ask(sdk.load_workflow, made.id)
    assert (saved.name, again.to_json()["nodes"]) == ("Reception", loaded.to_json()["nodes"])
    changed = await session.ask(sdk.update_workflow, made.id, body=UpdateWorkflowRequest(name="Desk"))
    found = await session.ask(sdk.get_workflow, made.id)
    assert found.name == changed.name == "Desk"
    return made.id


async def use_resources(session: Session) -> None:
    sdk = session.sdk
    tool = await session.ask(
        sdk.create_tool,
        body=CreateToolRequest(name="Sum", category="calculator", definition={"type": "calculator"}),
    )
    assert [one.id for one in await session.ask(sdk.list_tools, status="active", category="calculator")] == [tool.id]
    bearer = {"name": "CRM", "credential_type": "bearer_token", "credential_data": {"token": "x"}}
    assert (await session.http.post("/credentials/", json=bearer)).status_code == 200
    assert [one.name for one in await session.ask(sdk.list_credentials)] == ["CRM"]
    file = {"file": ("hours.txt", b"Open from nine to five.")}
    assert (await session.http.post("/knowledge-base/", files=file)).status_code == 200
    documents = await session.ask(sdk.list_documents, limit=10, offset=0)
    assert [(one.filename, one.created_by) for one in documents.documents] == [("hours.txt", 0)]
    assert (await session.ask(sdk.list_documents, status="failed")).total == 0
    await Studio(session.http, session.org.key_headers).record("welcome", tts_provider="rime")
    recordings = await session.ask(sdk.list_recordings, tts_provider="rime")
    assert [(one.recording_id, one.created_by) for one in recordings.recordings] == [("welcome", 0)]


async def use_calls(session: Session, workflow_id: int) -> None:
    body = InitiateCallRequest(workflow_id=workflow_id, phone_number="+15550000002")
    placed = await session.ask(session.sdk.test_phone_call, body=body)
    assert placed["workflow_run_name"] in placed["message"]


async def test_every_method(session: Session) -> None:
    await use_node_types(session)
    workflow_id = await use_workflows(session)
    await use_resources(session)
    await use_calls(session, workflow_id)
    offered = {name for name in dir(DograhClient) if not name.startswith("_")} - {"close"}
    assert session.sdk.used >= offered


async def test_what_a_user_of_the_app_made_is_listed(session: Session) -> None:
    headers = session.org.owner_headers
    async with httpx2.AsyncClient(base_url=session.http.base_url, headers=headers, trust_env=False) as person:
        await person.post("/knowledge-base/", files={"file": ("hours.txt", b"Open from nine to five.")})
    listed = await session.ask(session.sdk.list_documents)
    assert [one.created_by for one in listed.documents] == [session.org.user_ids["owner"]]


async def test_the_demo_agents_are_loaded(session: Session) -> None:
    async with session.root.db.transaction() as database:
        made = await ensure_demo(database, session.org.id, None)
    for workflow_id in made:
        loaded = await session.ask(session.sdk.load_workflow, workflow_id)
        assert await session.ask(session.sdk.save_workflow, workflow_id, loaded)


async def test_an_agent_of_another_platform_is_loaded(session: Session) -> None:
    built = await session.ask(an_agent, session.sdk)
    tuner = typed.Tuner(tuner_agent_id="a", tuner_workspace_id=7, tuner_api_key="secret")
    await session.ask(built.add_typed, tuner)
    body = CreateWorkflowRequest(name="Imported", workflow_definition=built.to_json())
    made = await session.ask(session.sdk.create_workflow, body=body)
    loaded = await session.ask(session.sdk.load_workflow, made.id)
    assert loaded.to_json()["nodes"][-1]["data"]["tuner_agent_id"] == "a"


async def test_mistakes_are_found_by_the_library(session: Session) -> None:
    agent = Workflow(client=session.sdk)
    with pytest.raises(ValidationError, match="unknown field"):
        await session.ask(agent.add, type="agentNode", promt="Help.")
    with pytest.raises(ValidationError, match="required field missing: prompt"):
        await session.ask(agent.add, type="agentNode", name="Help")
    with pytest.raises(ApiError) as unknown:
        await session.ask(session.sdk.get_workflow, 999_999)
    refusal = unknown.value.body
    assert isinstance(refusal, dict)
    assert (unknown.value.status_code, refusal["code"]) == (404, "workflow_not_found")


async def test_its_generator_writes_classes_of_our_node_types(session: Session, tmp_path: Path) -> None:
    found = (await session.http.get("/node-types")).json()
    codegen.generate_all(found["node_types"], tmp_path)
    classes = runpy.run_path(str(tmp_path / "start_call.py"), run_name="start_call")
    agent = Workflow(client=session.sdk)
    await session.ask(agent.add, type="startCall", **classes["StartCall"](prompt="Greet.", say="Hello").to_dict())
    assert agent.to_json()["nodes"][0]["data"]["say"] == "Hello"
