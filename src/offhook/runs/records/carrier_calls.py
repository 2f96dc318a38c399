"""Carriers' reports on who answered a call."""

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.finishing import costs
from offhook.runs.records import repository
from offhook.runs.records.answered_by import ANSWERED_BY, MACHINE
from offhook.usage import service as usage_service


async def record_human_answer(session: AsyncSession, organization_id: int, run_id: int) -> None:
    """Records that the carrier detected a person."""
    await repository.merge_gathered_context(session, organization_id, run_id, {ANSWERED_BY: "human"})


async def record_machine_answer(session: AsyncSession, organization_id: int, run_id: int) -> bool:
    """Records that the carrier detected an answering machine: the call is a voicemail, even if it is already over.

    Returns whether the call was over and counted as answered until now.
    """
    await repository.merge_gathered_context(session, organization_id, run_id, {ANSWERED_BY: MACHINE})
    run = await repository.change_answered_to_voicemail(session, organization_id, run_id)
    if run is not None and await usage_service.is_counted(session, organization_id, run_id):
        await costs.charge_run(session, run)
    return run is not None
