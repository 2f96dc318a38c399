"""An editor's changes to a workflow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from offhook.workflows.definition import complete_definition
from offhook.workflows.tables import Workflow, WorkflowVersion


@dataclass(frozen=True, slots=True)
class WorkflowChanges:
    """Changes from an editor; None means unchanged."""

    name: str | None = None
    definition: Mapping[str, Any] | None = None
    configurations: Mapping[str, Any] | None = None
    template_context_variables: Mapping[str, Any] | None = None
    scenarios: Sequence[Any] | None = None

    @property
    def are_versioned(self) -> bool:
        parts = (self.definition, self.configurations, self.template_context_variables, self.scenarios)
        return any(part is not None for part in parts)

    @property
    def changed_fields(self) -> list[str]:
        return [name for name in self.__slots__ if getattr(self, name) is not None]

    def without_unchanged(self, workflow: Workflow, shown: WorkflowVersion | None) -> Self:
        """Returns the changes without values that are already set: sending back the same workflow makes no draft."""
        if shown is None:
            return self
        definition = self.definition
        if definition is not None and complete_definition(definition, shown.definition) == shown.definition:
            definition = None
        variables = self.template_context_variables
        return replace(
            self,
            name=None if self.name == workflow.name else self.name,
            definition=definition,
            configurations=None if self.configurations == shown.configurations else self.configurations,
            template_context_variables=None if variables == shown.template_context_variables else variables,
        )
