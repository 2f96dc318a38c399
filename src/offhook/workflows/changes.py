"""What an editor changes of a workflow."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from offhook.workflows.definition import complete_definition
from offhook.workflows.tables import Workflow, WorkflowVersion


@dataclass(frozen=True, slots=True)
class WorkflowChanges:
    """What an editor sent; None means unchanged."""

    name: str | None = None
    definition: Mapping[str, Any] | None = None
    configurations: Mapping[str, Any] | None = None
    template_context_variables: Mapping[str, Any] | None = None

    @property
    def are_versioned(self) -> bool:
        parts = (self.definition, self.configurations, self.template_context_variables)
        return any(part is not None for part in parts)

    @property
    def changed_fields(self) -> list[str]:
        return [name for name in self.__slots__ if getattr(self, name) is not None]

    def without_unchanged(self, workflow: Workflow, shown: WorkflowVersion | None) -> Self:
        """The changes without what is so already: an editor that sends back what it has read makes no draft."""
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
