"""The organization itself, its preferences and its limits over HTTP."""

from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from offhook.kit.database.database import Session
from offhook.kit.http.routing import Router
from offhook.kit.phone_numbers import E164
from offhook.kit.schema import Schema
from offhook.orgs import service
from offhook.orgs.dependencies import CurrentOrg, RequireAdmin, RequireAdminPerson, RequireMember
from offhook.orgs.preferences import preferences
from offhook.orgs.preferences.preferences import TimeZoneName
from offhook.orgs.schemas import Name, OrganizationResponse, Role
from offhook.orgs.tables import Organization
from offhook.root import Root
from offhook.settings import Settings

router = Router(prefix="/organizations", tags=["organizations"])


async def _app_settings(request: Request) -> Settings:
    root: Root = request.app.state.root
    return root.settings


class OrganizationUpdate(Schema):
    name: Name


class PreferencesUpdate(Schema):
    """Omitted fields keep their value; ``test_phone_number: null`` removes the number."""

    timezone: TimeZoneName = "UTC"
    test_phone_number: E164 | None = None


class PreferencesResponse(Schema):
    """``timezone`` sets where a day of the usage report begins; test calls dial ``test_phone_number``."""

    timezone: str
    test_phone_number: str | None


class LimitsResponse(Schema):
    """``source`` is ``organization`` (its own limit) or ``installation`` (the default)."""

    concurrent_calls: int
    source: str


class SupportAccess(Schema):
    """Whether a superuser who impersonates a member can make changes. Keys, members, webhooks, credentials and
    carrier accounts can never be changed this way."""

    may_write: bool


class ContextResponse(Schema):
    """Everything a page needs first: the organization, your role in it, and its limits."""

    organization: OrganizationResponse
    preferences: PreferencesResponse
    limits: LimitsResponse
    role: Role
    user_id: int | None
    is_superuser: bool
    impersonated: bool
    signup_enabled: bool


@router.get("/current", response_model=OrganizationResponse, operation_id="get_current_organization")
async def get_current_organization(org: CurrentOrg, session: Session) -> Organization:
    return await service.get_organization(session, org.organization_id)


@router.patch("/current", response_model=OrganizationResponse, operation_id="update_current_organization")
async def update_current(body: OrganizationUpdate, org: RequireAdmin, session: Session) -> Organization:
    """Renames the organization."""
    return await preferences.change_organization(session, org, {"name": body.name}, "organization.renamed")


@router.get("/preferences", response_model=PreferencesResponse, operation_id="get_preferences")
async def get_preferences(org: CurrentOrg, session: Session) -> PreferencesResponse:
    return _preferences_response(await service.get_organization(session, org.organization_id))


@router.put("/preferences", response_model=PreferencesResponse, operation_id="put_preferences")
async def put_preferences(body: PreferencesUpdate, org: RequireMember, session: Session) -> PreferencesResponse:
    sent = body.model_dump(exclude_unset=True)
    values = {"time_zone" if name == "timezone" else name: value for name, value in sent.items()}
    return _preferences_response(await preferences.change_organization(session, org, values, "preferences.updated"))


@router.get("/support-access", response_model=SupportAccess, operation_id="get_support_access")
async def get_support_access(org: RequireAdmin, session: Session) -> SupportAccess:
    organization = await service.get_organization(session, org.organization_id)
    return SupportAccess(may_write=organization.support_may_write)


@router.put("/support-access", response_model=SupportAccess, operation_id="put_support_access")
async def put_support_access(body: SupportAccess, org: RequireAdminPerson, session: Session) -> SupportAccess:
    values = {"support_may_write": body.may_write}
    organization = await preferences.change_organization(session, org, values, "support_access.changed")
    return SupportAccess(may_write=organization.support_may_write)


@router.get("/context", response_model=ContextResponse, operation_id="get_organization_context")
async def get_context(
    org: CurrentOrg, session: Session, settings: Annotated[Settings, Depends(_app_settings)]
) -> ContextResponse:
    organization = await service.get_organization(session, org.organization_id)
    own_limit = organization.concurrency_limit
    limits = (
        LimitsResponse(concurrent_calls=settings.org_concurrency_limit, source="installation")
        if own_limit is None
        else LimitsResponse(concurrent_calls=own_limit, source="organization")
    )
    return ContextResponse(
        organization=organization,
        preferences=_preferences_response(organization),
        limits=limits,
        role=org.role,
        user_id=org.user_id,
        is_superuser=org.is_superuser,
        impersonated=org.impersonator_id is not None,
        signup_enabled=settings.signup_enabled,
    )


def _preferences_response(organization: Organization) -> PreferencesResponse:
    return PreferencesResponse(timezone=organization.time_zone, test_phone_number=organization.test_phone_number)
