"""Requests and responses of the scenarios that an agent keeps."""

from typing import Annotated, Any

from pydantic import Field

from offhook.kit.schema import Schema
from offhook.scenarios.definition import MAX_SCENARIOS, Scenario
from offhook.scenarios.errors import ScenarioIssue
from offhook.scenarios.stored.service import AgentScenarios
from offhook.workflows.schemas import ExpectedRevision

PlainScenario = Annotated[
    dict[str, Any], Field(description="A scenario as in a file, without default values. See docs/scenarios.md")
]


class ReplaceScenariosRequest(Schema):
    scenarios: Annotated[list[Scenario], Field(max_length=MAX_SCENARIOS)]
    expected_revision: ExpectedRevision = None


class ScenarioListResponse(Schema):
    """The scenarios of one version. ``revision`` is the workflow's: they change with its draft."""

    workflow_id: int
    version_number: int
    version_status: str
    revision: int
    scenarios: list[PlainScenario]

    @classmethod
    def from_agent(cls, workflow_id: int, found: AgentScenarios) -> "ScenarioListResponse":
        return cls(
            workflow_id=workflow_id,
            version_number=found.version_number,
            version_status=found.version_status,
            revision=found.revision,
            scenarios=list(found.plain),
        )


class CheckScenariosRequest(Schema):
    """Scenarios as a file: YAML, or JSON."""

    yaml: Annotated[str, Field(max_length=1024 * 1024)]


class ScenarioIssueResponse(Schema):
    """``path`` names the field: ``scenarios[2].expect.edges``. ``code`` is stable."""

    path: str
    code: str
    message: str

    @classmethod
    def from_issue(cls, issue: ScenarioIssue) -> "ScenarioIssueResponse":
        return cls(path=issue.path, code=issue.code, message=issue.message)


class CheckScenariosResponse(Schema):
    """``scenarios`` are those of a file without issues, and ``yaml`` the same as `export_scenarios` writes them."""

    is_valid: bool
    issues: list[ScenarioIssueResponse]
    scenarios: list[PlainScenario]
    yaml: str | None
