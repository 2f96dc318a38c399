"""Access that a request still has when it writes: it was let in before it waited for a carrier, a vendor or an upload."""

from dataclasses import replace
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.errors import Forbidden
from offhook.kit.database.database_clock import time_of
from offhook.orgs import repository
from offhook.orgs.access_rules import CALL
from offhook.orgs.caller import ROLES, WRITERS, Caller
from offhook.orgs.errors import InvalidApiKey, InvalidToken, KeyScopeMissing


async def hold_access(session: AsyncSession, caller: Caller) -> None:
    """Holds what the caller was let in with until the transaction ends: a demotion or removal waits for it.

    Jobs that finish what a person began, and superusers, need none. Raises ``InvalidToken`` and ``InvalidApiKey`` (401),
    ``Forbidden`` (403) after a demotion.
    """
    is_person, is_key = caller.session_id is not None, caller.scopes is not None
    if caller.is_superuser or not (is_person or is_key):
        return
    # Changes of roles and keys take the lock of the organization first.
    await repository.is_closed(session, caller.organization_id)
    now = time_of(session)
    if caller.key_id is not None:
        if not await repository.is_key_usable(session, caller.organization_id, caller.key_id, now):
            raise InvalidApiKey
        return
    role = await repository.role_in_session(session, caller.organization_id, caller.user_id, caller.session_id, now)
    if role is None:
        raise InvalidToken
    if ROLES.index(role) > ROLES.index(caller.role):
        raise Forbidden("Your role was lowered while this request was under way.")


def refuse_without_call_scope(caller: Caller) -> None:
    """Raises ``KeyScopeMissing`` (403) if an API key without the scope ``call`` schedules calls."""
    if caller.scopes is not None and CALL not in caller.scopes:
        raise KeyScopeMissing(f"This API key lacks the scope {CALL!r}. Use another key, or create one with this scope.")


async def may_still_call(
    session: AsyncSession, organization_id: int, *, user_id: int | None, key_id: int | None, now: datetime
) -> bool:
    """Returns whether the person or API key that scheduled calls may still place them: a member whose role
    allows it, or a key with such a role and the scope ``call`` that was not archived and has not expired. Holds it as
    :func:`hold_access` does.
    """
    if await repository.is_closed(session, organization_id):
        return False
    if key_id is not None:
        key = await repository.key_by_id(session, organization_id, key_id)
        is_usable = key is not None and key.archived_at is None and (key.expires_at is None or key.expires_at > now)
        return key is not None and is_usable and key.role in WRITERS and CALL in key.scopes
    found = None if user_id is None else await repository.find_membership(session, organization_id, user_id)
    return found is not None and found[1] in WRITERS


def as_begun(caller: Caller) -> Caller:
    """Returns the caller of something that can no longer be left undone, because a carrier or the storage has done its part.

    It began with :func:`hold_access`.
    """
    return replace(caller, session_id=None, scopes=None)
