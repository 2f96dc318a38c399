"""Webhook events about runs, published in the transaction that changes the run: exactly once, or not at all."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_values import JsonObject
from offhook.runs.records.storable_json import to_storable_json
from offhook.runs.states import COMPLETED
from offhook.runs.tables import Run
from offhook.webhooks import service as webhooks

RUN_STARTED: Final = "run.started"
RUN_COMPLETED: Final = "run.completed"
RUN_FAILED: Final = "run.failed"


async def publish_run_started(session: AsyncSession, run: Run) -> None:
    """Publishes that the run's media connected, or that its chat began."""
    key = f"{RUN_STARTED}:{run.id}"
    await webhooks.publish_event(session, run.organization_id, RUN_STARTED, to_storable_json(run_payload(run)), key=key)


async def publish_runs_finished(session: AsyncSession, runs: Sequence[Run]) -> None:
    """Publishes that these runs of one organization are complete. ``run.failed`` is any end but ``completed``,
    including busy, no answer and canceled."""
    outgoing_events = [
        webhooks.OutgoingEvent(
            RUN_COMPLETED if run.status == COMPLETED else RUN_FAILED,
            to_storable_json(run_payload(run)),
            f"run.finished:{run.id}",
        )
        for run in runs
    ]
    await webhooks.publish_events(session, runs[0].organization_id, outgoing_events)


def run_payload(run: Run) -> JsonObject:
    """Returns the run as events show it; the full run is one request away."""
    times = {name: getattr(run, name) for name in ("created_at", "started_at", "answered_at", "ended_at")}
    return {
        "run_id": run.id,
        "workflow_run_id": run.id,
        "workflow_run_name": run.name,
        "workflow_id": run.workflow_id,
        "campaign_id": run.campaign_id,
        "mode": run.mode,
        "direction": run.direction,
        "status": run.status,
        "outcome": run.outcome,
        "result": run.result,
        "is_success": run.is_success,
        "end_reason": run.end_reason,
        "phone_number": run.phone_number,
        "caller_number": run.caller_number,
        "called_number": run.called_number,
        "call_id": run.call_id,
        "duration": None if run.duration is None else float(run.duration),
        "cost_cents": run.cost_cents,
        "initial_context": run.initial_context,
        "gathered_context": run.gathered_context,
        **{name: None if at is None else at.isoformat() for name, at in times.items()},
    }
