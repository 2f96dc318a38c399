"""Ends a canary by hand, and tells the organization's webhooks."""

from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.canary.tasks import publish_end
from offhook.orgs import Caller
from offhook.workflows import WorkflowCanary
from offhook.workflows.canaries import service as canaries
from offhook.workflows.canaries.service import CanaryEnd

_BY_HAND = "by_hand"


async def end_by_hand(
    session: AsyncSession, caller: Caller, workflow_id: int, decision: str, explanation: str, now: datetime
) -> WorkflowCanary:
    """Gives all calls to the new version (``forward``) or to the old one (``back``). Raises WorkflowNotFound, CanaryNotFound
    (404), CanaryNotRunning (409)."""
    end = CanaryEnd(decision, _BY_HAND, explanation)
    ended = await canaries.end_by_hand(session, caller, workflow_id, end, now)
    await publish_end(session, ended)
    return ended
