"""The audit log: who changed what, from where."""

from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs.caller import Caller
from offhook.orgs.tables import AuditEntry


async def audit(
    session: AsyncSession,
    caller: Caller,
    action: str,
    target: str | None = None,
    data: dict[str, Any] | None = None,
    ip: str | None = None,
) -> None:
    """Write one entry in the caller's transaction, so that a change and its entry live or die together.

    ``action`` is ``"noun.verb"`` (``"workflow.published"``), ``target`` names the thing (``"workflow:12"``), ``data``
    holds no secret. ``ip`` is the caller's own address unless given.
    """
    session.add(
        AuditEntry(
            organization_id=caller.organization_id,
            actor_user_id=caller.user_id,
            actor_key_id=caller.key_id,
            impersonator_id=caller.impersonator_id,
            action=action,
            target=target,
            ip=ip or caller.ip,
            data=data or {},
        )
    )
    await session.flush()
