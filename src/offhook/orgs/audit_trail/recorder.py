"""The audit log: who changed what, from where.

Domains say in their own words what they changed (:func:`audit`). What a request changed without a word is recorded all
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
NOT_RECORDED: Final[dict[str, str]] = {
    "send_text_chat_message": "a turn of a conversation: the run's own events have it",
    "rewind_text_chat": "a turn of a conversation: the run's own events have it",
    "end_text_chat": "a turn of a conversation: the run's own events have it",
}
_IS_RECORDED: Final = "offhook.orgs.audit_trail.recorder"
_MAX_ACTION: Final = 64
_MAX_TARGET: Final = 200


async def audit(
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


def nothing_changed(session: AsyncSession) -> None:
    """The request found everything as it wanted it, although it may have locked a row: no entry."""
    session.info[_IS_RECORDED] = True


async def record_request(session: AsyncSession, connection: HTTPConnection, caller: Caller) -> None:
    """Before the commit of a changing request: an entry for what it wrote, unless its domain wrote one."""
    operation_id = str(getattr(connection.scope.get("route"), "operation_id", None) or connection.url.path)
    if session.info.get(_IS_RECORDED) or operation_id in NOT_RECORDED:
        return
    await session.flush()
    # PostgreSQL numbers a transaction at its first write: a search by POST leaves nothing behind.
    has_written = await session.scalar(text("SELECT pg_current_xact_id_if_assigned() IS NOT NULL"))
    if has_written:
        await audit(session, caller, _action(operation_id), _target(connection.path_params))


def _action(operation_id: str) -> str:
    """``create_tool`` → ``tool.create``."""
    verb, _, noun = operation_id.partition("_")
    return (f"{noun}.{verb}" if noun else verb)[:_MAX_ACTION]


def _target(path: dict[str, Any]) -> str | None:
    """``{"workflow_id": 3, "run_id": 4}`` → ``run:4``: the last part of the path is what is acted on."""
    if not path:
        return None
    name, value = list(path.items())[-1]
    return f"{name.removesuffix('_id').removesuffix('_uuid')}:{value}"[:_MAX_TARGET]
