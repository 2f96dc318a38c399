"""The audit log: who changed what, from where.

Domains say in their own words what they changed (:func:`write_audit_entry`). What a request changed without a word is recorded all
the same, in its own transaction, under the operation's name (:func:`record_request`).
"""

from typing import Any, Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import HTTPConnection

from offhook.orgs.caller import Caller
from offhook.orgs.tables import AuditEntry

CHANGING_METHODS: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
# operation_id: why a request of it is no entry although it writes.
UNRECORDED_OPERATIONS: Final[dict[str, str]] = {
    "send_text_chat_message": "a turn of a conversation: the run's own events have it",
    "rewind_text_chat": "a turn of a conversation: the run's own events have it",
    "end_text_chat": "a turn of a conversation: the run's own events have it",
}
_IS_RECORDED: Final = "offhook.orgs.audit_trail.recorder"
_MAX_ACTION_CHARS: Final = 64
_MAX_TARGET_CHARS: Final = 200


async def write_audit_entry(
    session: AsyncSession,
    caller: Caller,
    action: str,
    target: str | None = None,
    data: dict[str, Any] | None = None,
    ip: str | None = None,
) -> None:
    """Write one entry in the caller's transaction, so that a change and its entry live or die together.

    ``action`` is ``"noun.verb"`` (``"workflow.published"``), ``target`` names the thing (``"workflow:12"``), ``data``
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
            data=data or {},
        )
    )
    session.info[_IS_RECORDED] = True
    await session.flush()


def skip_audit_entry(session: AsyncSession) -> None:
    """The request found everything as it wanted it, although it may have locked a row: no entry."""
    session.info[_IS_RECORDED] = True


async def record_request(session: AsyncSession, connection: HTTPConnection, caller: Caller) -> None:
    """Before the commit of a changing request: an entry for what it wrote, unless its domain wrote one."""
    operation_id = str(getattr(connection.scope.get("route"), "operation_id", None) or connection.url.path)
    if session.info.get(_IS_RECORDED) or operation_id in UNRECORDED_OPERATIONS:
        return
    await session.flush()
    # PostgreSQL numbers a transaction at its first write: a search by POST leaves nothing behind.
    has_written = await session.scalar(text("SELECT pg_current_xact_id_if_assigned() IS NOT NULL"))
    if has_written:
        await write_audit_entry(session, caller, _action(operation_id), _target_name(connection.path_params))


def _action(operation_id: str) -> str:
    """``create_tool`` → ``tool.create``."""
    verb, _, noun = operation_id.partition("_")
    return (f"{noun}.{verb}" if noun else verb)[:_MAX_ACTION_CHARS]


def _target_name(path: dict[str, Any]) -> str | None:
    """``{"workflow_id": 3, "run_id": 4}`` → ``run:4``: the last part of the path is what is acted on."""
    if not path:
        return None
    name, value = list(path.items())[-1]
    return f"{name.removesuffix('_id').removesuffix('_uuid')}:{value}"[:_MAX_TARGET_CHARS]
