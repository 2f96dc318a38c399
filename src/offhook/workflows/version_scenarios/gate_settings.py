"""What an agent demands before it is published: stored here, judged by the scenarios domain."""

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database_clock import time_of
from offhook.kit.json_values import JsonObject
from offhook.orgs import Caller, skip_audit_entry, write_audit_entry
from offhook.workflows import repository, service


async def get_gate(session: AsyncSession, organization_id: int, workflow_id: int) -> JsonObject:
    """Returns the demands, empty without any. Raises WorkflowNotFound (404)."""
    return (await service.get_workflow(session, organization_id, workflow_id)).publish_gate


async def set_gate(session: AsyncSession, caller: Caller, workflow_id: int, gate: JsonObject) -> None:
    """Replaces the demands. Raises WorkflowNotFound (404)."""
    workflow = await service.get_workflow(session, caller.organization_id, workflow_id, lock="change")
    if workflow.publish_gate == gate:
        skip_audit_entry(session)
        return
    workflow.publish_gate = gate
    await repository.mark_changed(session, workflow, time_of(session))
    await write_audit_entry(session, caller, "workflow.publish_gate_changed", f"workflow:{workflow_id}", gate)


async def current_version_ids(
    session: AsyncSession, organization_id: int, workflow_id: int
) -> tuple[int | None, int | None]:
    """Returns the ids of the draft and of the published version."""
    draft, published = await repository.latest_versions(session, organization_id, workflow_id)
    return draft.id if draft is not None else None, published.id if published is not None else None
