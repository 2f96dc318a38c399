"""Requests and responses of workflows."""

import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AliasChoices, ConfigDict, Field, StringConstraints
from pydantic_core import PydanticCustomError, to_json

from offhook.kit.json_numbers import WholeNumber
from offhook.kit.schema import Schema
from offhook.orgs.people.members import MemberName
from offhook.workflows.changes import WorkflowChanges
from offhook.workflows.configurations import WorkflowConfigurations
from offhook.workflows.definition import DefinitionRefused, check_size, check_storable, mask_secrets
from offhook.workflows.publication import WorkflowCheck
from offhook.workflows.service import WorkflowView
from offhook.workflows.tables import WorkflowVersion


def _require_storable(definition: dict[str, Any]) -> dict[str, Any]:
    try:
        check_storable(definition)
    except DefinitionRefused as refused:
        raise _to_pydantic_error(refused) from refused
    return definition


def _require_small(value: dict[str, Any]) -> dict[str, Any]:
    try:
        check_size(value)
    except DefinitionRefused as refused:
        raise _to_pydantic_error(refused) from refused
    return value


def _to_pydantic_error(refused: DefinitionRefused) -> PydanticCustomError:
    # the message is data, not a template: its braces must not be filled
    return PydanticCustomError(refused.code, "{reason}", {"reason": str(refused)})


Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Definition = Annotated[
    dict[str, Any],
    AfterValidator(_require_storable),
    Field(description="The graph, an object with `nodes` and `edges`. A draft may be incomplete."),
]
Variables = Annotated[dict[str, Any], AfterValidator(_require_small)]
_DEFINITION_NAMES = AliasChoices("workflow_definition", "definition")


class CreateWorkflowRequest(Schema):
    """``definition`` is accepted as an alias of ``workflow_definition``."""

    name: Name
    workflow_definition: Definition = Field(validation_alias=_DEFINITION_NAMES)


class CreateWorkflowTemplateRequest(Schema):
    """Describes the agent that the organization's language model generates."""

    call_type: Literal["inbound", "outbound"]
    use_case: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
    activity_description: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=8000)]


ExpectedRevision = Annotated[
    WholeNumber | None,
    Field(ge=1, le=2**31 - 1, description="Fail with 409 if the workflow is no longer at this `revision`"),
]


class CreateDraftRequest(Schema):
    expected_revision: ExpectedRevision = None
    workflow_definition: Definition | None = Field(default=None, validation_alias=_DEFINITION_NAMES)
    workflow_configurations: WorkflowConfigurations | None = None

    def to_changes(self) -> WorkflowChanges:
        return WorkflowChanges(
            definition=self.workflow_definition, configurations=_stored_configurations(self.workflow_configurations)
        )


class UpdateWorkflowRequest(Schema):
    expected_revision: ExpectedRevision = None
    name: Name | None = None
    workflow_definition: Definition | None = Field(default=None, validation_alias=_DEFINITION_NAMES)
    workflow_configurations: WorkflowConfigurations | None = None
    template_context_variables: Variables | None = None

    def to_changes(self) -> WorkflowChanges:
        return WorkflowChanges(
            name=self.name,
            definition=self.workflow_definition,
            configurations=_stored_configurations(self.workflow_configurations),
            template_context_variables=self.template_context_variables,
        )


def _stored_configurations(sent: WorkflowConfigurations | None) -> dict[str, Any] | None:
    return None if sent is None else sent.model_dump(mode="json", exclude_unset=True, exclude_none=True)


class UpdateWorkflowStatusRequest(Schema):
    status: Literal["active", "archived"]


class MoveWorkflowToFolderRequest(Schema):
    """``null`` removes the workflow from its folder."""

    folder_id: WholeNumber | None


class FolderRequest(Schema):
    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]


class FolderResponse(Schema):
    model_config = ConfigDict(from_attributes=True)

    id: int
    name: str
    created_at: datetime
    workflow_count: int


class DeletedResponse(Schema):
    success: Literal[True] = True
    id: int


class WorkflowResponse(Schema):
    """``workflow_definition`` and ``definition`` are the same object: the draft's if there is one. ``revision`` counts
    changes: send it back as ``expected_revision`` (or the ``ETag`` as ``If-Match``) to avoid overwriting other changes."""

    id: int
    name: str
    status: str
    folder_id: int | None
    created_at: datetime
    updated_at: datetime
    workflow_uuid: uuid.UUID
    workflow_definition: dict[str, Any]
    definition: dict[str, Any]
    workflow_configurations: dict[str, Any]
    template_context_variables: dict[str, Any]
    version_number: int
    version_status: str
    current_definition_id: int
    published_version_number: int | None
    has_draft: bool
    total_runs: int
    revision: int

    @classmethod
    def from_view(cls, view: WorkflowView) -> "WorkflowResponse":
        workflow, shown = view.workflow, view.shown
        definition = mask_secrets(shown.definition)
        return cls(
            id=workflow.id,
            name=workflow.name,
            status=workflow.status,
            folder_id=workflow.folder_id,
            created_at=workflow.created_at,
            updated_at=workflow.updated_at,
            workflow_uuid=workflow.workflow_uuid,
            workflow_definition=definition,
            definition=definition,
            workflow_configurations=shown.configurations,
            template_context_variables=shown.template_context_variables,
            version_number=shown.version_number,
            version_status=shown.status,
            current_definition_id=shown.id,
            published_version_number=view.published_number,
            has_draft=view.has_draft,
            total_runs=view.total_runs,
            revision=workflow.revision,
        )


class WorkflowListResponse(Schema):
    id: int
    name: str
    status: str
    folder_id: int | None
    created_at: datetime
    total_runs: int
    workflow_uuid: uuid.UUID
    published_version_number: int | None
    has_draft: bool

    @staticmethod
    def json_of(rows: Sequence[tuple[str, int]]) -> bytes:
        """A list of them as it is sent. By hand, because models of 2,000 workflows take longer than all of the query."""
        objects = ",".join([f'{shown[:-1]},"total_runs":{runs}}}' for shown, runs in rows])
        return f"[{objects}]".encode()

    @classmethod
    def from_view(cls, view: WorkflowView) -> "WorkflowListResponse":
        workflow = view.workflow
        return cls(
            id=workflow.id,
            name=workflow.name,
            status=workflow.status,
            folder_id=workflow.folder_id,
            created_at=workflow.created_at,
            total_runs=view.total_runs,
            workflow_uuid=workflow.workflow_uuid,
            published_version_number=view.published_number,
            has_draft=view.has_draft,
        )


class WorkflowSummaryResponse(Schema):
    id: int
    name: str

    @staticmethod
    def json_of(rows: Iterable[tuple[int, str]]) -> bytes:
        """A list of them as it is sent."""
        return to_json([{"id": workflow_id, "name": name} for workflow_id, name in rows])


class WorkflowCountResponse(Schema):
    total: int
    active: int
    archived: int


class PublishWorkflowRequest(Schema):
    note: Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)] | None = Field(
        default=None, description="What changed, for the list of versions"
    )
    gate_override: Annotated[str, StringConstraints(strip_whitespace=True, min_length=3, max_length=500)] | None = (
        Field(default=None, description="Why it is published without passing its publish gate; admins only")
    )


class VersionAuthorResponse(Schema):
    """A member of the organization; ``name`` is the email address for members without a name."""

    id: int
    name: str


class WorkflowVersionResponse(Schema):
    id: int
    version_number: int
    status: str
    created_at: datetime
    published_at: datetime | None
    created_by: int | None
    author: VersionAuthorResponse | None
    note: str | None
    workflow_json: dict[str, Any]
    workflow_configurations: dict[str, Any]
    template_context_variables: dict[str, Any]

    @classmethod
    def from_version(cls, version: WorkflowVersion, author: MemberName | None = None) -> "WorkflowVersionResponse":
        return cls(
            id=version.id,
            version_number=version.version_number,
            status=version.status,
            created_at=version.created_at,
            published_at=version.published_at,
            created_by=version.created_by,
            author=VersionAuthorResponse(id=author.user_id, name=author.name) if author else None,
            note=version.note,
            workflow_json=mask_secrets(version.definition),
            workflow_configurations=version.configurations,
            template_context_variables=version.template_context_variables,
        )


class PublishWorkflowResponse(Schema):
    """``id`` is the published version's."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    workflow_id: int
    version_number: int
    status: str
    published_at: datetime | None


class WorkflowIssue(Schema):
    model_config = ConfigDict(from_attributes=True)

    kind: Literal["node", "edge", "workflow"]
    id: str | None
    field: str | None
    code: str
    message: str


class GraphFindingResponse(WorkflowIssue):
    """``severity``: `error` if a call cannot follow the graph as drawn, `warning` if it probably goes differently
    than intended."""

    severity: Literal["error", "warning"]


OfflineModeName = Literal["runs", "limited", "needs_model"]


class OfflineReasonResponse(Schema):
    model_config = ConfigDict(from_attributes=True)

    code: str
    mode: OfflineModeName
    message: str


class OfflineStepResponse(Schema):
    """``mode``: ``runs`` with the built-in offline model; ``limited``: runs approximately; ``needs_model``: requires
    a vendor's model."""

    model_config = ConfigDict(from_attributes=True)

    node_id: str
    name: str
    mode: OfflineModeName
    reasons: list[OfflineReasonResponse]


class ValidateWorkflowResponse(Schema):
    """``findings`` come from the analysis of paths through the graph; they do not prevent publishing.
    ``can_run_offline``: no step needs a vendor's model."""

    model_config = ConfigDict(from_attributes=True)

    is_valid: bool
    errors: list[WorkflowIssue]
    warnings: list[WorkflowIssue]
    findings: list[GraphFindingResponse]
    can_run_offline: bool
    offline: list[OfflineStepResponse]

    @classmethod
    def from_check(cls, check: WorkflowCheck) -> "ValidateWorkflowResponse":
        return cls(
            is_valid=check.report.is_valid,
            errors=[WorkflowIssue.model_validate(issue) for issue in check.report.errors],
            warnings=[WorkflowIssue.model_validate(issue) for issue in check.report.warnings],
            findings=[GraphFindingResponse.model_validate(finding) for finding in check.findings],
            can_run_offline=all(step.mode != "needs_model" for step in check.offline),
            offline=[OfflineStepResponse.model_validate(step) for step in check.offline],
        )
