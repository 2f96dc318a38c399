"""Statements on identity providers, the identities of members, and sign-ins under way."""

from datetime import datetime

from sqlalchemy import delete, exists, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs.tables import (
    IdentityProvider,
    Invitation,
    MemberIdentity,
    ProviderSignInAttempt,
    SignInChallenge,
    UserSession,
)


async def find_provider(session: AsyncSession, organization_id: int) -> IdentityProvider | None:
    return await session.get(IdentityProvider, organization_id, populate_existing=True)


async def is_name_taken(session: AsyncSession, organization_id: int, name: str) -> bool:
    """Returns whether another organization has this sign-in name."""
    statement = select(
        exists().where(IdentityProvider.sign_in_name == name, IdentityProvider.organization_id != organization_id)
    )
    return bool(await session.scalar(statement))


async def store_provider(session: AsyncSession, organization_id: int, values: dict[str, object]) -> None:
    await session.execute(
        insert(IdentityProvider)
        .values(organization_id=organization_id, **values)
        .on_conflict_do_update(index_elements=[IdentityProvider.organization_id], set_=values)
    )


async def delete_provider(session: AsyncSession, organization_id: int) -> bool:
    deleted = await session.scalar(
        delete(IdentityProvider)
        .where(IdentityProvider.organization_id == organization_id)
        .returning(IdentityProvider.organization_id)
    )
    return deleted is not None


async def forget_provider_sign_ins(session: AsyncSession, organization_id: int, now: datetime) -> int:
    """Ends what the provider has let in or is about to: its identities, sign-ins under way, challenges and sessions.

    Returns how many sessions ended.
    """
    await session.execute(delete(MemberIdentity).where(MemberIdentity.organization_id == organization_id))
    await session.execute(delete(ProviderSignInAttempt).where(ProviderSignInAttempt.organization_id == organization_id))
    await session.execute(
        delete(SignInChallenge).where(
            SignInChallenge.organization_id == organization_id, SignInChallenge.by_provider.is_(True)
        )
    )
    return await revoke_provider_sessions(session, organization_id, None, now)


async def revoke_provider_sessions(
    session: AsyncSession, organization_id: int, user_id: int | None, now: datetime
) -> int:
    """Ends the sessions that the provider opened, of one member or of all; returns how many."""
    statement = (
        update(UserSession)
        .where(UserSession.organization_id == organization_id, UserSession.by_provider.is_(True))
        .where(UserSession.revoked_at.is_(None), UserSession.expires_at > now)
        .values(revoked_at=now)
        .returning(UserSession.id)
    )
    if user_id is not None:
        statement = statement.where(UserSession.user_id == user_id)
    return len((await session.scalars(statement)).all())


async def find_identity(
    session: AsyncSession, organization_id: int, issuer: str, subject: str
) -> MemberIdentity | None:
    return await session.scalar(
        select(MemberIdentity).where(
            MemberIdentity.organization_id == organization_id,
            MemberIdentity.issuer == issuer,
            MemberIdentity.subject == subject,
        )
    )


async def link_identity(
    session: AsyncSession, organization_id: int, user_id: int, issuer: str, subject: str, now: datetime
) -> bool:
    """Links an identity to a member; False when the member has another one, also by a concurrent sign-in."""
    linked = await session.scalar(
        insert(MemberIdentity)
        .values(organization_id=organization_id, user_id=user_id, issuer=issuer, subject=subject, created_at=now)
        .on_conflict_do_nothing()
        .returning(MemberIdentity.id)
    )
    if linked is not None:
        return True
    found = await find_identity(session, organization_id, issuer, subject)
    return found is not None and found.user_id == user_id


async def unlink_identity(session: AsyncSession, organization_id: int, user_id: int) -> bool:
    unlinked = await session.scalar(
        delete(MemberIdentity)
        .where(MemberIdentity.organization_id == organization_id, MemberIdentity.user_id == user_id)
        .returning(MemberIdentity.id)
    )
    return unlinked is not None


async def linked_members(session: AsyncSession, organization_id: int) -> set[int]:
    """Returns the members who have an identity of the provider, by user id."""
    statement = select(MemberIdentity.user_id).where(MemberIdentity.organization_id == organization_id)
    return set(await session.scalars(statement))


async def accept_open_invitation(
    session: AsyncSession, organization_id: int, email: str, now: datetime
) -> Invitation | None:
    """Marks the address's open invitation as accepted and returns it."""
    newest = (
        select(Invitation.id)
        .where(Invitation.organization_id == organization_id, func.lower(Invitation.email) == func.lower(email))
        .where(Invitation.accepted_at.is_(None), Invitation.revoked_at.is_(None), Invitation.expires_at > now)
        .order_by(Invitation.id.desc())
        .limit(1)
        .with_for_update()
        .scalar_subquery()
    )
    return await session.scalar(
        update(Invitation)
        .where(Invitation.organization_id == organization_id, Invitation.id == newest)
        .values(accepted_at=now)
        .returning(Invitation)
    )


async def store_attempt(session: AsyncSession, attempt: ProviderSignInAttempt) -> None:
    session.add(attempt)
    await session.flush()


# Below: before the organization of a sign-in is known.


async def provider_by_name(session: AsyncSession, name: str) -> IdentityProvider | None:
    return await session.scalar(select(IdentityProvider).where(IdentityProvider.sign_in_name == name))


async def spend_attempt(
    session: AsyncSession, state_sha256: bytes, secret_sha256: bytes, now: datetime
) -> ProviderSignInAttempt | None:
    """Takes a sign-in out of the table: of two requests with its state, one gets it, and only the browser that began it."""
    return await session.scalar(
        delete(ProviderSignInAttempt)
        .where(
            ProviderSignInAttempt.state_sha256 == state_sha256,
            ProviderSignInAttempt.secret_sha256 == secret_sha256,
            ProviderSignInAttempt.expires_at > now,
        )
        .returning(ProviderSignInAttempt)
    )


async def delete_old_attempts(session: AsyncSession, now: datetime) -> None:
    await session.execute(delete(ProviderSignInAttempt).where(ProviderSignInAttempt.expires_at <= now))
