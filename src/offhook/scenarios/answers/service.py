"""Counts, exports and deletes the recorded answers of an agent."""

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs import Caller, write_audit_entry
from offhook.scenarios.answers import queries
from offhook.scenarios.answers.files import AnswersFile
from offhook.scenarios.answers.store import AnswerCount, AnswerStore
from offhook.workflows import service as workflows


async def count_answers(
    session: AsyncSession, store: AnswerStore, organization_id: int, workflow_id: int
) -> AnswerCount:
    """Raises WorkflowNotFound (404)."""
    await workflows.get_workflow(session, organization_id, workflow_id)
    return await store.count_answers(session, organization_id, workflow_id)


async def export_answers(session: AsyncSession, store: AnswerStore, caller: Caller, workflow_id: int) -> AnswersFile:
    """Raises WorkflowNotFound (404)."""
    await workflows.get_workflow(session, caller.organization_id, workflow_id)
    return await store.export_answers(session, caller.organization_id, workflow_id)


async def delete_answers(session: AsyncSession, caller: Caller, workflow_id: int) -> None:
    """Raises WorkflowNotFound (404)."""
    await workflows.get_workflow(session, caller.organization_id, workflow_id)
    deleted = await queries.delete_answers(session, caller.organization_id, workflow_id)
    await write_audit_entry(
        session, caller, "scenarios.answers_deleted", f"workflow:{workflow_id}", {"answers": deleted}
    )
