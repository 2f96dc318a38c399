"""Tools and credentials over HTTP."""

from typing import Annotated, Final

from fastapi import Path, Query, Response

from offhook.errors import UnprocessableRequest
from offhook.kit.database.database import Session
from offhook.kit.http.openapi import sdk_method
from offhook.kit.http.pagination import SliceParams, set_total
from offhook.kit.http.routing import Router
from offhook.orgs import CurrentOrg, RequireMember
from offhook.tools import repository, service
from offhook.tools.definitions import Category
from offhook.tools.schemas import (
    CreateCredentialRequest,
    CreateToolRequest,
    CredentialDeletedResponse,
    CredentialResponse,
    McpRefreshResponse,
    ToolArchivedResponse,
    ToolDraftTestRequest,
    ToolResponse,
    ToolTestRequest,
    ToolTestResponse,
    UpdateCredentialRequest,
    UpdateToolRequest,
)
from offhook.tools.services import Services
from offhook.tools.tool_runner import ToolTrial

tools_router = Router(prefix="/tools", tags=["tools"])
credentials_router = Router(prefix="/credentials", tags=["tools"])

Uuid = Annotated[str, Path(max_length=64)]
STATUSES: Final = {"active", "draft", "archived"}
_HINTS: Final = {
    400: "The service does not understand the request. Compare the arguments with what it expects.",
    401: "The service requires a valid credential. Choose one, or check the selected one.",
    403: "The service accepts the credential but does not allow this request.",
    404: "The service has nothing at this address. Check the address and the method.",
    405: "The service does not support this method at this address.",
    408: "The service timed out waiting for the request.",
    415: "The service expects a different Content-Type.",
    422: "The service rejected the values of the request. Compare the arguments with what it expects.",
    429: "The service received too many requests. Wait and try again.",
}


class StatusInvalid(UnprocessableRequest):
    """status must be active, draft or archived, or several of them separated by commas."""

    code = "status_invalid"


@tools_router.get(
    "/",
    response_model=list[ToolResponse],
    operation_id="list_tools",
    openapi_extra=sdk_method("list_tools", "List the tools of the organization."),
)
async def list_tools(
    org: CurrentOrg,
    session: Session,
    response: Response,
    part: SliceParams,
    status: Annotated[
        str | None, Query(description="`active`, `draft`, `archived`, or several separated by commas")
    ] = None,
    category: Category | None = None,
) -> list[ToolResponse]:
    """Lists tools, newest first, including archived ones unless `status` excludes them. The `X-Total-Count` header holds
    the total count."""
    statuses = [item.strip() for item in status.split(",")] if status else []
    if not STATUSES.issuperset(statuses):
        raise StatusInvalid
    rows, total = await repository.list_tools(
        session, org.organization_id, statuses=statuses, category=category, limit=part.limit, offset=part.offset
    )
    set_total(response, total)
    return [ToolResponse.from_tool(row) for row in rows]


@tools_router.post(
    "/",
    response_model=ToolResponse,
    operation_id="create_tool",
    openapi_extra=sdk_method("create_tool", "Create a tool that agents of the organization can use."),
)
async def create_tool(
    body: CreateToolRequest, org: RequireMember, session: Session, services: Services
) -> ToolResponse:
    """Creates a tool. A tool of the category `mcp` is stored with its server's catalog if the server responds."""
    definition = await services.runner.with_catalog(org, body.definition)
    values = body.model_dump(include={"name", "description", "icon", "icon_color"})
    return ToolResponse.from_tool(await service.create_tool(session, org, values, definition))


@tools_router.get("/{tool_uuid}", response_model=ToolResponse, operation_id="get_tool")
async def get_tool(tool_uuid: Uuid, org: CurrentOrg, session: Session) -> ToolResponse:
    return ToolResponse.from_tool(await service.get_tool(session, org.organization_id, tool_uuid))


@tools_router.put("/{tool_uuid}", response_model=ToolResponse, operation_id="update_tool")
async def update_tool(tool_uuid: Uuid, body: UpdateToolRequest, org: RequireMember, session: Session) -> ToolResponse:
    """Updates a tool. New calls use the changed tool; live calls keep the old one."""
    return ToolResponse.from_tool(
        await service.update_tool(session, org, tool_uuid, body.given_values(), body.definition)
    )


@tools_router.delete("/{tool_uuid}", response_model=ToolArchivedResponse, operation_id="archive_tool")
async def archive_tool(tool_uuid: Uuid, org: RequireMember, session: Session) -> ToolArchivedResponse:
    """Archives a tool: agents can no longer use it. It can be unarchived."""
    tool = await service.set_archived(session, org, tool_uuid, is_archived=True)
    return ToolArchivedResponse(tool_uuid=str(tool.tool_uuid))


@tools_router.post("/{tool_uuid}/unarchive", response_model=ToolResponse, operation_id="unarchive_tool")
async def unarchive_tool(tool_uuid: Uuid, org: RequireMember, session: Session) -> ToolResponse:
    return ToolResponse.from_tool(await service.set_archived(session, org, tool_uuid, is_archived=False))


@tools_router.post("/{tool_uuid}/test", response_model=ToolTestResponse, operation_id="test_tool")
async def test_tool(tool_uuid: Uuid, body: ToolTestRequest, org: RequireMember, services: Services) -> ToolTestResponse:
    """Sends a real request. Only an audit log entry is stored; secrets are masked.

    For `mcp`, `llm_params` is `{tool_name, arguments}`; for `calculator`, `{expression}`.
    """
    return _trial_response(await services.runner.try_out(org, tool_uuid, body.llm_params, body.preset_params))


@tools_router.post("/test", response_model=ToolTestResponse, operation_id="test_tool_draft")
async def test_tool_draft(body: ToolDraftTestRequest, org: RequireMember, services: Services) -> ToolTestResponse:
    """Sends a real request with a definition that is not stored, under the rules of a stored tool's test."""
    return _trial_response(await services.runner.try_draft(org, body.definition, body.llm_params, body.preset_params))


@tools_router.post("/{tool_uuid}/mcp/refresh", response_model=McpRefreshResponse, operation_id="refresh_mcp_tool")
async def refresh_mcp_tool(tool_uuid: Uuid, org: RequireMember, services: Services) -> McpRefreshResponse:
    """Reads the MCP server's catalog again. If the server does not respond, `error` says so."""
    catalog, error = await services.runner.refresh_catalog(org, tool_uuid)
    return McpRefreshResponse(tool_uuid=tool_uuid, discovered_tools=catalog, error=error)


def _trial_response(trial: ToolTrial) -> ToolTestResponse:
    request = trial.request
    hint = _HINTS.get(trial.status_code or 0)
    if hint is None and trial.status_code is not None and trial.status_code >= 500:
        hint = "The service itself failed."
    return ToolTestResponse(
        status="success" if trial.error is None else "error",
        status_code=trial.status_code,
        data=trial.data,
        error=trial.error,
        hint=hint,
        request_method=request.method if request else None,
        request_url=request.url if request else None,
        request_headers=request.shown_headers if request else {},
        request_body=request.body if request else None,
        request_params=request.query or None if request else None,
        duration_ms=trial.duration_ms,
    )


@credentials_router.get(
    "/",
    response_model=list[CredentialResponse],
    operation_id="list_credentials",
    openapi_extra=sdk_method("list_credentials", "List the credentials of the organization."),
)
async def list_credentials(
    org: CurrentOrg, session: Session, response: Response, part: SliceParams
) -> list[CredentialResponse]:
    rows, total = await repository.list_credentials(session, org.organization_id, limit=part.limit, offset=part.offset)
    set_total(response, total)
    return [CredentialResponse.from_credential(row) for row in rows]


@credentials_router.post("/", response_model=CredentialResponse, operation_id="create_credential")
async def create_credential(
    body: CreateCredentialRequest, org: RequireMember, session: Session, services: Services
) -> CredentialResponse:
    """`credential_data` by type: `none` {}, `api_key` {header_name, api_key}, `bearer_token` {token}, `basic_auth`
    {username, password}, `custom_header` {header_name, header_value}. It is stored encrypted and never returned."""
    values = body.model_dump(include={"name", "description", "credential_type", "allowed_hosts"})
    return CredentialResponse.from_credential(
        await service.create_credential(session, services.keyring, org, values, body.credential_data)
    )


@credentials_router.get("/{credential_uuid}", response_model=CredentialResponse, operation_id="get_credential")
async def get_credential(credential_uuid: Uuid, org: CurrentOrg, session: Session) -> CredentialResponse:
    return CredentialResponse.from_credential(
        await service.get_credential(session, org.organization_id, credential_uuid)
    )


@credentials_router.put("/{credential_uuid}", response_model=CredentialResponse, operation_id="update_credential")
async def update_credential(
    credential_uuid: Uuid, body: UpdateCredentialRequest, org: RequireMember, session: Session, services: Services
) -> CredentialResponse:
    changed = await service.update_credential(
        session, services.keyring, org, credential_uuid, body.given_values(), body.credential_data
    )
    return CredentialResponse.from_credential(changed)


@credentials_router.delete(
    "/{credential_uuid}", response_model=CredentialDeletedResponse, operation_id="delete_credential"
)
async def delete_credential(
    credential_uuid: Uuid, org: RequireMember, session: Session, services: Services
) -> CredentialDeletedResponse:
    """Deletes a credential. Returns 409 while an unarchived tool, or the draft or published version of an agent, uses it."""
    gone = await service.delete_credential(session, services.find_references, org, credential_uuid)
    return CredentialDeletedResponse(uuid=str(gone.credential_uuid))
