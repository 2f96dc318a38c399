"""Entries for reads: of what was said on calls, of exports, and of everything that a superuser reads of others.

The same read by the same reader has one entry in ten minutes: a player asks for a recording in many ranges, and an open
page for its run again and again.
"""

from collections import OrderedDict
from functools import partial
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import HTTPConnection

from offhook.kit.clock import Clock
from offhook.kit.database.database import after_commit
from offhook.orgs.audit_trail.recorder import name_target, write_audit_entry
from offhook.orgs.caller import Caller

# operation_id → action
RECORDED_READS: Final = {
    "get_workflow_run": "run.read",
    "get_workflow_run_recording": "recording.read",
    "get_workflow_run_transcript": "transcript.read",
    "stream_workflow_run_events": "run_events.read",
    "get_run_scenario": "run_scenario.read",
    "get_text_chat": "text_chat.read",
    "get_campaign_source_url": "contact_file.read",
    "download_workflow_report": "workflow_report.exported",
    "download_data_archive": "data_archive.read",
    "export_run_evidence": "run_evidence.exported",
    "export_audit_log": "audit_log.exported",
    "download_usage_report": "usage_report.exported",
    "download_campaign_report": "campaign_report.exported",
}
# Lists that show what was said when its words are looked for, and else do not.
RECORDED_SEARCHES: Final = {"list_usage_runs": "transcripts.searched"}
_SUPERUSER_PATHS: Final = "/api/v1/superuser/"
_REPEATED_AFTER_S: Final = 600.0
_MAX_KEPT: Final = 50_000
_MAX_QUERY_CHARS: Final = 500

_Read = tuple[int, int | None, int | None, int | None, str, str | None, str]


def is_recorded_read(connection: HTTPConnection, caller: Caller) -> bool:
    """Returns whether this request's read has an entry."""
    return (
        caller.impersonator_id is not None
        or _find_action(connection) is not None
        or connection.scope["path"].startswith(_SUPERUSER_PATHS)
    )


def _operation_id(connection: HTTPConnection) -> str:
    return str(getattr(connection.scope.get("route"), "operation_id", None))


def _find_action(connection: HTTPConnection) -> str | None:
    operation_id = _operation_id(connection)
    if operation_id in RECORDED_SEARCHES and connection.query_params.get("search"):
        return RECORDED_SEARCHES[operation_id]
    return RECORDED_READS.get(operation_id)


class RecentReads:
    """The reads that this process recorded lately."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._recorded: OrderedDict[_Read, float] = OrderedDict()

    async def record_read(self, session: AsyncSession, connection: HTTPConnection, caller: Caller) -> None:
        """Writes an entry in the transaction of a request for which :func:`is_recorded_read`, unless it is a repetition."""
        operation_id = _operation_id(connection)
        path, query = connection.scope["path"], ""
        action, target = _find_action(connection), name_target(connection)
        if path.startswith(_SUPERUSER_PATHS):
            # Lists of all organizations differ by their query alone.
            action, target, query = "superuser.read", operation_id, connection.url.query[:_MAX_QUERY_CHARS]
        elif action is None:
            action, target = "support.read", operation_id
        await self.write_entry(session, caller, action, target, {"path": path} | ({"query": query} if query else {}))

    async def write_entry(
        self, session: AsyncSession, caller: Caller, action: str, target: str | None, data: dict[str, str]
    ) -> None:
        """Writes an entry of a read, unless the same reader's same read has one of the last ten minutes."""
        reader = caller.organization_id, caller.user_id, caller.key_id, caller.impersonator_id
        read: _Read = (*reader, action, target, f"{caller.ip} {data}")
        now = self._clock.now().timestamp()
        if now - self._recorded.get(read, float("-inf")) < _REPEATED_AFTER_S:
            return
        await write_audit_entry(session, caller, action, target, data)
        # A read that fails later is rolled back with its entry; the next one has to have its own.
        after_commit(session, partial(self._remember, read, now))

    def _remember(self, read: _Read, now: float) -> None:
        self._recorded[read] = now
        self._recorded.move_to_end(read)
        while len(self._recorded) > _MAX_KEPT:
            self._recorded.popitem(last=False)
