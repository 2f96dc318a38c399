"""Which member an identity is: the rules that keep one organization's provider out of everything else.

An organization's provider says whatever its administrators want, also that somebody has another person's address. So it opens
sessions of this organization only (``by_provider``), for members of this organization, never for superusers, and makes an account
only for an address that has none.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs import repository as organizations
from offhook.orgs import service
from offhook.orgs.audit_trail.recorder import write_audit_entry
from offhook.orgs.caller import Caller
from offhook.orgs.errors import EmailTaken
from offhook.orgs.identity_provider import repository
from offhook.orgs.identity_provider.errors import (
    AccountElsewhere,
    AccountLinkedDifferently,
    AccountProtected,
    AddressNotVerified,
    DomainNotAllowed,
    NotInvited,
)
from offhook.orgs.identity_provider.id_tokens import Identity
from offhook.orgs.identity_provider.providers import is_domain_allowed
from offhook.orgs.people import repository as people
from offhook.orgs.schemas import normalize_email
from offhook.orgs.tables import IdentityProvider, User


@dataclass(frozen=True, slots=True)
class LinkedMember:
    """The member behind an identity, with the role."""

    user: User
    role: str


async def resolve_member(
    session: AsyncSession, provider: IdentityProvider, identity: Identity, now: datetime, ip: str | None
) -> LinkedMember:
    """Returns the member of this identity, linking it to the member with its address or making an account if needed.

    Raises ``AddressNotVerified``, ``DomainNotAllowed``, ``NotInvited``, ``AccountElsewhere``, ``AccountProtected`` and
    ``AccountLinkedDifferently`` (403), and ``OrganizationClosed`` (409).
    """
    email = _confirmed_address(provider, identity)
    organization_id = provider.organization_id
    # Before an invitation and the person, as who removes a member: otherwise the two wait for each other.
    await service.require_open(session, organization_id)
    linked = await repository.find_identity(session, organization_id, provider.issuer, identity.subject)
    user_id = linked.user_id if linked is not None else None
    if user_id is None:
        user = await organizations.user_by_email(session, email)
        user_id = user.id if user is not None else await _join(session, provider, email, identity.name, now, ip)
    await people.lock_user(session, user_id)
    membership = await organizations.find_membership(session, organization_id, user_id)
    if membership is None:
        raise AccountElsewhere
    user, role = membership
    if user.is_superuser:
        raise AccountProtected
    if linked is None:
        if not await repository.link_identity(
            session, organization_id, user.id, provider.issuer, identity.subject, now
        ):
            raise AccountLinkedDifferently
        actor = _as_caller(organization_id, user.id, role, ip)
        await write_audit_entry(session, actor, "identity.linked", f"user:{user.id}", {"issuer": provider.issuer})
    return LinkedMember(user, role)


def _confirmed_address(provider: IdentityProvider, identity: Identity) -> str:
    try:
        email = normalize_email(identity.email or "")
    except ValueError:
        raise AddressNotVerified from None
    if not is_domain_allowed(provider, email):
        raise DomainNotAllowed
    return email


async def _join(
    session: AsyncSession, provider: IdentityProvider, email: str, name: str | None, now: datetime, ip: str | None
) -> int:
    """Makes an account for an address that has none, by its open invitation or in the provider's role; returns its id."""
    invitation = await repository.accept_open_invitation(session, provider.organization_id, email, now)
    role = invitation.role if invitation is not None else provider.joins_as
    if role is None:
        raise NotInvited
    try:
        user = await service.create_user(session, email, name=name)
    except EmailTaken:
        # by a concurrent request
        raise AccountElsewhere from None
    await service.add_member(session, provider.organization_id, user.id, role)
    actor = _as_caller(provider.organization_id, user.id, role, ip)
    data = {"by": "identity provider", "role": role, "invitation_id": invitation.id if invitation else None}
    await write_audit_entry(session, actor, "member.joined", f"user:{user.id}", data)
    return user.id


def _as_caller(organization_id: int, user_id: int, role: str, ip: str | None) -> Caller:
    return Caller(organization_id, user_id=user_id, key_id=None, role=role, is_superuser=False, ip=ip)
