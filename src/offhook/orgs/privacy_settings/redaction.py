"""What an organization redacts in what is said on its calls."""

from collections.abc import Collection
from datetime import datetime
from typing import cast

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.redaction.redactor import ALL_KINDS, RedactedKind
from offhook.orgs.audit_trail.recorder import write_audit_entry
from offhook.orgs.caller import Caller
from offhook.orgs.privacy_settings import repository


async def list_redacted_kinds(session: AsyncSession, organization_id: int) -> list[RedactedKind]:
    """Returns the kinds in the order of :data:`ALL_KINDS`; none unless somebody chose some."""
    found = await repository.find_settings(session, organization_id)
    stored = cast("list[RedactedKind]", found.redacted_kinds if found is not None else [])
    return [kind for kind in ALL_KINDS if kind in stored]


async def change_redacted_kinds(
    session: AsyncSession, caller: Caller, kinds: Collection[RedactedKind], now: datetime
) -> list[RedactedKind]:
    """Stores the kinds and records them in the audit log. It applies to calls that begin later."""
    wanted = [kind for kind in ALL_KINDS if kind in kinds]
    if wanted != await list_redacted_kinds(session, caller.organization_id):
        await repository.store_settings(session, caller.organization_id, {"redacted_kinds": wanted}, now)
        target = f"organization:{caller.organization_id}"
        await write_audit_entry(session, caller, "redaction.changed", target, {"kinds": wanted})
    return wanted
