"""A validation issue, and the report of all issues."""

from dataclasses import dataclass
from typing import Literal

IssueKind = Literal["node", "edge", "workflow"]


@dataclass(frozen=True, slots=True)
class ValidationIssue:
    """One issue. ``id`` is a node's or an edge's, None for the workflow; ``field`` is dotted, e.g. ``data.prompt``."""

    kind: IssueKind
    id: str | None
    field: str | None
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """All issues. Errors prevent publishing; warnings do not."""

    errors: tuple[ValidationIssue, ...] = ()
    warnings: tuple[ValidationIssue, ...] = ()

    @property
    def is_valid(self) -> bool:
        return not self.errors
