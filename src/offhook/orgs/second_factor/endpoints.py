"""Two-step sign-in over HTTP: one's own second factor, the organization's demand, and resets by owners."""

from datetime import datetime
from typing import Annotated

from pydantic import AwareDatetime, ConfigDict, StringConstraints

from offhook.kit.crypto import hash_token
from offhook.kit.database.database import Session
from offhook.kit.http.path_ids import Id
from offhook.kit.http.routing import Router
from offhook.kit.schema import Schema
from offhook.orgs.audit_trail.recorder import write_audit_entry
from offhook.orgs.dependencies import (
    Authorization,
    Now,
    RequireAdmin,
    RequireAdminPerson,
    RequireOwnAccount,
    RequirePerson,
)
from offhook.orgs.people import accounts
from offhook.orgs.people import repository as people
from offhook.orgs.schemas import LogoutResponse
from offhook.orgs.second_factor import administration
from offhook.orgs.second_factor.administration import Demand
from offhook.orgs.second_factor.factors import Enrollment, FactorStatus
from offhook.orgs.services import Services
from offhook.orgs.sign_in.authentication import bearer_token

Code = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)]

router = Router()


class SecondFactorResponse(Schema):
    """``due_at``: from when on your organization requires a second factor; null when it does not."""

    model_config = ConfigDict(from_attributes=True)

    is_enabled: bool
    enabled_at: datetime | None
    recovery_codes_left: int
    due_at: datetime | None


class SecondFactorEnrollmentBody(Schema):
    """``current_password`` is not needed when the account has no password: the sign-in must then be less than 10
    minutes old."""

    current_password: Annotated[str, StringConstraints(max_length=1024)] | None = None


class SecondFactorEnrollmentResponse(Schema):
    """``secret`` (base32) is for typing in, ``uri`` is what ``qr_code`` shows: an SVG image in a ``data:`` address."""

    model_config = ConfigDict(from_attributes=True)

    secret: str
    uri: str
    qr_code: str


class SecondFactorCode(Schema):
    """``code``: the six digits that the authenticator app shows now; where it is not the first one, also a recovery code."""

    code: Code


class RecoveryCodesResponse(Schema):
    """Ten codes, each of which can replace the authenticator app once. They are returned only once."""

    recovery_codes: list[str]


class SecondFactorDemandBody(Schema):
    """``due_at``: when members start to need a second factor, at most 90 days ahead; null: they need none."""

    due_at: AwareDatetime | None


class SecondFactorDemandResponse(Schema):
    """``members_without``: how many members have no second factor yet."""

    model_config = ConfigDict(from_attributes=True)

    due_at: datetime | None
    members_without: int


@router.get("/auth/second-factor", response_model=SecondFactorResponse, operation_id="get_second_factor", tags=["auth"])
async def get_second_factor(org: RequirePerson, session: Session, services: Services) -> FactorStatus:
    assert org.user_id is not None
    return await services.second_factors.status(session, org.user_id, org.organization_id)


@router.post(
    "/auth/second-factor/enrollment",
    response_model=SecondFactorEnrollmentResponse,
    operation_id="enroll_second_factor",
    tags=["auth"],
)
async def enroll_second_factor(
    body: SecondFactorEnrollmentBody, org: RequireOwnAccount, session: Session, services: Services, now: Now
) -> Enrollment:
    """Creates the secret for an authenticator app. It takes effect when a first code confirms it; until then, a new
    request replaces it. An account without a password requires a sign-in within the last 10 minutes."""
    await services.sign_in.confirm_before_change(org, body.current_password)
    user = await accounts.lock_caller(session, org, now)
    enrollment = await services.second_factors.begin(session, user.id, user.email)
    await write_audit_entry(session, org, "second_factor.enrollment_begun", f"user:{user.id}")
    return enrollment


@router.post(
    "/auth/second-factor/confirmation",
    response_model=RecoveryCodesResponse,
    operation_id="confirm_second_factor",
    tags=["auth"],
)
async def confirm_second_factor(
    body: SecondFactorCode,
    org: RequireOwnAccount,
    session: Session,
    services: Services,
    now: Now,
    authorization: Authorization = None,
) -> RecoveryCodesResponse:
    """Turns two-step sign-in on with the first code of the app, and returns the recovery codes. Your other sessions end."""
    user = await accounts.lock_caller(session, org, now)
    codes = await services.second_factors.confirm(session, user.id, body.code)
    ended = await people.revoke_other_sessions(session, user.id, hash_token(bearer_token(authorization)), now)
    data = {"sessions_ended": ended}
    await write_audit_entry(session, org, "second_factor.enabled", f"user:{org.user_id}", data)
    return RecoveryCodesResponse(recovery_codes=codes)


@router.post(
    "/auth/second-factor/recovery-codes",
    response_model=RecoveryCodesResponse,
    operation_id="renew_recovery_codes",
    tags=["auth"],
)
async def renew_recovery_codes(
    body: SecondFactorCode, org: RequireOwnAccount, session: Session, services: Services, now: Now
) -> RecoveryCodesResponse:
    """Replaces the recovery codes; the old ones stop working."""
    user = await accounts.lock_caller(session, org, now)
    codes = await services.second_factors.renew_recovery_codes(session, user.id, body.code)
    await write_audit_entry(session, org, "second_factor.recovery_codes_renewed", f"user:{org.user_id}")
    return RecoveryCodesResponse(recovery_codes=codes)


@router.post(
    "/auth/second-factor/removal", response_model=LogoutResponse, operation_id="remove_second_factor", tags=["auth"]
)
async def remove_second_factor(
    body: SecondFactorCode, org: RequireOwnAccount, session: Session, services: Services, now: Now
) -> LogoutResponse:
    """Turns two-step sign-in off, with a code of the app or a recovery code."""
    user = await accounts.lock_caller(session, org, now)
    await services.second_factors.remove(session, user.id, body.code)
    await write_audit_entry(session, org, "second_factor.removed", f"user:{org.user_id}")
    return LogoutResponse()


@router.get(
    "/organizations/second-factor-demand",
    response_model=SecondFactorDemandResponse,
    operation_id="get_second_factor_demand",
    tags=["organizations"],
)
async def get_demand(org: RequireAdmin, session: Session) -> Demand:
    return await administration.get_demand(session, org.organization_id)


@router.put(
    "/organizations/second-factor-demand",
    response_model=SecondFactorDemandResponse,
    operation_id="put_second_factor_demand",
    tags=["organizations"],
)
async def put_demand(body: SecondFactorDemandBody, org: RequireAdminPerson, session: Session, now: Now) -> Demand:
    """Requires two-step sign-in of all members, or stops requiring it. From `due_at` on, members without it can only
    open their own account, to set it up. API keys are not affected."""
    return await administration.set_demand(session, org, body.due_at, now)


@router.delete(
    "/organizations/members/{user_id}/second-factor",
    response_model=LogoutResponse,
    operation_id="reset_second_factor",
    tags=["members"],
)
async def reset_second_factor(user_id: Id, org: RequireAdminPerson, session: Session, now: Now) -> LogoutResponse:
    """Removes the second factor of a member who lost their authenticator app and recovery codes, and ends their
    sessions. Only owners can do this, and only for people who belong to no other organization; for others, the
    operator runs
    `offhook reset-second-factor EMAIL`."""
    await administration.reset_for_member(session, org, user_id, now)
    return LogoutResponse()
