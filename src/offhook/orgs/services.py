"""The services of organizations, built once per process by ``register`` and passed to requests by one dependency."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import Depends
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs.audit_trail.export import AuditExports
from offhook.orgs.audit_trail.reads import RecentReads
from offhook.orgs.caller import Caller
from offhook.orgs.fresh_sign_in import check_fresh_sign_in
from offhook.orgs.identity_provider.provider_sign_in import ProviderSignIn
from offhook.orgs.identity_provider.providers import IdentityProviders
from offhook.orgs.second_factor.factors import SecondFactors
from offhook.orgs.sign_in.authentication import Authenticator
from offhook.orgs.sign_in.second_step import SignInSteps
from offhook.orgs.sign_in.sign_in_service import SignIn
from offhook.orgs.sign_in.signups import SignupDesk
from offhook.orgs.storage_quota import StorageQuota
from offhook.root import use_service


@dataclass(frozen=True, slots=True)
class OrganizationServices:
    """The services that check credentials, sign people in and take requests for accounts."""

    authenticator: Authenticator
    sign_in: SignIn
    steps: SignInSteps
    second_factors: SecondFactors
    signups: SignupDesk
    quota: StorageQuota
    reads: RecentReads
    audit_exports: AuditExports
    identity_providers: IdentityProviders
    provider_sign_in: ProviderSignIn

    async def confirm_deletion(
        self, session: AsyncSession, caller: Caller, password: str | None, code: str | None, now: datetime
    ) -> None:
        """Makes sure that the caller is who signed in: with the password and the second factor or, having neither, with a fresh
        sign-in.

        Raises ``WrongPassword``, ``WrongCode`` and ``FreshSignInNeeded`` (403), and ``TooManyRequests`` (429).
        """
        user = await self.sign_in.confirm_person(caller, password)
        if (await self.second_factors.status(session, user.id, caller.organization_id)).is_enabled:
            await self.second_factors.check(session, user.id, code or "")
        elif user.password_hash is None:
            check_fresh_sign_in(caller, now)


find_services = use_service(OrganizationServices)
Services = Annotated[OrganizationServices, Depends(find_services)]
