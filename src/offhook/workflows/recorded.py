"""What the recordings domain asks of workflows: whether one exists, and that a renamed recording stays found."""

from collections.abc import Mapping

from sqlalchemy import String, cast, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.workflows import repository
from offhook.workflows.tables import WorkflowVersion
from offhook.workflows.validation.recordings import renamed


class WorkflowsWithRecordings:
    """Implements ``recordings.ports.RecordingUsers``."""

    async def has_workflow(self, session: AsyncSession, organization_id: int, workflow_id: int) -> bool:
        return await repository.by_id(session, organization_id, workflow_id) is not None

    async def rename_recording(self, session: AsyncSession, organization_id: int, old: str, new: str) -> int:
        """In every version, also published and archived ones, for those may be restored."""
        quoted = f'%"{old}"%'
        rows = await session.execute(
            select(WorkflowVersion)
            .where(WorkflowVersion.organization_id == organization_id)
            .where(
                or_(
                    cast(WorkflowVersion.definition, String).like(quoted),
                    cast(WorkflowVersion.configurations, String).like(quoted),
                )
            )
            .order_by(WorkflowVersion.id)
            .with_for_update()
        )
        return sum([rename_in(version, {old: new}) for version in rows.scalars()])


def rename_in(version: WorkflowVersion, names: Mapping[str, str]) -> bool:
    """Name recordings anew in one version (old names to new ones); whether that changed it."""
    definition = renamed(version.definition, names, is_definition=True)
    configurations = renamed(version.configurations, names, is_definition=False)
    if definition is not None:
        version.definition = definition
    if configurations is not None:
        version.configurations = configurations
    return definition is not None or configurations is not None
