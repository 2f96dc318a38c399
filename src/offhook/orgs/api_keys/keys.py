"""Changes of API keys, each with its entry in the audit log."""

from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs import repository, service
from offhook.orgs.audit_trail.recorder import skip_audit_entry, write_audit_entry
from offhook.orgs.caller import ADMINS, Caller
from offhook.orgs.errors import KeyExpiryInvalid, KeyMakerNotAdmin
from offhook.orgs.people.members import hold_admin
from offhook.orgs.schemas import ApiKeyCreate
from offhook.orgs.service import NewKey
from offhook.orgs.tables import ApiKey


async def create_key(session: AsyncSession, caller: Caller, body: ApiKeyCreate, now: datetime) -> NewKey:
    """Creates a key; raises ``KeyExpiryInvalid`` (422) for an expiry that has passed."""
    if body.expires_at is not None and body.expires_at <= now:
        raise KeyExpiryInvalid(field="expires_at")
    await hold_admin(session, caller)
    new = await service.create_key(
        session,
        organization_id=caller.organization_id,
        name=body.name,
        role=body.role,
        scopes=body.scopes,
        networks=body.networks,
        expires_at=body.expires_at,
        created_by=caller.user_id,
    )
    data = body.model_dump(mode="json")
    await write_audit_entry(session, caller, "api_key.created", f"api_key:{new.record.id}", data)
    return new


async def create_key_by_command(session: AsyncSession, organization_id: int, name: str, role: str) -> NewKey:
    """Creates a key without limits for the operator's shell."""
    new = await service.create_key(session, organization_id=organization_id, name=name, role=role)
    data = {"name": name, "role": role, **service.BY_COMMAND}
    actor = Caller.system(organization_id, role="owner")
    await write_audit_entry(session, actor, "api_key.created", f"api_key:{new.record.id}", data)
    return new


async def set_archived(session: AsyncSession, caller: Caller, key_id: int, archived_at: datetime | None) -> ApiKey:
    """Archives a key, or reactivates it with None, from the next request on.

    Raises ``ApiKeyNotFound`` (404) and ``KeyMakerNotAdmin`` (409).
    """
    if archived_at is None:
        # Its maker's role must hold, too: a demotion ends the keys that are active, not those that are becoming so.
        await hold_admin(session, caller)
    record, changed = await service.set_key_archived(session, caller.organization_id, key_id, archived_at)
    if changed and archived_at is None and record.created_by is not None:
        maker = await repository.find_membership(session, caller.organization_id, record.created_by)
        if maker is None or maker[1] not in ADMINS:
            raise KeyMakerNotAdmin
    if changed:
        action = "api_key.reactivated" if archived_at is None else "api_key.archived"
        await write_audit_entry(session, caller, action, f"api_key:{key_id}")
    else:
        skip_audit_entry(session)
    return record
