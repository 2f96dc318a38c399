"""Signing in with an identity provider: the authorization code flow with PKCE.

The browser that begins keeps a secret, and only its hash is stored. State, nonce and the PKCE verifier are derived from it or stored
beside it, so an answer that another browser received, or one that is sent twice, opens nothing.
"""

import base64
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from urllib.parse import urlencode, urlsplit

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.errors import DomainError
from offhook.kit.clock import Clock
from offhook.kit.crypto import Keyring, hash_token, new_token
from offhook.kit.database.database import Database
from offhook.kit.http.rate_limits import RateLimiter, network_of
from offhook.orgs.audit_trail.recorder import write_audit_entry
from offhook.orgs.caller import Caller
from offhook.orgs.identity_provider import repository
from offhook.orgs.identity_provider.errors import IdentityProviderNotFound, IdentityRefused, ProviderSignInRefused
from offhook.orgs.identity_provider.id_tokens import Identity, TokenExpectation, read_identity
from offhook.orgs.identity_provider.linking import resolve_member
from offhook.orgs.identity_provider.provider_http import CodeExchange, ProviderHttp
from offhook.orgs.identity_provider.providers import IdentityProviders
from offhook.orgs.service import SignInResult
from offhook.orgs.sign_in.second_step import Challenge, FirstStep, SignInSteps
from offhook.orgs.tables import IdentityProvider, ProviderSignInAttempt

log = structlog.get_logger(__name__)

ATTEMPT_LIFETIME: Final = timedelta(minutes=10)
# One address may serve a whole office; a sign-in that succeeds costs nothing.
MAX_ATTEMPTS, ATTEMPTS_WINDOW_S = 100, 300
SCOPES: Final = "openid email profile"


@dataclass(frozen=True, slots=True)
class StartedSignIn:
    """Where the browser goes, and the secret that it brings back with the provider's answer."""

    authorization_url: str
    secret: str


@dataclass(frozen=True, slots=True)
class ProviderAnswer:
    """What the provider gave the browser to bring back; ``issuer`` is who says so (RFC 9207), if anybody."""

    code: str
    state: str
    issuer: str | None


class ProviderSignIn:
    """Begins and finishes sign-ins. No transaction is open during requests to the provider."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        keyring: Keyring,
        http: ProviderHttp,
        providers: IdentityProviders,
        steps: SignInSteps,
    ) -> None:
        self._db = database
        self._clock = clock
        self._keyring = keyring
        self._http = http
        self._providers = providers
        self._steps = steps
        # By network only: a limit by organization would let strangers lock its members out.
        self._per_network = RateLimiter(clock, limit=MAX_ATTEMPTS, window_s=ATTEMPTS_WINDOW_S)

    async def start(self, sign_in_name: str, redirect_uri: str, ip: str | None) -> StartedSignIn:
        """Returns the provider's address for this sign-in.

        Raises ``IdentityProviderNotFound`` (404), ``IdentityProviderUnusable`` (422) and ``TooManyRequests`` (429).
        """
        self._per_network.spend(network_of(ip))
        async with self._db.transaction() as session:
            provider = await repository.provider_by_name(session, sign_in_name.strip().lower())
        if provider is None:
            raise IdentityProviderNotFound
        metadata = await self._http.fetch_metadata(provider.issuer)
        state, secret = new_token(), new_token()
        attempt = ProviderSignInAttempt(
            organization_id=provider.organization_id,
            state_sha256=hash_token(state),
            secret_sha256=hash_token(secret),
            issuer=provider.issuer,
            client_id=provider.client_id,
            redirect_uri=redirect_uri,
            expires_at=self._clock.now() + ATTEMPT_LIFETIME,
        )
        async with self._db.transaction() as session:
            await repository.store_attempt(session, attempt)
        challenge = base64.urlsafe_b64encode(hash_token(self._verifier(secret))).rstrip(b"=").decode()
        query = {
            "response_type": "code",
            "client_id": provider.client_id,
            "redirect_uri": redirect_uri,
            "scope": SCOPES,
            "state": state,
            "nonce": self._nonce(secret),
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        joint = "&" if urlsplit(metadata.authorization_endpoint).query else "?"
        return StartedSignIn(f"{metadata.authorization_endpoint}{joint}{urlencode(query)}", secret)

    async def finish(self, answer: ProviderAnswer, secret: str, ip: str | None) -> SignInResult | Challenge:
        """Signs the person in whom the provider names; what fails after the state was right is in the audit log.

        Raises ``ProviderSignInRefused`` and ``IdentityRefused`` (401), the errors of ``resolve_member`` (403),
        ``IdentityProviderUnusable`` (422) and ``TooManyRequests`` (429).
        """
        network = network_of(ip)
        self._per_network.spend(network)
        async with self._db.transaction() as session:
            attempt = await repository.spend_attempt(
                session, hash_token(answer.state), hash_token(secret), self._clock.now()
            )
            provider = await self._provider_of(session, attempt) if attempt is not None else None
        if attempt is None or provider is None:
            raise ProviderSignInRefused
        try:
            identity = await self._read_identity(provider, attempt, answer, secret)
            result = await self._sign_in(attempt, identity, ip)
        except DomainError as error:
            await self._record_failure(attempt.organization_id, error, ip)
            raise
        # of the start, too
        for _ in range(2):
            self._per_network.refund(network)
        return result

    async def _read_identity(
        self, provider: IdentityProvider, attempt: ProviderSignInAttempt, answer: ProviderAnswer, secret: str
    ) -> Identity:
        metadata = await self._http.fetch_metadata(attempt.issuer)
        # A provider that another one plays off against us would be asked for that one's code.
        if (answer.issuer is not None or metadata.names_issuer) and answer.issuer != attempt.issuer:
            raise IdentityRefused("The answer came from another identity provider. Start again.")
        exchange = CodeExchange(
            client_id=attempt.client_id,
            client_secret=self._providers.open_secret(provider),
            code=answer.code,
            verifier=self._verifier(secret),
            redirect_uri=attempt.redirect_uri,
        )
        id_token = await self._http.redeem_code(metadata, exchange)
        keys = await self._http.fetch_keys(metadata)
        expected = TokenExpectation(attempt.issuer, attempt.client_id, hash_token(self._nonce(secret)))
        return read_identity(id_token, keys, expected)

    async def _sign_in(
        self, attempt: ProviderSignInAttempt, identity: Identity, ip: str | None
    ) -> SignInResult | Challenge:
        async with self._db.transaction() as session:
            provider = await self._provider_of(session, attempt)
            if provider is None:
                raise ProviderSignInRefused
            member = await resolve_member(session, provider, identity, self._clock.now(), ip)
            step = FirstStep(
                member.user, attempt.organization_id, member.role, "user.signed_in_by_provider", by_provider=True
            )
            return await self._steps.pass_first_step(session, step, ip)

    async def _provider_of(self, session: AsyncSession, attempt: ProviderSignInAttempt) -> IdentityProvider | None:
        """Returns the provider of a sign-in, unless it was replaced since."""
        provider = await repository.find_provider(session, attempt.organization_id)
        if provider is None or (provider.issuer, provider.client_id) != (attempt.issuer, attempt.client_id):
            return None
        return provider

    async def _record_failure(self, organization_id: int, error: DomainError, ip: str | None) -> None:
        log.warning("provider_sign_in_failed", organization_id=organization_id, reason=error.code, ip=ip)
        async with self._db.transaction() as session:
            nobody = Caller.system(organization_id)
            data = {"by": "identity provider", "reason": error.code}
            await write_audit_entry(session, nobody, "user.sign_in_failed", None, data, ip=ip)

    def _nonce(self, secret: str) -> str:
        return self._keyring.derive_token(f"nonce of a sign-in:{secret}")

    def _verifier(self, secret: str) -> str:
        return self._keyring.derive_token(f"PKCE verifier of a sign-in:{secret}")
