"""Requests and responses of tools and credentials, compatible with Dograh's clients."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from offhook.kit.schema import Schema
from offhook.tools.credentials import CredentialType
from offhook.tools.definitions import Category, ToolDefinition
from offhook.tools.hosts import Hosts
from offhook.tools.tables import Credential, Tool

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=255)]
Description = Annotated[str, StringConstraints(max_length=4000)]
Color = Annotated[str, StringConstraints(pattern=r"^#[0-9A-Fa-f]{6}$")]
Icon = Annotated[str, StringConstraints(max_length=50)]


class CreateToolRequest(Schema):
    """``category`` is optional and defaults to ``definition.type``."""

    name: Name
    description: Description | None = None
    category: Category
    icon: Icon | None = "globe"
    icon_color: Color | None = "#3B82F6"
    definition: ToolDefinition

    @model_validator(mode="before")
    @classmethod
    def _category_from_definition(cls, data: Any) -> Any:
        if isinstance(data, dict) and not data.get("category") and isinstance(data.get("definition"), dict):
            return {**data, "category": data["definition"].get("type")}
        return data

    @model_validator(mode="after")
    def _category_fits(self) -> "CreateToolRequest":
        if self.category != self.definition.type:
            raise ValueError(f"category {self.category!r} must match definition.type {self.definition.type!r}")
        return self


class UpdateToolRequest(Schema):
    """Omitted fields keep their value."""

    name: Name | None = None
    description: Description | None = None
    icon: Icon | None = None
    icon_color: Color | None = None
    definition: ToolDefinition | None = None
    status: Literal["active", "draft", "archived"] | None = None

    def given_values(self) -> dict[str, Any]:
        given = self.model_dump(exclude_unset=True, exclude={"definition"})
        return {name: value for name, value in given.items() if value is not None or name not in {"name", "status"}}


class CreatedByResponse(Schema):
    id: int
    provider_id: str


class ToolResponse(Schema):
    id: int
    tool_uuid: str
    name: str
    description: str | None
    category: str
    icon: str | None
    icon_color: str | None
    status: str
    definition: dict[str, Any]
    created_at: datetime
    updated_at: datetime | None
    created_by: CreatedByResponse | None = None

    @classmethod
    def from_tool(cls, tool: Tool) -> "ToolResponse":
        by = tool.created_by
        return cls(
            id=tool.id,
            tool_uuid=str(tool.tool_uuid),
            name=tool.name,
            description=tool.description,
            category=tool.category,
            icon=tool.icon,
            icon_color=tool.icon_color,
            status=tool.status,
            definition=tool.definition,
            created_at=tool.created_at,
            updated_at=tool.updated_at,
            created_by=CreatedByResponse(id=by, provider_id=str(by)) if by is not None else None,
        )


class ToolArchivedResponse(Schema):
    status: Literal["archived"] = "archived"
    tool_uuid: str


class McpRefreshResponse(Schema):
    """``error`` says why the catalog could not be read; the known catalog is kept."""

    tool_uuid: str
    discovered_tools: list[dict[str, Any]]
    error: str | None = None


class ToolTestRequest(Schema):
    """``llm_params`` (alias ``arguments``) are the model's parameters, ``preset_params`` those of the call."""

    model_config = ConfigDict(extra="forbid")

    llm_params: dict[str, Any] = Field(default_factory=dict)
    preset_params: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _other_name(cls, data: Any) -> Any:
        if isinstance(data, dict) and "arguments" in data and "llm_params" not in data:
            return {("llm_params" if key == "arguments" else key): value for key, value in data.items()}
        return data


class ToolDraftTestRequest(ToolTestRequest):
    """A definition that is not stored, and what it is tested with."""

    definition: ToolDefinition


class ToolTestResponse(Schema):
    """The request as it was sent, with secrets masked, and its result."""

    status: Literal["success", "error"]
    status_code: int | None = None
    data: Any | None = None
    error: str | None = None
    hint: str | None = None
    request_method: str | None = None
    request_url: str | None = None
    request_headers: dict[str, str] = Field(default_factory=dict)
    request_body: Any | None = None
    request_params: dict[str, str] | None = None
    duration_ms: int


class CreateCredentialRequest(Schema):
    """``allowed_hosts`` lists the servers that may receive it (``crm.example.com``, ``*.example.com``); by default, the
    first server that a tool or an agent uses it for."""

    name: Name
    description: Description | None = None
    credential_type: CredentialType
    credential_data: dict[str, Any] = Field(default_factory=dict)
    allowed_hosts: Hosts | None = None


class UpdateCredentialRequest(Schema):
    """Omitted fields keep their value; a new type requires its data. ``allowed_hosts`` without ``credential_data`` requires
    the admin role; null ties the credential to the next server that it is used for."""

    name: Name | None = None
    description: Description | None = None
    credential_type: CredentialType | None = None
    credential_data: dict[str, Any] | None = None
    allowed_hosts: Hosts | None = None

    def given_values(self) -> dict[str, Any]:
        given = self.model_dump(exclude_unset=True, exclude={"credential_data"})
        return {
            name: value
            for name, value in given.items()
            if value is not None or name in {"description", "allowed_hosts"}
        }


class CredentialResponse(Schema):
    """A credential without its secret. ``allowed_hosts`` is null until the first use."""

    uuid: str
    name: str
    description: str | None
    credential_type: CredentialType
    allowed_hosts: list[str] | None
    created_at: datetime
    updated_at: datetime | None

    @classmethod
    def from_credential(cls, credential: Credential) -> "CredentialResponse":
        return cls.model_validate(
            {
                "uuid": str(credential.credential_uuid),
                "name": credential.name,
                "description": credential.description,
                "credential_type": credential.credential_type,
                "allowed_hosts": credential.allowed_hosts,
                "created_at": credential.created_at,
                "updated_at": credential.updated_at,
            }
        )


class CredentialDeletedResponse(Schema):
    status: Literal["deleted"] = "deleted"
    uuid: str
