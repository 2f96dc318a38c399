"""Access that a request still has when it writes: it was let in before it waited for a carrier, a vendor or an upload."""

from dataclasses import replace

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.errors import Forbidden
from offhook.orgs import repository
from offhook.orgs.caller import ROLES, Caller
from offhook.orgs.errors import InvalidApiKey, InvalidToken


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
    if caller.key_id is not None:
        if not await repository.is_key_usable(session, caller.organization_id, caller.key_id):
            raise InvalidApiKey
        return
    role = await repository.role_in_session(session, caller.organization_id, caller.user_id, caller.session_id)
    if role is None:
        raise InvalidToken
    if ROLES.index(role) > ROLES.index(caller.role):
        raise Forbidden("Your role was lowered while this request was under way.")


def as_begun(caller: Caller) -> Caller:
    """Returns the caller of something that can no longer be left undone, because a carrier or the storage has done its part.

    It began with :func:`hold_access`.
    """
    return replace(caller, session_id=None, scopes=None)
