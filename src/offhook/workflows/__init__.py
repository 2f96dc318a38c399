"""Workflows, which users call agents: their graphs, their versions and what runs of them."""

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.root import Root
from offhook.tools import ReferenceFinder
from offhook.workflows import endpoints, repository
from offhook.workflows.ports import NoRuns, NoTools, RunCounter, ToolCatalogue


class _References:
    """Implements ``tools.ReferenceFinder``."""

    async def workflows_naming(self, session: AsyncSession, organization_id: int, uuid: str) -> list[str]:
        return await repository.names_with_text(session, organization_id, uuid)


def register(root: Root) -> None:
    """Add the routes; the runs and the tools domains replace the counter and the catalogue."""
    root.provide(RunCounter, NoRuns())  # type: ignore[type-abstract]
    root.provide(ToolCatalogue, NoTools())  # type: ignore[type-abstract]
    root.provide(ReferenceFinder, _References())  # type: ignore[type-abstract]
    root.api.include_router(endpoints.workflows)
    root.api.include_router(endpoints.node_types)
