"""A finding of the graph's analysis."""

from dataclasses import dataclass
from typing import Literal

from offhook.workflows.validation.issues import IssueKind

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class GraphFinding:
    """One finding, addressed like a validation issue. ``severity`` error: a call cannot go as it is drawn; warning: it
    is likely that a call goes differently than its author means."""

    kind: IssueKind
    id: str | None
    field: str | None
    code: str
    severity: Severity
    message: str
