"""Workflows, which users call agents: their graphs, their versions and what runs of them."""

from offhook.root import Root
from offhook.workflows import endpoints
from offhook.workflows.ports import NoRuns, NoTools, RunCounter, ToolCatalogue


def register(root: Root) -> None:
    """Add the routes; the runs and the tools domains replace the counter and the catalogue."""
    root.provide(RunCounter, NoRuns())  # type: ignore[type-abstract]
    root.provide(ToolCatalogue, NoTools())  # type: ignore[type-abstract]
    root.api.include_router(endpoints.workflows)
    root.api.include_router(endpoints.node_types)
