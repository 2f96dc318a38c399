"""The dependencies by which endpoints learn who is calling: ``org: CurrentOrg``, ``org: RequireAdmin``, …"""

from datetime import datetime
from functools import partial
from typing import Annotated

from fastapi import Depends, Header
from starlette.requests import HTTPConnection

from offhook.errors import Forbidden
from offhook.kit.clock import Clock
from offhook.kit.db import before_commit
from offhook.orgs.audit import CHANGING_METHODS, record_request
from offhook.orgs.authentication import Authenticator
from offhook.orgs.caller import ADMINS, WRITERS, Caller
from offhook.orgs.errors import PersonOnly, SuperuserOnly

Authorization = Annotated[str | None, Header(description="`Bearer <token>`, or the bare token")]
ApiKeyHeader = Annotated[str | None, Header(alias="X-API-Key", description="An API key; decides when both are sent")]


# Dependencies are async, although some await nothing: the framework sends plain functions through a thread.
async def client_address(connection: HTTPConnection) -> str | None:
    """The address of the client, as the server sees it behind its trusted proxies."""
    # A trusted proxy may pass anything on; longer than an IPv6 address with its zone is none.
    return connection.client.host[:64] if connection.client else None


async def _now(connection: HTTPConnection) -> datetime:
    clock: Clock = connection.app.state.root.clock
    return clock.now()


Now = Annotated[datetime, Depends(_now)]
ClientAddress = Annotated[str | None, Depends(client_address)]


async def optional_caller(
    connection: HTTPConnection,
    ip: ClientAddress,
    authorization: Authorization = None,
    x_api_key: ApiKeyHeader = None,
) -> Caller | None:
    """The caller, or None when no credential was sent; a bad credential is 401 all the same."""
    if authorization is None and x_api_key is None:
        return None
    return await _authenticate(connection, ip, authorization, x_api_key)


async def current_caller(
    connection: HTTPConnection,
    ip: ClientAddress,
    authorization: Authorization = None,
    x_api_key: ApiKeyHeader = None,
) -> Caller:
    return await _authenticate(connection, ip, authorization, x_api_key)


async def _authenticate(
    connection: HTTPConnection, ip: str | None, authorization: str | None, x_api_key: str | None
) -> Caller:
    authenticator: Authenticator = connection.app.state.root.get(Authenticator)
    caller = await authenticator.authenticate(api_key=x_api_key, authorization=authorization, ip=ip)
    if connection.scope.get("method") in CHANGING_METHODS:
        before_commit(connection, partial(record_request, connection=connection, caller=caller))
    return caller


CurrentOrg = Annotated[Caller, Depends(current_caller)]
OptionalOrg = Annotated[Caller | None, Depends(optional_caller)]


async def require_member(caller: CurrentOrg) -> Caller:
    if caller.role not in WRITERS:
        raise Forbidden("Your role only reads: this needs the role member.")
    return caller


async def require_admin(caller: CurrentOrg) -> Caller:
    if caller.role not in ADMINS:
        raise Forbidden("This needs the role admin.")
    return caller


async def require_superuser(caller: CurrentOrg) -> Caller:
    # A borrowed session never carries more rights than its user, and cannot borrow again.
    if not caller.is_superuser or caller.impersonator_id is not None:
        raise SuperuserOnly
    return caller


async def require_person(caller: CurrentOrg) -> Caller:
    """A person on his own behalf: his password and his sessions are no business of a key or of a superuser."""
    if caller.user_id is None or caller.impersonator_id is not None:
        raise PersonOnly
    return caller


RequirePerson = Annotated[Caller, Depends(require_person)]
RequireMember = Annotated[Caller, Depends(require_member)]
RequireAdmin = Annotated[Caller, Depends(require_admin)]
RequireSuperuser = Annotated[Caller, Depends(require_superuser)]
