"""Renames recordings in the definitions of workflows."""

from collections.abc import Mapping

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
        """Renames it in every version, including published and archived ones, which may be restored."""
        versions = await repository.lock_versions_naming(session, organization_id, old)
        return sum([rename_recordings_in(version, {old: new}) for version in versions])


def rename_recordings_in(version: WorkflowVersion, names: Mapping[str, str]) -> bool:
    """Renames recordings in one version (old names to new ones); returns True when that changed it."""
    definition = replace_references(version.definition, names)
    configurations = replace_configured_recordings(version.configurations, names)
    has_changed = (definition, configurations) != (version.definition, version.configurations)
    version.definition, version.configurations = definition, configurations
    return has_changed


async def copy_recordings(session: AsyncSession, duplication: WorkflowDuplication) -> Mapping[str, str]:
    """Copies the recordings that belong to a duplicated workflow."""
    return await recordings.copy_for_workflow(
        session, duplication.organization_id, duplication.source_id, duplication.copy_id
    )
