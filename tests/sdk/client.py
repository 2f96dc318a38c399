"""A client as strict as the SDK of a public project of this kind is known to be, written from those facts.

It follows no redirect, refuses unknown keys in node types and times without a zone, leaves out what is None, and checks
an agent that it loads against the node types that it was served.
"""

from typing import Any, Self

from httpx2 import ASGITransport, AsyncClient
from pydantic import AwareDatetime, BaseModel, ConfigDict


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class DisplayOptions(Strict):
    show: dict[str, list[Any]] | None = None
    hide: dict[str, list[Any]] | None = None


class PropertyOption(Strict):
    value: str | int | bool | float
    label: str
    description: str | None = None


class PropertySpec(Strict):
    name: str
    type: str
    display_name: str
    description: str
    llm_hint: str | None = None
    default: Any = None
    required: bool | None = None
    placeholder: str | None = None
    display_options: DisplayOptions | None = None
    options: list[PropertyOption] | None = None
    properties: list["PropertySpec"] | None = None
    min_value: float | None = None
    max_value: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    editor: str | None = None
    extra: dict[str, Any] | None = None


class GraphConstraints(Strict):
    min_incoming: int | None = None
    max_incoming: int | None = None
    min_outgoing: int | None = None
    max_outgoing: int | None = None


class NodeExample(Strict):
    name: str
    description: str | None = None
    data: dict[str, Any]


class NodeSpec(Strict):
    name: str
    display_name: str
    description: str
    llm_hint: str | None = None
    category: str
    icon: str
    version: str | None = None
    properties: list[PropertySpec]
    examples: list[NodeExample] | None = None
    graph_constraints: GraphConstraints | None = None


class NodeTypes(BaseModel):
    spec_version: str
    node_types: list[NodeSpec]


class WorkflowItem(BaseModel):
    id: int
    name: str
    status: str
    created_at: AwareDatetime
    total_runs: int
    folder_id: int | None = None
    workflow_uuid: str | None = None


class Workflow(BaseModel):
    id: int
    name: str
    status: str
    created_at: AwareDatetime
    workflow_definition: dict[str, Any]
    current_definition_id: int | None
    template_context_variables: dict[str, Any] | None = None
    total_runs: int | None = None
    workflow_configurations: dict[str, Any] | None = None
    version_number: int | None = None
    version_status: str | None = None
    workflow_uuid: str | None = None


class WorkflowBody(BaseModel):
    name: str | None = None
    workflow_definition: dict[str, Any] | None = None
    template_context_variables: dict[str, Any] | None = None
    workflow_configurations: dict[str, Any] | None = None


class Tool(BaseModel):
    id: int
    tool_uuid: str
    name: str
    category: str
    status: str
    definition: dict[str, Any]
    created_at: AwareDatetime
    updated_at: AwareDatetime | None = None


class Credential(BaseModel):
    uuid: str
    name: str
    credential_type: str
    created_at: AwareDatetime
    updated_at: AwareDatetime | None = None


class Recording(BaseModel):
    id: int
    recording_id: str
    workflow_id: int | None
    organization_id: int
    transcript: str
    storage_key: str
    created_at: AwareDatetime


class RecordingList(BaseModel):
    recordings: list[Recording]
    total: int


class ToolBody(BaseModel):
    name: str
    category: str
    definition: dict[str, Any]
    description: str | None = None


class ApiError(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message


class SpecMismatch(Exception):
    """A node type is unknown, or a stored node holds what its type does not declare."""


class SdkClient:
    """``async with SdkClient(app, key) as sdk: await sdk.list_workflows()``."""

    def __init__(self, app: Any, key: str) -> None:
        self._http = AsyncClient(
            transport=ASGITransport(app=app),
            base_url="http://testserver/api/v1",
            headers={"Accept": "application/json", "X-API-Key": key},
            follow_redirects=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def call(self, method: str, path: str, body: BaseModel | None = None, **params: Any) -> Any:
        content = None if body is None else body.model_dump(mode="json", exclude_none=True)
        sent = {name: value for name, value in params.items() if value is not None}
        answer = await self._http.request(method, path, json=content, params=sent)
        assert not answer.is_redirect, f"{path} redirects"
        if answer.status_code >= 400:
            found = answer.json()
            raise ApiError(answer.status_code, str(found.get("detail") or found.get("message") or answer.text))
        return answer.json() if answer.content else None

    async def list_workflows(self, status: str | None = None) -> list[WorkflowItem]:
        return [WorkflowItem.model_validate(row) for row in await self.call("GET", "/workflow/fetch", status=status)]

    async def get_workflow(self, workflow_id: int) -> Workflow:
        return Workflow.model_validate(await self.call("GET", f"/workflow/fetch/{workflow_id}"))

    async def create_workflow(self, body: WorkflowBody) -> Workflow:
        return Workflow.model_validate(await self.call("POST", "/workflow/create/definition", body))

    async def update_workflow(self, workflow_id: int, body: WorkflowBody) -> Workflow:
        return Workflow.model_validate(await self.call("PUT", f"/workflow/{workflow_id}", body))

    async def delete_workflow(self, workflow_id: int) -> Any:
        return await self.call("DELETE", f"/workflow/{workflow_id}")

    async def list_node_types(self) -> NodeTypes:
        return NodeTypes.model_validate(await self.call("GET", "/node-types"))

    async def get_node_type(self, name: str) -> NodeSpec:
        try:
            return NodeSpec.model_validate(await self.call("GET", f"/node-types/{name}"))
        except ApiError as error:
            raise SpecMismatch(name) from error

    async def list_tools(self, status: str | None = None, category: str | None = None) -> list[Tool]:
        return [Tool.model_validate(row) for row in await self.call("GET", "/tools/", status=status, category=category)]

    async def create_tool(self, body: ToolBody) -> Tool:
        return Tool.model_validate(await self.call("POST", "/tools/", body))

    async def list_credentials(self) -> list[Credential]:
        return [Credential.model_validate(row) for row in await self.call("GET", "/credentials/")]

    async def list_recordings(self, **wanted: Any) -> RecordingList:
        return RecordingList.model_validate(await self.call("GET", "/workflow-recordings/", **wanted))

    async def test_phone_call(self, body: BaseModel) -> Any:
        return await self.call("POST", "/telephony/initiate-call", body)

    async def load_workflow(self, workflow_id: int) -> dict[str, Any]:
        """The stored definition, rebuilt from what its node types declare; SpecMismatch for anything else."""
        stored = (await self.get_workflow(workflow_id)).workflow_definition
        specs = {spec.name: spec for spec in (await self.list_node_types()).node_types}
        nodes = []
        for node in stored["nodes"]:
            spec = specs.get(node["type"])
            if spec is None:
                raise SpecMismatch(node["type"])
            check(spec, node["data"])
            nodes.append({key: node[key] for key in ("id", "type", "position", "data")})
        return {"nodes": nodes, "edges": stored["edges"], "viewport": stored["viewport"]}

    async def save_workflow(self, workflow_id: int, name: str, definition: dict[str, Any]) -> Workflow:
        return await self.update_workflow(workflow_id, WorkflowBody(name=name, workflow_definition=definition))


def build(spec: NodeSpec, number: int, **given: Any) -> dict[str, Any]:
    """A node as a builder makes it: defaults filled in, then checked."""
    defaults = {prop.name: prop.default for prop in spec.properties if prop.default is not None}
    data = {**defaults, **given}
    check(spec, data)
    return {"id": str(number), "type": spec.name, "position": {"x": 0, "y": 0}, "data": data}


def check(spec: NodeSpec, data: dict[str, Any]) -> None:
    declared = {prop.name: prop for prop in spec.properties}
    unknown = set(data) - set(declared)
    if unknown:
        raise SpecMismatch(f"{spec.name} does not declare {sorted(unknown)}")
    for prop in spec.properties:
        value = data.get(prop.name)
        if prop.required and value in (None, "", []):
            raise SpecMismatch(f"{spec.name} needs {prop.name}")
        if (
            prop.type == "options"
            and value is not None
            and value not in {option.value for option in prop.options or []}
        ):
            raise SpecMismatch(f"{prop.name} of {spec.name} cannot be {value!r}")
