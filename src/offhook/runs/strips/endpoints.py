"""Endpoints for the strip of one run, and for the small ones of a list."""

from typing import Annotated, Final

from fastapi import APIRouter, Query

from offhook.kit.http.path_ids import Id, LongId
from offhook.kit.json_values import JsonObject
from offhook.orgs import CurrentOrg, ReadTransaction
from offhook.runs.services import Services
from offhook.runs.strips.loudness import BARS, reduce_bars
from offhook.runs.strips.schemas import CallStrip, CallStripList, MeasuredCallStrip
from offhook.runs.tables import RunStrip

router = APIRouter(prefix="/workflow", tags=["runs"])
list_router = APIRouter(prefix="/organizations/usage", tags=["usage"])

# A list's page has at most so many.
MAX_RUNS: Final = 200
# 144 pixels: a bar of two and a gap of one.
LIST_BARS: Final = 48

RunIdsParam = Annotated[
    list[Annotated[int, Query(ge=1, le=2**63 - 1)]], Query(min_length=1, max_length=MAX_RUNS, description="Repeatable")
]


@router.get(
    "/{workflow_id}/runs/{run_id}/strip",
    response_model=MeasuredCallStrip,
    operation_id="get_workflow_run_strip",
)
async def get_run_strip(
    workflow_id: Id, run_id: LongId, org: CurrentOrg, _read: ReadTransaction, services: Services
) -> MeasuredCallStrip:
    """Returns the loudness of both sides, the steps and the marks of a finished run, for drawing it as a strip, and the
    answer times as they are heard in the recording."""
    strip = await services.strips.load_strip(org.organization_id, workflow_id, run_id)
    return MeasuredCallStrip.model_validate(_describe_strip(strip, BARS))


@list_router.get("/strips", response_model=CallStripList, operation_id="list_run_strips")
async def list_run_strips(
    run_ids: RunIdsParam, org: CurrentOrg, _read: ReadTransaction, services: Services
) -> CallStripList:
    """Returns small strips of several runs, for lists. Runs in progress and runs that do not exist are left out."""
    strips, pending = await services.strips.load_strips(org.organization_id, run_ids)
    return CallStripList(
        strips=[CallStrip.model_validate(_describe_strip(strip, LIST_BARS)) for strip in strips], pending=pending
    )


def _describe_strip(strip: RunStrip, bars: int) -> JsonObject:
    return {
        "workflow_run_id": strip.run_id,
        "seconds": float(strip.seconds),
        "caller": list(reduce_bars(strip.caller, bars)),
        "agent": list(reduce_bars(strip.agent, bars)),
        **strip.timeline,
    }
