"""What the recordings domain asks of workflows: whether one exists, and that a renamed recording stays found."""

from collections.abc import Mapping

from sqlalchemy import String, cast, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.recordings import service as recordings
from offhook.workflows import repository
from offhook.workflows.definition import replace_references
from offhook.workflows.hooks import Duplication
from offhook.workflows.tables import WorkflowVersion
from offhook.workflows.validation.recordings import with_other_recordings


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
    definition = replace_references(version.definition, names)
    configurations = with_other_recordings(version.configurations, names)
    has_changed = (definition, configurations) != (version.definition, version.configurations)
    version.definition, version.configurations = definition, configurations
    return has_changed


async def copy_recordings(session: AsyncSession, duplication: Duplication) -> Mapping[str, str]:
    """A hook of duplication: the recordings that belong to the workflow, as others of the copy."""
    return await recordings.copy_for_workflow(
        session, duplication.organization_id, duplication.source_id, duplication.copy_id
    )
