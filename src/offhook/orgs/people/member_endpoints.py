"""Members and invitations over HTTP."""

from datetime import datetime

from pydantic import ConfigDict
from starlette.requests import Request

from offhook.kit.database.database import Session
from offhook.kit.http.path_ids import Id
from offhook.kit.http.routing import Router
from offhook.kit.schema import Schema
from offhook.orgs import service
from offhook.orgs.audit_trail.recorder import skip_audit_entry, write_audit_entry
from offhook.orgs.caller import Caller
from offhook.orgs.dependencies import CurrentOrg, Now, RequireAdmin, RequireAdminPerson
from offhook.orgs.fresh_sign_in import check_fresh_sign_in
from offhook.orgs.identity_provider import repository as identities
from offhook.orgs.people import invitations, members, repository
from offhook.orgs.people.members import MemberChange
from offhook.orgs.schemas import Email, MemberList, MemberResponse, Name, Role, SignInLinkCreated
from offhook.orgs.second_factor import repository as second_factors
from offhook.orgs.tables import Invitation, Member, User
from offhook.root import base_url

router = Router(prefix="/organizations", tags=["members"])


class InvitationCreate(Schema):
    email: Email
    role: Role = "member"
    name: Name | None = None


class InvitationResponse(Schema):
    model_config = ConfigDict(from_attributes=True)

    id: int
    email: str
    name: str | None
    role: Role
    invited_by: int | None
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None


class InvitationCreated(InvitationResponse):
    """``token`` and ``url`` (which contains it) are returned only once; send the link to the person."""

    token: str
    url: str


class InvitationList(Schema):
    invitations: list[InvitationResponse]


class MemberChanged(MemberResponse):
    """``ended_keys``: names of the API keys that ended with the change."""

    ended_keys: list[str]


class RoleChange(Schema):
    role: Role


@router.get("/members", response_model=MemberList, operation_id="list_members")
async def list_members(org: RequireAdmin, session: Session) -> MemberList:
    """Lists the members in the order in which they joined."""
    rows = await repository.list_members(session, org.organization_id)
    names = await repository.keys_by_creator(session, org.organization_id)
    secured = await second_factors.members_with_factor(session, org.organization_id)
    linked = await identities.linked_members(session, org.organization_id)
    return MemberList(
        members=[
            _member_response(
                user,
                member,
                names.get(user.id, []),
                has_second_factor=user.id in secured,
                has_identity=user.id in linked,
            )
            for user, member in rows
        ]
    )


@router.post("/members", response_model=InvitationCreated, operation_id="invite_member")
async def invite_member(
    body: InvitationCreate, org: RequireAdminPerson, session: Session, now: Now, request: Request
) -> InvitationCreated:
    """Creates an invitation. The person joins with the link in the response, which works once within seven days.
    An earlier invitation of the same address is revoked."""
    new = await invitations.create_invitation(session, org, email=body.email, name=body.name, role=body.role, now=now)
    data = {"email": body.email, "role": body.role}
    await write_audit_entry(session, org, "invitation.created", f"invitation:{new.record.id}", data)
    shown = InvitationResponse.model_validate(new.record).model_dump()
    return InvitationCreated(**shown, token=new.token, url=f"{base_url(request)}/invitation?token={new.token}")


@router.patch("/members/{user_id}", response_model=MemberChanged, operation_id="change_member_role")
async def change_member_role(user_id: Id, body: RoleChange, org: RequireAdminPerson, session: Session) -> MemberChanged:
    """Changes a member's role. Only owners can grant or revoke ownership; the last owner cannot be removed. API keys that
    the person created end when the person is no longer an admin."""
    change = await members.change_role(session, org, user_id, body.role)
    if change.previous_role == body.role:
        skip_audit_entry(session)
    else:
        data = {"from": change.previous_role, "to": body.role, "ended_keys": change.ended_keys}
        await write_audit_entry(session, org, "member.role_changed", f"user:{user_id}", data)
    return await _change_response(session, org, change)


@router.post("/members/{user_id}/password-link", response_model=SignInLinkCreated, operation_id="create_password_link")
async def create_password_link(
    user_id: Id, org: RequireAdminPerson, session: Session, now: Now, request: Request
) -> SignInLinkCreated:
    """Creates a link that lets a member choose a new password, once, within 24 hours. Only owners can create one
    for an owner. Returns 409 `password_link_refused` for people who belong to other organizations
    too: the operator makes their link. A link for yourself requires a sign-in within the last 10 minutes."""
    if user_id == org.user_id:
        check_fresh_sign_in(org, now)
    user = await members.require_own_person(session, org, user_id)
    token = await service.create_sign_in_link(
        session,
        organization_id=org.organization_id,
        user_id=user.id,
        now=now,
        sets_password=True,
        created_by=org.user_id,
    )
    await write_audit_entry(session, org, "sign_in_link.created", f"user:{user_id}", {"sets_password": True})
    url = f"{base_url(request)}/sign-in?token={token}"
    return SignInLinkCreated(email=user.email, token=token, url=url, expires_at=now + service.LINK_LIFETIME)


@router.delete("/members/{user_id}", response_model=MemberChanged, operation_id="remove_member")
async def remove_member(user_id: Id, org: CurrentOrg, session: Session) -> MemberChanged:
    """Removes a member (admins) or lets you leave. The person's sessions and API keys in this organization end
    immediately."""
    change = await members.remove_member(session, org, user_id)
    action = "member.left" if user_id == org.user_id else "member.removed"
    data = {"role": change.previous_role, "ended_keys": change.ended_keys}
    await write_audit_entry(session, org, action, f"user:{user_id}", data)
    return await _change_response(session, org, change)


@router.get("/invitations", response_model=InvitationList, operation_id="list_invitations")
async def list_invitations(org: RequireAdmin, session: Session, now: Now) -> InvitationList:
    """Lists the invitations that can still be accepted, newest first."""
    return InvitationList(invitations=await repository.list_open_invitations(session, org.organization_id, now))


@router.delete("/invitations/{invitation_id}", response_model=InvitationResponse, operation_id="revoke_invitation")
async def revoke_invitation(invitation_id: Id, org: RequireAdmin, session: Session, now: Now) -> Invitation:
    """Revokes an invitation, so that its link no longer works. Returns 404 when it was already accepted."""
    record, changed = await invitations.revoke_invitation(session, org.organization_id, invitation_id, now)
    if changed:
        await write_audit_entry(
            session, org, "invitation.revoked", f"invitation:{invitation_id}", {"email": record.email}
        )
    else:
        skip_audit_entry(session)
    return record


def _member_response(
    user: User, member: Member, api_keys: list[str], *, has_second_factor: bool, has_identity: bool
) -> MemberResponse:
    return MemberResponse(
        user_id=user.id,
        email=user.email,
        name=user.name,
        role=member.role,
        created_at=member.created_at,
        api_keys=api_keys,
        has_second_factor=has_second_factor,
        has_identity=has_identity,
    )


async def _change_response(session: Session, org: Caller, change: MemberChange) -> MemberChanged:
    names = await repository.keys_by_creator(session, org.organization_id)
    has_second_factor = await second_factors.has_factor(session, change.user.id)
    linked = await identities.linked_members(session, org.organization_id)
    member = _member_response(
        change.user,
        change.member,
        names.get(change.user.id, []),
        has_second_factor=has_second_factor,
        has_identity=change.user.id in linked,
    )
    return MemberChanged(**member.model_dump(), ended_keys=change.ended_keys)
