"""Changes of API keys, each with its entry in the audit log."""

from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs import service
from offhook.orgs.audit_trail.recorder import skip_audit_entry, write_audit_entry
from offhook.orgs.caller import Caller
from offhook.orgs.service import NewKey
from offhook.orgs.tables import ApiKey


async def create_key(session: AsyncSession, caller: Caller, name: str, role: str) -> NewKey:
    new = await service.create_key(
        session, organization_id=caller.organization_id, name=name, role=role, created_by=caller.user_id
    )
    await write_audit_entry(
        session, caller, "api_key.created", f"api_key:{new.record.id}", {"name": name, "role": role}
    )
    return new


async def archive_key(session: AsyncSession, caller: Caller, key_id: int, now: datetime) -> ApiKey:
    """Archives a key, which stops working with the next request; raises ``ApiKeyNotFound`` (404)."""
    record, changed = await service.archive_key(session, caller.organization_id, key_id, now)
    await _audit_change(session, caller, "api_key.archived", key_id, changed=changed)
    return record


async def reactivate_key(session: AsyncSession, caller: Caller, key_id: int) -> ApiKey:
    """Reactivates a key, which works again from the next request on; raises ``ApiKeyNotFound`` (404)."""
    record, changed = await service.reactivate_key(session, caller.organization_id, key_id)
    await _audit_change(session, caller, "api_key.reactivated", key_id, changed=changed)
    return record


async def _audit_change(session: AsyncSession, caller: Caller, action: str, key_id: int, *, changed: bool) -> None:
    if changed:
        await write_audit_entry(session, caller, action, f"api_key:{key_id}")
    else:
        skip_audit_entry(session)
