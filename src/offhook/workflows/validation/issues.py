"""A validation issue, and the report of all issues."""

from dataclasses import asdict, dataclass
from typing import Literal

from offhook.kit.json_values import JsonObject

IssueKind = Literal["node", "edge", "workflow"]


@dataclass(frozen=True, slots=True)
class ValidationIssue:
    """One issue. ``id`` is a node's or an edge's, None for the workflow; ``field`` is dotted, e.g. ``data.prompt``."""

    kind: IssueKind
    id: str | None
    field: str | None
    code: str
    message: str

    def as_dict(self) -> JsonObject:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """All issues. Errors prevent publishing; warnings do not."""

    errors: tuple[ValidationIssue, ...] = ()
    warnings: tuple[ValidationIssue, ...] = ()

    @property
    def is_valid(self) -> bool:
        return not self.errors

    def as_dict(self) -> JsonObject:
        return {
            "is_valid": self.is_valid,
            "errors": [issue.as_dict() for issue in self.errors],
            "warnings": [issue.as_dict() for issue in self.warnings],
        }
