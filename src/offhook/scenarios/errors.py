"""Errors of scenarios, with their codes."""

from dataclasses import dataclass

from offhook.errors import DomainError


@dataclass(frozen=True, slots=True)
class ScenarioIssue:
    """One thing that is wrong in a file. ``path`` names the field: ``scenarios[2].expect.edges``."""

    path: str
    code: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class ScenariosInvalid(DomainError):
    """The scenarios cannot be read."""

    code = "scenarios_invalid"
    status = 422

    def __init__(self, issues: tuple[ScenarioIssue, ...]) -> None:
        self.issues = issues
        shown = "; ".join(str(issue) for issue in issues[:5])
        more = f"; and {len(issues) - 5} more" if len(issues) > 5 else ""
        super().__init__(f"{shown}{more}", field=issues[0].path or None)


class AgentNotTestable(DomainError):
    """The agent cannot hold a conversation."""

    code = "agent_not_testable"
    status = 422
