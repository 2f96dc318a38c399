"""Dependencies that give endpoints their caller: ``org: CurrentOrg``, ``org: RequireAdmin``, …"""

from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Annotated, Final

from fastapi import Depends, Header
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import HTTPConnection

from offhook.errors import Forbidden
from offhook.kit.clock import Clock
from offhook.kit.database.database import Session, before_commit, count_for_organization
from offhook.kit.http.openapi import declares_headers
from offhook.orgs.access_rules import check_access
from offhook.orgs.audit_trail.reads import is_recorded_read
from offhook.orgs.audit_trail.recorder import CHANGING_METHODS, record_request
from offhook.orgs.caller import ADMINS, OWNER, WRITERS, Caller
from offhook.orgs.errors import OwnerOnly, PersonOnly, ProviderSessionRefused, SuperuserOnly
from offhook.orgs.services import OrganizationServices, find_services
from offhook.orgs.storage_quota import StorageQuota

_BEARER: Final = "`Bearer <token>`, or the bare token"
Authorization = Annotated[str | None, Header(description=_BEARER)]
_credentials = declares_headers(
    {"authorization": _BEARER, "X-API-Key": "An API key; takes precedence when both are sent"}
)


# Dependencies are async, even without an await: the framework runs plain functions in a thread.
async def client_address(connection: HTTPConnection) -> str | None:
    """Returns the address of the client, as the server sees it behind its trusted proxies."""
    # A trusted proxy may forward any text; anything longer than an IPv6 address with a zone is not an address.
    return connection.client.host[:64] if connection.client else None


async def _current_time(connection: HTTPConnection) -> datetime:
    clock: Clock = connection.app.state.root.clock
    return clock.now()


Now = Annotated[datetime, Depends(_current_time)]
ClientAddress = Annotated[str | None, Depends(client_address)]


async def storage_quota(connection: HTTPConnection) -> StorageQuota:
    """Returns the quota of uploaded files."""
    services: OrganizationServices = await find_services(connection)
    return services.quota


OrganizationQuota = Annotated[StorageQuota, Depends(storage_quota)]


@_credentials
async def optional_caller(connection: HTTPConnection) -> Caller | None:
    """Returns the caller, or None when no credential was sent; an invalid credential is still 401."""
    headers = connection.headers
    return await current_caller(connection) if "authorization" in headers or "x-api-key" in headers else None


@_credentials
async def current_caller(connection: HTTPConnection) -> Caller:
    """Returns the caller, in one layer without parameters, because each layer and parameter slows every request."""
    headers = connection.headers
    services: OrganizationServices = await find_services(connection)
    caller = await services.authenticator.authenticate(
        api_key=headers.get("x-api-key"),
        authorization=headers.get("authorization"),
        ip=await client_address(connection),
    )
    check_access(connection, caller)
    if connection.scope["type"] == "http":
        count_for_organization(connection, caller.organization_id)
        if connection.scope["method"] in CHANGING_METHODS:
            before_commit(connection, partial(record_request, connection=connection, caller=caller))
        elif is_recorded_read(connection, caller):
            before_commit(connection, partial(services.reads.record_read, connection=connection, caller=caller))
    return caller


async def record_link_read(
    session: AsyncSession, connection: HTTPConnection, organization_id: int, action: str, target: str
) -> None:
    """Writes the entry of a read by the holder of a signed link, who is known by address only."""
    services: OrganizationServices = await find_services(connection)
    holder = replace(Caller.system(organization_id, role="viewer"), ip=await client_address(connection))
    await services.reads.write_entry(session, holder, action, target, {"by": "signed_link"})


CurrentOrg = Annotated[Caller, Depends(current_caller)]
# Of endpoints that read in transactions of their own: the entry of a read is written in the request's.
ReadTransaction = Session
OptionalOrg = Annotated[Caller | None, Depends(optional_caller)]


async def require_member(caller: CurrentOrg) -> Caller:
    if caller.role not in WRITERS:
        raise Forbidden("Your role is read-only. This requires the member role.")
    return caller


async def require_admin(caller: CurrentOrg) -> Caller:
    if caller.role not in ADMINS:
        raise Forbidden("This requires the admin role.")
    return caller


async def require_superuser(caller: CurrentOrg) -> Caller:
    # An impersonated session never carries more rights than its user, and cannot impersonate again.
    if not caller.is_superuser or caller.impersonator_id is not None:
        raise SuperuserOnly
    return caller


async def require_person(caller: CurrentOrg) -> Caller:
    """Requires a person acting for themselves: passwords and sessions are off limits to API keys and superusers."""
    if caller.user_id is None or caller.impersonator_id is not None:
        raise PersonOnly
    return caller


async def require_own_account(caller: Annotated[Caller, Depends(require_person)]) -> Caller:
    """Requires a person who proved to be the account's: an organization's identity provider speaks for that organization only."""
    if caller.by_provider:
        raise ProviderSessionRefused
    return caller


async def require_owner_person(caller: Annotated[Caller, Depends(require_own_account)]) -> Caller:
    """Requires an owner acting for themselves: whom the organization belongs to."""
    if caller.role != OWNER:
        raise OwnerOnly
    return caller


async def require_admin_person(caller: Annotated[Caller, Depends(require_admin)]) -> Caller:
    """Requires an admin acting for themselves: what lets others in is off limits to API keys and superusers."""
    return await require_person(caller)


RequirePerson = Annotated[Caller, Depends(require_person)]
RequireOwnAccount = Annotated[Caller, Depends(require_own_account)]
RequireMember = Annotated[Caller, Depends(require_member)]
RequireAdmin = Annotated[Caller, Depends(require_admin)]
RequireOwnerPerson = Annotated[Caller, Depends(require_owner_person)]
RequireAdminPerson = Annotated[Caller, Depends(require_admin_person)]
RequireSuperuser = Annotated[Caller, Depends(require_superuser)]
