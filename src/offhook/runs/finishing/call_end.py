"""The end of a run: one transaction stores everything the conversation produced."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_values import JsonObject
from offhook.runs import service
from offhook.runs.finishing import finalization, repository
from offhook.runs.finishing.repository import RunEndValues
from offhook.runs.records import event_queries
from offhook.runs.records.storable_json import to_storable_json
from offhook.runs.states import COMPLETED, FAILED
from offhook.runs.tables import Run
from offhook.voice.ports import CallResult

# End reasons that neither side chose, which fail a run: our fault, or the line's.
_FAILURES: Final = frozenset({"error", "watchdog", "media_lost", "worker_lost"})


@dataclass(frozen=True, slots=True)
class FinishedConversation:
    """A conversation's result and its event totals; ``gathered``, ``usage`` and ``latency`` are in stored form.

    Without ``has_recording`` nothing was recorded, or it was deleted during the call.
    """

    result: CallResult
    gathered_context: JsonObject
    usage: JsonObject
    latency: JsonObject
    ended_at: datetime
    has_opted_out: bool = False
    has_recording: bool = True


async def store_run_end(
    session: AsyncSession,
    organization_id: int,
    run_id: int,
    ending: FinishedConversation,
    *,
    worker_id: str | None = None,
) -> Run | None:
    """Stores the end of a run that this process carried; idempotent. Returns None when the run has been deleted, or is
    carried by another process than ``worker_id``.

    A run that is already final (the carrier was faster) keeps its status and its known outcome.
    """
    result = ending.result
    end = RunEndValues(
        status=FAILED if result.end_reason in _FAILURES else COMPLETED,
        outcome=result.outcome,
        end_reason=result.end_reason,
        ended_at=ending.ended_at,
        duration=Decimal(f"{max(0.0, result.duration_s):.3f}"),
        gathered_context=to_storable_json(ending.gathered_context),
        usage=to_storable_json(ending.usage),
        latency=ending.latency,
        tags=[tag[:64] for tag in result.tags],
    )
    run = await repository.update_run_end(session, organization_id, run_id, end, worker_id=worker_id)
    if run is not None:
        if not ending.has_recording:
            run.recording_key = None
        await event_queries.notify_listeners(session, [run_id])
        if ending.has_opted_out:
            await service.put_on_do_not_call_list(session, run)
        await finalization.finalize_runs(session, [run])
    return run
