"""Batches of runs for campaigns: creates them, stores media tokens and reads their ends, one statement each."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.crypto import new_token
from offhook.kit.json_values import JsonObject
from offhook.runs.live import media_tokens
from offhook.runs.records import repository
from offhook.runs.records.placement import CallPlacement
from offhook.runs.states import LIVE_STATES
from offhook.usage import service as usage
from offhook.workflows.canaries import choice
from offhook.workflows.service import VersionToRun


@dataclass(frozen=True, slots=True)
class NewCall:
    """One outbound call of a batch. Numbers are E.164."""

    name: str
    to_number: str
    from_number: str
    context: JsonObject
    placement: CallPlacement


@dataclass(frozen=True, slots=True)
class CreatedRun:
    """A run of a batch and the token for its media socket."""

    id: int
    media_token: str


@dataclass(frozen=True, slots=True)
class RunEnd:
    """The end of a run, once it is complete. ``is_carried``: a live call carries it. ``status`` None: it is not
    over."""

    run_id: int
    status: str | None
    outcome: str | None
    end_reason: str | None
    is_carried: bool = False


async def create_calls(
    session: AsyncSession, version: VersionToRun, *, mode: str, campaign_id: int, calls: Sequence[NewCall]
) -> list[CreatedRun]:
    """Creates runs in state ``initiated``, each with a media token, in the order of ``calls``.

    ``version`` is the published one; a canary takes its share. The caller holds the lock of the organization's call slots
    and has checked that enough of them are free.
    """
    canary = await choice.find_canary(session, version.organization_id, version.workflow_id)
    draws = [canary.draw_call(call.to_number) for call in calls] if canary is not None else []
    versions = [canary.version if canary is not None and draw.is_new else version for draw in draws]
    rows = [
        {
            "workflow_id": given.workflow_id,
            "version_id": given.version_id,
            "version_number": given.version_number,
            "name": call.name,
            "mode": mode,
            "direction": "outbound",
            "phone_number": call.to_number,
            "called_number": call.to_number,
            "caller_number": call.from_number,
            "campaign_id": campaign_id,
            "initial_context": call.context,
            "placement": call.placement.to_json(),
        }
        for call, given in zip(calls, versions or [version] * len(calls), strict=True)
    ]
    run_ids = await repository.insert_runs(session, version.organization_id, rows)
    if draws:
        await choice.record_draws(session, version.organization_id, dict(zip(run_ids, draws, strict=True)))
    await usage.hold_for_calls(session, version.organization_id, run_ids)
    runs = [CreatedRun(run_id, new_token()) for run_id in run_ids]
    await media_tokens.store_tokens(session, mode, {run.media_token: run.id for run in runs})
    return runs


async def load_run_ends(session: AsyncSession, organization_id: int, run_ids: Sequence[int]) -> list[RunEnd]:
    """Returns how these runs ended; deleted runs are left out."""
    return [
        RunEnd(
            row.id,
            # A final run with a lease is still being completed by its process, or by the sweeper.
            None if row.status in LIVE_STATES or row.is_leased else row.status,
            row.outcome,
            row.end_reason,
            row.is_carried,
        )
        for row in await repository.load_run_ends(session, organization_id, run_ids)
    ]
