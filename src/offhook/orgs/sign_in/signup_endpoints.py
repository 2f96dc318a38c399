"""Requests for accounts over HTTP: made by strangers, answered by superusers."""

from starlette.requests import Request

from offhook.kit.database.database import Session
from offhook.kit.http.path_ids import Id
from offhook.kit.http.routing import Router
from offhook.kit.schema import Schema
from offhook.orgs.dependencies import ClientAddress, Now, RequireSuperuser
from offhook.orgs.schemas import (
    Email,
    LogoutResponse,
    SignInLinkCreated,
    SignupBody,
    SignupRequestResponse,
    SignupResponse,
)
from offhook.orgs.services import Services
from offhook.orgs.sign_in import signups
from offhook.orgs.sign_in.signups import PersonalLink
from offhook.root import base_url

router = Router()


class SignInLinkBody(Schema):
    email: Email


class SignupRequestList(Schema):
    requests: list[SignupRequestResponse]


@router.post("/auth/signup", response_model=SignupResponse, operation_id="signup", tags=["auth"])
async def signup(body: SignupBody, services: Services, ip: ClientAddress) -> SignupResponse:
    """Asks for an account and an organization. The operator of the installation confirms with a sign-in link."""
    await services.signups.request_account(body, ip)
    return SignupResponse()


@router.get(
    "/superuser/signup-requests",
    response_model=SignupRequestList,
    operation_id="list_signup_requests",
    tags=["superuser"],
)
async def list_signup_requests(caller: RequireSuperuser, session: Session) -> SignupRequestList:
    """Lists the requests for accounts that wait for a link, oldest first."""
    found = await signups.list_requests(session)
    return SignupRequestList(requests=[SignupRequestResponse.model_validate(row) for row in found])


@router.delete(
    "/superuser/signup-requests/{request_id}",
    response_model=LogoutResponse,
    operation_id="refuse_signup_request",
    tags=["superuser"],
)
async def refuse_signup_request(request_id: Id, caller: RequireSuperuser, session: Session) -> LogoutResponse:
    """Deletes a request for an account."""
    await signups.refuse_request(session, request_id)
    return LogoutResponse()


@router.post(
    "/superuser/sign-in-links",
    response_model=SignInLinkCreated,
    operation_id="create_sign_in_link",
    tags=["superuser"],
)
async def create_sign_in_link(
    body: SignInLinkBody, caller: RequireSuperuser, session: Session, now: Now, request: Request
) -> SignInLinkCreated:
    """Creates the link that lets a person who requested an account choose a password, once, within 24 hours. The
    account
    and its organization are created with the first link; a new link replaces the earlier one. Returns 409
    `account_in_use` for people who have a password: only the operator can reset it, on the command line."""
    link = await signups.create_personal_link(session, body.email, now, sets_password=True, actor=caller)
    return link_response(link, request)


def link_response(link: PersonalLink, request: Request) -> SignInLinkCreated:
    return SignInLinkCreated(
        email=link.email,
        token=link.token,
        url=f"{base_url(request)}/sign-in?token={link.token}",
        expires_at=link.expires_at,
    )
