"""What the recordings domain asks of workflows: whether one exists, and that a renamed recording stays found."""

from collections.abc import Mapping

from sqlalchemy import String, cast, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.recordings import service as recordings
from offhook.workflows import repository
from offhook.workflows.definition import replace_references
from offhook.workflows.hooks import WorkflowDuplication
from offhook.workflows.tables import WorkflowVersion
from offhook.workflows.validation.recordings import replace_configured_recordings


class WorkflowRecordingUsers:
    """Implements ``recordings.ports.RecordingUsers``."""

    async def has_workflow(self, session: AsyncSession, organization_id: int, workflow_id: int) -> bool:
        return await repository.find_workflow(session, organization_id, workflow_id) is not None

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
        return sum([rename_recordings_in(version, {old: new}) for version in rows.scalars()])


def rename_recordings_in(version: WorkflowVersion, names: Mapping[str, str]) -> bool:
    """Name recordings anew in one version (old names to new ones); whether that changed it."""
    definition = replace_references(version.definition, names)
    configurations = replace_configured_recordings(version.configurations, names)
    has_changed = (definition, configurations) != (version.definition, version.configurations)
    version.definition, version.configurations = definition, configurations
    return has_changed


async def copy_recordings(session: AsyncSession, duplication: WorkflowDuplication) -> Mapping[str, str]:
    """A hook of duplication: the recordings that belong to the workflow, as others of the copy."""
    return await recordings.copy_for_workflow(
        session, duplication.organization_id, duplication.source_id, duplication.copy_id
    )
