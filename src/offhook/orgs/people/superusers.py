"""Superusers of the installation: made and unmade by its operator, on the command line."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs import service
from offhook.orgs.audit_trail.recorder import write_audit_entry
from offhook.orgs.caller import Caller
from offhook.orgs.errors import SuperuserNotFound
from offhook.orgs.people import repository
from offhook.orgs.tables import User


async def grant_superuser(session: AsyncSession, email: str) -> User:
    """Makes the user with this address a superuser; raises ``UserNotFound`` (404)."""
    user = await service.grant_superuser(session, email)
    await _record_change(session, user, "user.superuser_granted")
    return user


async def revoke_superuser(session: AsyncSession, email: str, now: datetime) -> User:
    """Ends a superuser's access, and at once the sessions that they opened in others' names.

    Raises ``SuperuserNotFound`` (404).
    """
    user = await repository.find_superuser(session, email)
    if user is None:
        raise SuperuserNotFound(f"No superuser has the email address {email}.")
    user.is_superuser = False
    await repository.revoke_borrowed_sessions(session, user.id, now)
    await _record_change(session, user, "user.superuser_revoked")
    return user


async def list_superusers(session: AsyncSession) -> Sequence[User]:
    """Returns all superusers by their address."""
    return await repository.list_superusers(session)


async def _record_change(session: AsyncSession, user: User, action: str) -> None:
    """Writes the change to the log of each organization that the person belongs to."""
    for organization, _ in await repository.organizations_of(session, user.id):
        await write_audit_entry(session, Caller.system(organization.id), action, f"user:{user.id}", service.BY_COMMAND)
