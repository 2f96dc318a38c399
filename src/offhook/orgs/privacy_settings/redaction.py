"""What an organization redacts from its calls."""

from collections.abc import Collection
from datetime import datetime
from typing import Final, cast

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.redaction.redactor import ALL_KINDS, RedactedKind, RedactionRules
from offhook.orgs.audit_trail.recorder import write_change_entry
from offhook.orgs.caller import Caller
from offhook.orgs.privacy_settings import repository

# More would be a register of people, whose names are looked for in every turn.
MAX_NAMES: Final = 1000


async def get_redaction_rules(session: AsyncSession, organization_id: int) -> RedactionRules:
    """Returns the kinds in the order of :data:`ALL_KINDS`, none by default, and the names of the list."""
    found = await repository.find_settings(session, organization_id)
    if found is None:
        return RedactionRules()
    stored = cast("list[RedactedKind]", found.redacted_kinds)
    return RedactionRules(tuple(kind for kind in ALL_KINDS if kind in stored), tuple(found.redacted_names))


async def change_redaction_rules(
    session: AsyncSession,
    caller: Caller,
    kinds: Collection[RedactedKind],
    names: Collection[str] | None,
    now: datetime,
) -> RedactionRules:
    """Stores the kinds, and the names unless they are None, for calls that begin later. The audit log has how many names."""
    before = await get_redaction_rules(session, caller.organization_id)
    wanted = tuple(kind for kind in ALL_KINDS if kind in kinds)
    # each name once, as it was written last
    once = None if names is None else {name.casefold(): name for name in reversed(list(names))}
    rules = RedactionRules(wanted, before.names if once is None else tuple(once.values())[::-1])
    if rules != before:
        values = {"redacted_kinds": list(rules.kinds), "redacted_names": list(rules.names)}
        await repository.store_settings(session, caller.organization_id, values, now)
        target = f"organization:{caller.organization_id}"
        counts = {"kinds": list(rules.kinds), "names": len(rules.names)}
        await write_change_entry(session, caller, "redaction.changed", target, counts)
    return rules
