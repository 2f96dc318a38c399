"""The identity provider of an organization: who sets it up, and what ends when it changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.clock import Clock
from offhook.kit.crypto import Keyring, SecretUnreadable
from offhook.kit.database.database import Database
from offhook.orgs.audit_trail.recorder import write_audit_entry
from offhook.orgs.caller import Caller
from offhook.orgs.errors import OwnerOnly
from offhook.orgs.identity_provider import repository
from offhook.orgs.identity_provider.errors import (
    ClientSecretMissing,
    IdentityNotFound,
    IdentityProviderNotFound,
    IdentityProviderUnusable,
    SignInNameTaken,
)
from offhook.orgs.identity_provider.provider_http import ProviderHttp, check_issuer
from offhook.orgs.people import repository as people
from offhook.orgs.people.members import hold_role
from offhook.orgs.tables import IdentityProvider

OWNER: Final = "owner"


@dataclass(frozen=True, slots=True)
class ProviderDraft:
    """What an owner enters. ``client_secret`` None keeps the stored one, empty means a client without one.

    ``joins_as`` is the role of people without an account who sign in; None lets in members and invited people only.
    """

    sign_in_name: str
    issuer: str
    client_id: str
    client_secret: str | None
    email_domains: tuple[str, ...]
    joins_as: str | None
    is_required: bool


class IdentityProviders:
    """Stores the organizations' providers. A provider is asked about itself before it is stored."""

    def __init__(self, database: Database, clock: Clock, keyring: Keyring, http: ProviderHttp) -> None:
        self._db = database
        self._clock = clock
        self._keyring = keyring
        self._http = http

    async def save(self, caller: Caller, draft: ProviderDraft) -> IdentityProvider:
        """Stores the provider. With another issuer or client, everybody whom the old one let in has to sign in again.

        Raises ``OwnerOnly`` (403), ``SignInNameTaken`` (409), ``IssuerInvalid``, ``ClientSecretMissing`` and
        ``IdentityProviderUnusable`` (422).
        """
        _require_owner(caller)
        await self._http.fetch_keys(await self._http.fetch_metadata(check_issuer(draft.issuer)))
        try:
            async with self._db.transaction() as session:
                return await self._store(session, caller, draft)
        except IntegrityError:
            raise SignInNameTaken(field="sign_in_name") from None

    async def _store(self, session: AsyncSession, caller: Caller, draft: ProviderDraft) -> IdentityProvider:
        organization_id, now = caller.organization_id, self._clock.now()
        await people.lock_organization(session, organization_id)
        _require_owner(await hold_role(session, caller))
        before = await repository.find_provider(session, organization_id)
        is_other = before is None or (before.issuer, before.client_id) != (draft.issuer, draft.client_id)
        if draft.client_secret is None and is_other:
            raise ClientSecretMissing(field="client_secret")
        if await repository.is_name_taken(session, organization_id, draft.sign_in_name):
            raise SignInNameTaken(field="sign_in_name")
        values: dict[str, object] = {
            "sign_in_name": draft.sign_in_name,
            "issuer": draft.issuer,
            "client_id": draft.client_id,
            "email_domains": list(draft.email_domains),
            "joins_as": draft.joins_as,
            "is_required": draft.is_required,
            "updated_at": now,
        }
        recorded = {name: value for name, value in values.items() if name != "updated_at"}
        if draft.client_secret is not None:
            values["sealed_secret"] = (
                self._keyring.seal(draft.client_secret.encode(), _seal_context(organization_id))
                if draft.client_secret
                else None
            )
        if before is not None and is_other:
            recorded["sessions_ended"] = await repository.forget_provider_sign_ins(session, organization_id, now)
        await repository.store_provider(session, organization_id, values)
        await write_audit_entry(session, caller, "identity_provider.saved", f"organization:{organization_id}", recorded)
        saved = await repository.find_provider(session, organization_id)
        assert saved is not None
        return saved

    async def remove(self, session: AsyncSession, caller: Caller, now: datetime) -> None:
        """Deletes the provider and ends the sessions that it opened.

        Raises ``OwnerOnly`` (403) and ``IdentityProviderNotFound`` (404).
        """
        await people.lock_organization(session, caller.organization_id)
        _require_owner(await hold_role(session, caller))
        if not await repository.delete_provider(session, caller.organization_id):
            raise IdentityProviderNotFound("This organization has no identity provider.")
        ended = await repository.forget_provider_sign_ins(session, caller.organization_id, now)
        target = f"organization:{caller.organization_id}"
        await write_audit_entry(session, caller, "identity_provider.removed", target, {"sessions_ended": ended})

    async def unlink_member(self, session: AsyncSession, caller: Caller, user_id: int, now: datetime) -> None:
        """Takes the provider's identity off a member and ends the sessions that it opened: the next sign-in links it
        again.

        Raises ``OwnerOnly`` (403) and ``IdentityNotFound`` (404).
        """
        _require_owner(await hold_role(session, caller))
        if not await repository.unlink_identity(session, caller.organization_id, user_id):
            raise IdentityNotFound
        ended = await repository.revoke_provider_sessions(session, caller.organization_id, user_id, now)
        await write_audit_entry(session, caller, "identity.unlinked", f"user:{user_id}", {"sessions_ended": ended})

    def open_secret(self, provider: IdentityProvider) -> str | None:
        """Returns the client secret, None for a client without one; raises ``IdentityProviderUnusable`` (422)."""
        if provider.sealed_secret is None:
            return None
        try:
            return self._keyring.open(provider.sealed_secret, _seal_context(provider.organization_id)).decode()
        except SecretUnreadable:
            raise IdentityProviderUnusable(
                "This installation's secret key has changed. An owner must enter the client secret again."
            ) from None


def is_domain_allowed(provider: IdentityProvider, email: str) -> bool:
    return email.rpartition("@")[2].lower() in provider.email_domains


def _require_owner(caller: Caller) -> None:
    # Whoever names the provider decides who gets in, as an owner too.
    if caller.role != OWNER:
        raise OwnerOnly


def _seal_context(organization_id: int) -> bytes:
    return f"identity-provider:{organization_id}".encode()


def describe(provider: IdentityProvider) -> Mapping[str, object]:
    """Returns what may be shown of a provider: all of it but the secret."""
    return {
        "sign_in_name": provider.sign_in_name,
        "issuer": provider.issuer,
        "client_id": provider.client_id,
        "has_client_secret": provider.sealed_secret is not None,
        "email_domains": provider.email_domains,
        "joins_as": provider.joins_as,
        "is_required": provider.is_required,
        "updated_at": provider.updated_at,
    }
