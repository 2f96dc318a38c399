"""The file of an agent, and what its import answers."""

from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, StringConstraints, field_validator
from pydantic_core import PydanticCustomError

from offhook.kit.json_numbers import WholeNumber
from offhook.kit.json_values import JsonObject
from offhook.kit.schema import Schema
from offhook.tools.definitions import Category
from offhook.workflows.configurations import WorkflowConfigurations
from offhook.workflows.schemas import Definition, Name, Variables, WorkflowResponse

FILE_FORMAT: Final = "offhook.agent"
FILE_VERSION: Final = 1
FileId = Annotated[str, StringConstraints(min_length=1, max_length=64)]
ShortName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=255)]


class _Part(Schema):
    """``id`` is how the definition of this file names it."""

    model_config = ConfigDict(extra="forbid")

    id: FileId
    name: ShortName


class AgentFileTool(_Part):
    """``definition`` as in the API, without secrets; its ``credential_uuid`` is an ``id`` of ``credentials``."""

    description: Annotated[str, StringConstraints(max_length=4000)] | None = None
    category: Category
    definition: dict[str, Any]


class AgentFileDocument(_Part):
    """A document by its name; its text is not in the file."""


class AgentFileCredential(_Part):
    """A credential by its name; its secret is not in the file."""


class AgentFile(Schema):
    """An agent without secrets, keys and documents, as a file that another organization or installation can import.

    ``omitted`` lists the places of secrets that the agent had."""

    model_config = ConfigDict(extra="forbid")

    format: str = Field(description=f"Always `{FILE_FORMAT}`")
    version: WholeNumber = Field(description=f"Version of the format, {FILE_VERSION} today")
    name: Name
    workflow_definition: Definition
    workflow_configurations: WorkflowConfigurations = Field(default_factory=WorkflowConfigurations)
    template_context_variables: Variables = Field(default_factory=dict)
    tools: Annotated[list[AgentFileTool], Field(max_length=100)] = Field(default_factory=list)
    documents: Annotated[list[AgentFileDocument], Field(max_length=500)] = Field(default_factory=list)
    credentials: Annotated[list[AgentFileCredential], Field(max_length=100)] = Field(default_factory=list)
    recordings: Annotated[list[FileId], Field(max_length=500)] = Field(default_factory=list)
    scenarios: Annotated[list[JsonObject], Field(max_length=200)] = Field(default_factory=list)
    omitted: list[str] = Field(default_factory=list)

    @field_validator("format")
    @classmethod
    def _is_agent_file(cls, value: str) -> str:
        if value != FILE_FORMAT:
            raise PydanticCustomError(
                "agent_file_unknown", f"This is not the file of an agent: its format is not “{FILE_FORMAT}”."
            )
        return value

    @field_validator("version")
    @classmethod
    def _is_known_version(cls, value: int) -> int:
        if value != FILE_VERSION:
            raise PydanticCustomError(
                "agent_file_version",
                f"This server reads version {FILE_VERSION} of the format. Export the agent again, or update the server.",
            )
        return value


class ImportedPart(Schema):
    """Something missing after the import; ``message`` says what to do."""

    kind: Literal["tool", "document", "credential", "recording", "models", "value"]
    name: str
    message: str


class ImportWorkflowResponse(Schema):
    """The new draft. ``created_tools`` are names; ``missing`` is what to add or choose before it works as before."""

    workflow: WorkflowResponse
    created_tools: list[str]
    missing: list[ImportedPart]
