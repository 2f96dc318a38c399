"""Sign-in and API keys over HTTP."""

from datetime import datetime
from typing import Annotated

from fastapi import Query

from offhook.kit.database.database import Session
from offhook.kit.http.path_ids import Id
from offhook.kit.http.routing import Router
from offhook.orgs import repository, service
from offhook.orgs.api_keys import keys
from offhook.orgs.audit_trail.recorder import write_audit_entry
from offhook.orgs.caller import Caller
from offhook.orgs.dependencies import Authorization, ClientAddress, CurrentOrg, Now, RequireAdmin, RequireAdminPerson
from offhook.orgs.errors import UserNotFound
from offhook.orgs.identity_provider import repository as identity_providers
from offhook.orgs.schemas import (
    ApiKeyCreate,
    ApiKeyCreated,
    ApiKeyList,
    ApiKeyResponse,
    LinkRequest,
    LoginRequest,
    LogoutResponse,
    MeResponse,
    SecondStepRequest,
    SecondStepResponse,
    SignedInResponse,
    UserResponse,
)
from offhook.orgs.second_factor import repository as second_factors
from offhook.orgs.service import SignInResult
from offhook.orgs.services import Services
from offhook.orgs.sign_in.authentication import bearer_token
from offhook.orgs.sign_in.second_step import Challenge
from offhook.orgs.tables import User

auth_router = Router(prefix="/auth", tags=["auth"])
organizations_router = Router(prefix="/organizations", tags=["organizations"])


@auth_router.post("/login", response_model=SignedInResponse | SecondStepResponse, operation_id="login")
async def login(body: LoginRequest, services: Services, ip: ClientAddress) -> SignedInResponse | SecondStepResponse:
    """Signs in, or returns a challenge to people with two-step sign-in."""
    return entry_response(await services.sign_in.log_in(body, ip))


@auth_router.post("/link", response_model=SignedInResponse | SecondStepResponse, operation_id="sign_in_by_link")
async def sign_in_by_link(
    body: LinkRequest, services: Services, ip: ClientAddress
) -> SignedInResponse | SecondStepResponse:
    """Signs in with a link, or returns a challenge to people with two-step sign-in. A new password is set after the
    challenge is answered."""
    return entry_response(await services.sign_in.follow_link(body.token, body.new_password, ip))


@auth_router.post("/second-step", response_model=SignedInResponse, operation_id="pass_second_step")
async def pass_second_step(body: SecondStepRequest, services: Services, ip: ClientAddress) -> SignedInResponse:
    """Answers a challenge with a code of the authenticator app or a recovery code, and signs in.

    Returns 403 `wrong_code`, and 401 `second_step_refused` when the challenge has ended."""
    return signed_in_response(await services.steps.pass_second_step(body.challenge, body.code, ip))


@auth_router.post("/logout", response_model=LogoutResponse, operation_id="logout")
async def logout(org: CurrentOrg, session: Session, now: Now, authorization: Authorization = None) -> LogoutResponse:
    """Revokes the session of the current token; API keys have no session and stay valid."""
    if org.user_id is not None:
        await service.end_session(session, bearer_token(authorization), now)
        await write_audit_entry(session, org, "user.logged_out", f"user:{org.user_id}")
    return LogoutResponse()


@auth_router.get("/me", response_model=MeResponse, operation_id="get_me")
async def get_me(org: CurrentOrg, session: Session) -> MeResponse:
    user, has_password = None, False
    if org.user_id is not None:
        membership = await repository.find_membership(session, org.organization_id, org.user_id)
        if membership is None:
            raise UserNotFound
        person, role = membership
        has_password = person.password_hash is not None
        user = UserResponse(
            id=person.id,
            email=person.email,
            name=person.name,
            organization_id=org.organization_id,
            role=role,
            is_superuser=org.is_superuser,
        )
    return MeResponse(
        user=user,
        id=user.id if user else None,
        email=user.email if user else None,
        name=user.name if user else None,
        organization_id=org.organization_id,
        role=org.role,
        is_superuser=org.is_superuser,
        impersonated=org.impersonator_id is not None,
        second_factor_due_at=await _second_factor_due_at(session, org),
        has_password=has_password,
        is_provider_session=org.by_provider,
        provider_sign_in_name=await _provider_sign_in_name(session, org),
    )


@organizations_router.get("/api-keys", response_model=ApiKeyList, operation_id="list_api_keys")
async def list_keys(
    org: RequireAdmin, session: Session, include_archived: Annotated[bool, Query()] = False
) -> ApiKeyList:
    records = await repository.list_keys(session, org.organization_id, include_archived=include_archived)
    return ApiKeyList(api_keys=[ApiKeyResponse.model_validate(record) for record in records])


@organizations_router.post("/api-keys", response_model=ApiKeyCreated, operation_id="create_api_key")
async def create_key(body: ApiKeyCreate, org: RequireAdminPerson, session: Session, now: Now) -> ApiKeyCreated:
    """Creates an API key and returns its secret. Only people create keys: a key cannot make another one."""
    new = await keys.create_key(session, org, body, now)
    return ApiKeyCreated(**ApiKeyResponse.model_validate(new.record).model_dump(), key=new.key)


@organizations_router.delete("/api-keys/{key_id}", response_model=ApiKeyResponse, operation_id="archive_api_key")
async def archive_key(key_id: Id, org: RequireAdmin, session: Session, now: Now) -> ApiKeyResponse:
    return ApiKeyResponse.model_validate(await keys.set_archived(session, org, key_id, now))


@organizations_router.put(
    "/api-keys/{key_id}/reactivate", response_model=ApiKeyResponse, operation_id="reactivate_api_key"
)
async def reactivate_key(key_id: Id, org: RequireAdminPerson, session: Session) -> ApiKeyResponse:
    return ApiKeyResponse.model_validate(await keys.set_archived(session, org, key_id, None))


async def _second_factor_due_at(session: Session, org: Caller) -> datetime | None:
    """Returns from when on the person needs a second factor that they do not have."""
    if org.user_id is None or org.impersonator_id is not None or org.by_provider:
        return None
    due_at = await second_factors.due_at(session, org.organization_id)
    return None if due_at is None or await second_factors.has_factor(session, org.user_id) else due_at


async def _provider_sign_in_name(session: Session, org: Caller) -> str | None:
    provider = await identity_providers.find_provider(session, org.organization_id) if org.lacks_provider else None
    return None if provider is None else provider.sign_in_name


def entry_response(result: SignInResult | Challenge) -> SignedInResponse | SecondStepResponse:
    if isinstance(result, Challenge):
        return SecondStepResponse(challenge=result.token, expires_at=result.expires_at)
    return signed_in_response(result)


def signed_in_response(result: SignInResult) -> SignedInResponse:
    return SignedInResponse(token=result.token, user=describe_user(result.user, result.organization_id, result.role))


def describe_user(user: User, organization_id: int, role: str) -> UserResponse:
    return UserResponse(
        id=user.id,
        email=user.email,
        name=user.name,
        organization_id=organization_id,
        role=role,
        is_superuser=user.is_superuser,
    )
