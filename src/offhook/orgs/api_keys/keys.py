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


async def set_archived(session: AsyncSession, caller: Caller, key_id: int, archived_at: datetime | None) -> ApiKey:
    """Archives a key, or reactivates it with None, from the next request on; raises ``ApiKeyNotFound`` (404)."""
    record, changed = await service.set_key_archived(session, caller.organization_id, key_id, archived_at)
    if changed:
        action = "api_key.reactivated" if archived_at is None else "api_key.archived"
        await write_audit_entry(session, caller, action, f"api_key:{key_id}")
    else:
        skip_audit_entry(session)
    return record
