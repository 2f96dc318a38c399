"""Identity providers over HTTP: set up by owners, and signed in with by everybody else."""

import re
from datetime import datetime
from typing import Annotated, Final, Literal

from email_validator import EmailNotValidError, validate_email
from fastapi import Request
from pydantic import AfterValidator, ConfigDict, Field, StringConstraints

from offhook.kit.database.database import Session
from offhook.kit.http.path_ids import Id
from offhook.kit.http.routing import Router
from offhook.kit.schema import Schema
from offhook.orgs.dependencies import ClientAddress, Now, RequireAdmin, RequireAdminPerson
from offhook.orgs.endpoints import entry_response
from offhook.orgs.identity_provider import repository
from offhook.orgs.identity_provider.provider_sign_in import ProviderAnswer
from offhook.orgs.identity_provider.providers import ProviderDraft, describe
from offhook.orgs.schemas import LogoutResponse, SecondStepResponse, SignedInResponse
from offhook.orgs.services import Services
from offhook.orgs.tables import IdentityProvider
from offhook.root import base_url

CALLBACK_PATH: Final = "/sign-in/callback"
MAX_DOMAINS: Final = 50
_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


def _normalize_name(text: str) -> str:
    name = text.strip().lower()
    if not _NAME.fullmatch(name):
        raise ValueError("use letters, digits and hyphens, such as acme-inc")
    return name


def _normalize_domain(text: str) -> str:
    try:
        address = f"someone@{text.strip().removeprefix('@')}"
        return validate_email(address, check_deliverability=False, globally_deliverable=False).domain.lower()
    except EmailNotValidError:
        raise ValueError("not a domain such as example.com") from None


SignInName = Annotated[str, StringConstraints(max_length=80), AfterValidator(_normalize_name)]
Domain = Annotated[str, StringConstraints(max_length=255), AfterValidator(_normalize_domain)]
Visible = r"^[\x21-\x7e]+$"
Opaque = Annotated[str, StringConstraints(min_length=1, max_length=4096)]

router = Router()


class IdentityProviderBody(Schema):
    """`client_secret`: null keeps the stored one; an empty string means a client without a secret. `joins_as`: the
    role of
    people who have no account yet; null lets in members and invited people only. `is_required`: members other than owners
    get in this way only."""

    model_config = ConfigDict(extra="forbid")

    sign_in_name: SignInName
    issuer: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
    client_id: Annotated[str, StringConstraints(strip_whitespace=True, max_length=255, pattern=Visible)]
    client_secret: Annotated[str, StringConstraints(strip_whitespace=True, max_length=1024)] | None = None
    email_domains: Annotated[list[Domain], Field(min_length=1, max_length=MAX_DOMAINS)]
    joins_as: Literal["member", "viewer"] | None = None
    is_required: bool = False


class IdentityProviderResponse(Schema):
    sign_in_name: str
    issuer: str
    client_id: str
    has_client_secret: bool
    email_domains: list[str]
    joins_as: Literal["member", "viewer"] | None
    is_required: bool
    updated_at: datetime


class IdentityProviderState(Schema):
    """`redirect_uri` is the redirect URI to register with the provider."""

    provider: IdentityProviderResponse | None
    redirect_uri: str


class ProviderSignInStart(Schema):
    """`sign_in_name`: the name that the organization chose for this."""

    sign_in_name: Annotated[str, StringConstraints(min_length=1, max_length=80)]


class ProviderSignInStarted(Schema):
    """Keep `secret` in the browser and open `authorization_url`. The provider sends the browser to `/sign-in/callback`."""

    authorization_url: str
    secret: str


class ProviderSignInFinish(Schema):
    """`code`, `state` and `iss` as the provider added them to the address, and the `secret` of the start."""

    code: Opaque
    state: Opaque
    secret: Opaque
    iss: Opaque | None = None


@router.get(
    "/organizations/identity-provider",
    response_model=IdentityProviderState,
    operation_id="get_identity_provider",
    tags=["organizations"],
)
async def get_identity_provider(org: RequireAdmin, session: Session, request: Request) -> IdentityProviderState:
    return _to_state(await repository.find_provider(session, org.organization_id), request)


@router.put(
    "/organizations/identity-provider",
    response_model=IdentityProviderState,
    operation_id="put_identity_provider",
    tags=["organizations"],
)
async def put_identity_provider(
    body: IdentityProviderBody, org: RequireAdminPerson, services: Services, request: Request
) -> IdentityProviderState:
    """Sets up sign-in with an identity provider (OpenID Connect). Owners only. Its discovery document and keys are
    checked first. Changing the issuer or client unlinks members and ends the sessions that the old one opened."""
    values = body.model_dump()
    draft = ProviderDraft(**{**values, "email_domains": tuple(dict.fromkeys(body.email_domains))})
    return _to_state(await services.identity_providers.save(org, draft), request)


@router.delete(
    "/organizations/identity-provider",
    response_model=LogoutResponse,
    operation_id="delete_identity_provider",
    tags=["organizations"],
)
async def delete_identity_provider(
    org: RequireAdminPerson, session: Session, services: Services, now: Now
) -> LogoutResponse:
    """Removes the provider and ends the sessions that it opened. Members sign in with their password or a link again."""
    await services.identity_providers.remove(session, org, now)
    return LogoutResponse()


@router.delete(
    "/organizations/members/{user_id}/identity",
    response_model=LogoutResponse,
    operation_id="unlink_identity",
    tags=["members"],
)
async def unlink_identity(
    user_id: Id, org: RequireAdminPerson, session: Session, services: Services, now: Now
) -> LogoutResponse:
    """Unlinks a member from the provider's identity and ends the sessions that it opened. Owners only. The next
    sign-in with the
    member's address links another one."""
    await services.identity_providers.unlink_member(session, org, user_id, now)
    return LogoutResponse()


@router.post(
    "/auth/provider/start", response_model=ProviderSignInStarted, operation_id="start_provider_sign_in", tags=["auth"]
)
async def start_provider_sign_in(
    body: ProviderSignInStart, services: Services, ip: ClientAddress, request: Request
) -> ProviderSignInStarted:
    """Starts a sign-in with an organization's identity provider. It must be finished within ten minutes."""
    started = await services.provider_sign_in.start(body.sign_in_name, _redirect_uri(request), ip)
    return ProviderSignInStarted(authorization_url=started.authorization_url, secret=started.secret)


@router.post(
    "/auth/provider/finish",
    response_model=SignedInResponse | SecondStepResponse,
    operation_id="finish_provider_sign_in",
    tags=["auth"],
)
async def finish_provider_sign_in(
    body: ProviderSignInFinish, services: Services, ip: ClientAddress
) -> SignedInResponse | SecondStepResponse:
    """Signs in to the provider's organization, or returns a challenge to people with two-step sign-in. The session
    opens this organization only, and does not change the account."""
    answer = ProviderAnswer(body.code, body.state, body.iss)
    return entry_response(await services.provider_sign_in.finish(answer, body.secret, ip))


def _redirect_uri(request: Request) -> str:
    return base_url(request) + CALLBACK_PATH


def _to_state(provider: IdentityProvider | None, request: Request) -> IdentityProviderState:
    shown = None if provider is None else IdentityProviderResponse.model_validate(describe(provider))
    return IdentityProviderState(provider=shown, redirect_uri=_redirect_uri(request))
