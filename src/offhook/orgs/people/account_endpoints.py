"""A person's own account over HTTP: invitations to accept, organizations to switch between, password, sessions."""

from datetime import datetime
from typing import Annotated

from pydantic import ConfigDict, Field, StringConstraints

from offhook.kit.crypto import hash_token
from offhook.kit.database.database import Session
from offhook.kit.http.path_ids import LongId
from offhook.kit.http.routing import Router
from offhook.kit.json_numbers import WholeNumber
from offhook.kit.schema import Schema
from offhook.orgs.audit_trail.recorder import write_audit_entry
from offhook.orgs.dependencies import (
    Authorization,
    ClientAddress,
    Now,
    OptionalOrg,
    RequireOwnAccount,
    RequirePerson,
)
from offhook.orgs.endpoints import describe_user, signed_in_response
from offhook.orgs.people import account_deletion, accounts, repository
from offhook.orgs.people.account_deletion import AccountDeletion, DeletionPreview, Refusal
from offhook.orgs.people.invitations import InvitationPreview
from offhook.orgs.schemas import LogoutResponse, Name, Password, Role, SignedInResponse, UserResponse
from offhook.orgs.services import Services
from offhook.orgs.sign_in.authentication import bearer_token

Token = Annotated[str, StringConstraints(min_length=1, max_length=512)]

router = Router(prefix="/auth", tags=["auth"])


class InvitationToken(Schema):
    token: Token


class InvitationAccept(InvitationToken):
    """``password`` is your account's password, or the password of the account to create. It is not needed while you are
    signed in with the invited address."""

    password: Password | None = None
    name: Name | None = None


class InvitedResponse(Schema):
    """``has_account`` is true when the address has an account; accepting then requires its password."""

    model_config = ConfigDict(from_attributes=True)

    organization_id: int
    organization_name: str
    email: str
    name: str | None
    role: Role
    expires_at: datetime
    has_account: bool


class SwitchRequest(Schema):
    organization_id: WholeNumber = Field(ge=1, le=2**31 - 1)


class MembershipResponse(Schema):
    id: int
    name: str
    role: Role
    is_current: bool


class OwnNameChange(Schema):
    name: Name


class PasswordChange(Schema):
    """``current_password`` is not needed when the account has no password yet. If it has two-step sign-in or an identity
    provider, the sign-in must then be less than 10 minutes old."""

    current_password: Annotated[str, StringConstraints(max_length=1024)] | None = None
    new_password: Password


class MembershipToEndResponse(Schema):
    """``api_keys``: how many active keys you made there."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    name: str
    role: Role
    is_only_owner: bool
    api_keys: int


class AccountDeletionPreviewResponse(Schema):
    """``refusal``: the code with which the deletion would be refused now, whatever the confirmation; otherwise null."""

    model_config = ConfigDict(from_attributes=True)

    organizations: list[MembershipToEndResponse]
    needs_password: bool
    needs_code: bool
    refusal: Refusal | None


class AccountDeletionBody(Schema):
    """``email``: the address of your account, as a confirmation. ``current_password`` is not needed when the account has no
    password, ``code`` only with two-step sign-in: of the app, or a recovery code."""

    email: Annotated[str, StringConstraints(min_length=1, max_length=320)]
    current_password: Annotated[str, StringConstraints(max_length=1024)] | None = None
    code: Annotated[str, StringConstraints(strip_whitespace=True, max_length=64)] | None = None


class AccountDeletionResponse(Schema):
    """How many organizations you left, and how many of your API keys ended."""

    model_config = ConfigDict(from_attributes=True)

    organizations: int
    ended_keys: int


class SessionResponse(Schema):
    """``is_impersonated`` is true when a superuser acts on your behalf in this session. Use moves ``expires_at``, to 30 days
    after ``created_at`` at most."""

    id: int
    organization_id: int
    created_at: datetime
    expires_at: datetime
    is_current: bool
    is_impersonated: bool


@router.post("/invitations/look", response_model=InvitedResponse, operation_id="look_at_invitation")
async def look_at_invitation(body: InvitationToken, services: Services, ip: ClientAddress) -> InvitationPreview:
    """Shows the invitation behind a link without accepting it."""
    return await services.sign_in.look_at_invitation(body.token, ip)


@router.post("/invitations/accept", response_model=SignedInResponse, operation_id="accept_invitation")
async def accept_invitation(
    body: InvitationAccept, services: Services, ip: ClientAddress, caller: OptionalOrg
) -> SignedInResponse:
    """Joins the organization with a new account or the account of the invited address, and signs in to it."""
    result = await services.sign_in.accept_invitation(
        body.token, password=body.password, name=body.name, caller=caller, ip=ip
    )
    return signed_in_response(result)


@router.get("/organizations", response_model=list[MembershipResponse], operation_id="list_my_organizations")
async def list_my_organizations(org: RequirePerson, session: Session) -> list[MembershipResponse]:
    """Lists the organizations of the signed-in person; for a session of an identity provider, only its own
    organization."""
    assert org.user_id is not None
    return [
        MembershipResponse(
            id=organization.id, name=organization.name, role=role, is_current=organization.id == org.organization_id
        )
        for organization, role in await repository.organizations_of(session, org.user_id)
        if not org.by_provider or organization.id == org.organization_id
    ]


@router.post("/switch", response_model=SignedInResponse, operation_id="switch_organization")
async def switch_organization(
    body: SwitchRequest, org: RequireOwnAccount, session: Session, now: Now, authorization: Authorization = None
) -> SignedInResponse:
    """Returns a token for the other organization and revokes the current one."""
    result = await accounts.switch_organization(session, org, bearer_token(authorization), body.organization_id, now)
    await write_audit_entry(
        session, org, "user.switched_organization", f"user:{org.user_id}", {"to": body.organization_id}
    )
    return signed_in_response(result)


@router.patch("/me", response_model=UserResponse, operation_id="change_own_name")
async def change_own_name(body: OwnNameChange, org: RequireOwnAccount, session: Session) -> UserResponse:
    """Changes your name as the members of your organizations see it."""
    assert org.user_id is not None
    user = await accounts.change_name(session, org.user_id, body.name)
    await write_audit_entry(session, org, "user.renamed", f"user:{org.user_id}")
    return describe_user(user, org.organization_id, org.role)


@router.post("/password", response_model=LogoutResponse, operation_id="change_password")
async def change_password(
    body: PasswordChange, org: RequireOwnAccount, services: Services, authorization: Authorization = None
) -> LogoutResponse:
    """Sets the password and revokes all other sessions of the person. Setting a first password requires a sign-in
    within the last 10 minutes if the account has two-step sign-in or an identity provider."""
    await services.sign_in.change_password(
        org, bearer_token(authorization), current=body.current_password, new=body.new_password
    )
    return LogoutResponse()


@router.get("/account-deletion", response_model=AccountDeletionPreviewResponse, operation_id="preview_account_deletion")
async def preview_account_deletion(org: RequireOwnAccount, session: Session, now: Now) -> DeletionPreview:
    """Shows what deleting your account would end, and what you must confirm it with."""
    return await account_deletion.preview_deletion(session, org, now)


@router.post("/account-deletion", response_model=AccountDeletionResponse, operation_id="delete_account")
async def delete_account(
    body: AccountDeletionBody, org: RequireOwnAccount, session: Session, services: Services, now: Now
) -> AccountDeletion:
    """Deletes your account. You leave your organizations; what you created there stays. Your sessions and keys end
    immediately.

    If you have neither a password nor two-step sign-in, you must have signed in within the last 10 minutes.
    """
    await services.confirm_deletion(session, org, body.current_password, body.code, now)
    return await account_deletion.delete_account(session, org, body.email, now)


@router.get("/sessions", response_model=list[SessionResponse], operation_id="list_sessions")
async def list_sessions(
    org: RequirePerson, session: Session, now: Now, authorization: Authorization = None
) -> list[SessionResponse]:
    """Lists your valid sessions, newest first; in a session of an identity provider, only those of its organization."""
    assert org.user_id is not None
    current = hash_token(bearer_token(authorization))
    return [
        SessionResponse(
            id=record.id,
            organization_id=record.organization_id,
            created_at=record.created_at,
            expires_at=record.expires_at,
            is_current=record.token_sha256 == current,
            is_impersonated=record.impersonator_id is not None,
        )
        for record in await repository.list_sessions(session, org.user_id, now)
        if not org.by_provider or record.organization_id == org.organization_id
    ]


@router.delete("/sessions/{session_id}", response_model=LogoutResponse, operation_id="end_session")
async def end_session(session_id: LongId, org: RequirePerson, session: Session, now: Now) -> LogoutResponse:
    """Revokes the session."""
    assert org.user_id is not None
    only_in = org.organization_id if org.by_provider else None
    await accounts.end_session(session, org.user_id, session_id, now, only_in=only_in)
    await write_audit_entry(session, org, "user.session_ended", f"session:{session_id}")
    return LogoutResponse()
