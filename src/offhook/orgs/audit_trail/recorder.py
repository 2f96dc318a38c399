"""The audit log: who changed what, from where; ``reads`` has who read what.

Domains record what they changed in their own words (:func:`write_audit_entry`). Other changes of a request are recorded in its
transaction under the operation's name (:func:`record_request`).
"""

from collections.abc import Mapping
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import HTTPConnection

from offhook.orgs.audit_trail import repository
from offhook.orgs.caller import Caller
from offhook.orgs.held_access import hold_access
from offhook.orgs.tables import AuditEntry

CHANGING_METHODS: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
# operation_id: the reason why its requests are not recorded although they write.
UNRECORDED_OPERATIONS: Final[dict[str, str]] = {
    "send_text_chat_message": "a turn of a conversation: the run's own events have it",
    "rewind_text_chat": "a turn of a conversation: the run's own events have it",
    "end_text_chat": "a turn of a conversation: the run's own events have it",
}
# Where people end their own access.
_OWN_ACCOUNT: Final = "/api/v1/auth/"
_IS_RECORDED: Final = "offhook.orgs.audit_trail.recorder"
_MAX_ACTION_CHARS: Final = 64
_MAX_TARGET_CHARS: Final = 200


async def write_audit_entry(
    session: AsyncSession,
    caller: Caller,
    action: str,
    target: str | None = None,
    data: Mapping[str, object] | None = None,
    ip: str | None = None,
) -> None:
    """Writes one entry in the caller's transaction, so that a change and its entry commit together.

    ``action`` is ``"noun.verb"`` (``"workflow.published"``), ``target`` names the object (``"workflow:12"``), ``data``
    holds no secret. ``ip`` is the caller's own address unless given.
    """
    session.add(
        AuditEntry(
            organization_id=caller.organization_id,
            actor_user_id=caller.user_id,
            actor_key_id=caller.key_id,
            impersonator_id=caller.impersonator_id,
            action=action,
            target=target,
            ip=ip or caller.ip,
            data=dict(data or {}),
        )
    )
    session.info[_IS_RECORDED] = True
    await session.flush()


async def write_change_entry(
    session: AsyncSession,
    caller: Caller,
    action: str,
    target: str | None = None,
    data: Mapping[str, object] | None = None,
    ip: str | None = None,
) -> None:
    """Writes an entry as :func:`write_audit_entry`, of a caller who still has the access that the request was let in with.

    Raises as ``hold_access``, so that the change is not made. For changes that take away the caller's own access, which this
    domain makes, there is the other one.
    """
    await session.flush()
    await hold_access(session, caller)
    await write_audit_entry(session, caller, action, target, data, ip)


def skip_audit_entry(session: AsyncSession) -> None:
    """Leaves this request out of the log: it changed nothing, although it may have locked a row."""
    session.info[_IS_RECORDED] = True


async def record_request(session: AsyncSession, connection: HTTPConnection, caller: Caller) -> None:
    """Writes an entry for what a changing request wrote, before its commit, unless its domain wrote one."""
    operation_id = str(getattr(connection.scope.get("route"), "operation_id", None) or connection.url.path)
    if session.info.get(_IS_RECORDED) or operation_id in UNRECORDED_OPERATIONS:
        return
    await session.flush()
    if not await repository.has_written(session):  # a search by POST changes nothing
        return
    # ``create_tool`` → ``tool.create``
    verb, _, noun = operation_id.partition("_")
    action = f"{noun}.{verb}" if noun else verb
    write = write_audit_entry if connection.scope["path"].startswith(_OWN_ACCOUNT) else write_change_entry
    await write(session, caller, action[:_MAX_ACTION_CHARS], name_target(connection))


def name_target(connection: HTTPConnection) -> str | None:
    """Returns what a request is about: ``{"workflow_id": 3, "run_id": 4}`` → ``run:4``, by the last part of its path."""
    if not connection.path_params:
        return None
    name, value = list(connection.path_params.items())[-1]
    return f"{name.removesuffix('_id').removesuffix('_uuid')}:{value}"[:_MAX_TARGET_CHARS]
