"""Endpoints for the strip of one run, and for the small ones of a list."""

from typing import Annotated, Final

from fastapi import Query

from offhook.kit.database.database import Session
from offhook.kit.http.path_ids import Id, LongId
from offhook.kit.http.routing import Router
from offhook.kit.json_values import JsonObject
from offhook.orgs import CurrentOrg, Now, ReadTransaction
from offhook.runs.services import Services
from offhook.runs.strips.answer_queries import GroupBy
from offhook.runs.strips.answer_statistics import load_statistics
from offhook.runs.strips.loudness import BARS, reduce_bars
from offhook.runs.strips.schemas import AnswerTimeStatistics, CallStrip, CallStripList, MeasuredCallStrip
from offhook.runs.tables import RunStrip

router = Router(prefix="/workflow", tags=["runs"])
list_router = Router(prefix="/organizations/usage", tags=["usage"])

# A list's page has at most so many.
MAX_RUNS: Final = 200
# As many as insights have.
MAX_DAYS: Final = 92
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
    """Returns the loudness of both sides, the steps and the marks of a finished run, for drawing it as a strip, and
    the answer times as measured in the recording."""
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


@list_router.get("/answer-times", response_model=AnswerTimeStatistics, operation_id="get_answer_times")
async def get_answer_times(
    org: CurrentOrg,
    session: Session,
    now: Now,
    days: Annotated[int, Query(ge=1, le=MAX_DAYS)] = 30,
    group_by: Annotated[GroupBy, Query(description="What the figures are grouped by")] = "agent",
    workflow_id: Annotated[int | None, Query(ge=1, le=2**31 - 1, description="Only calls of this agent")] = None,
) -> AnswerTimeStatistics:
    """Returns percentiles of the answer times measured in recordings of the last days, by agent, language model,
    carrier or day. Days are in your organization's time zone. Calls of deleted agents still count."""
    return await load_statistics(session, org.organization_id, now, days, group_by, workflow_id)


def _describe_strip(strip: RunStrip, bars: int) -> JsonObject:
    return {
        "workflow_run_id": strip.run_id,
        "seconds": float(strip.seconds),
        "caller": list(reduce_bars(strip.caller, bars)),
        "agent": list(reduce_bars(strip.agent, bars)),
        **strip.timeline,
    }
