"""Coverage of an agent's graph over HTTP."""

from typing import Annotated

from fastapi import Query

from offhook.kit.database.database import Session
from offhook.kit.http.path_ids import Id
from offhook.kit.http.routing import Router
from offhook.orgs import CurrentOrg, Now
from offhook.scenarios.coverage import service
from offhook.scenarios.coverage.schemas import CallCoverageResponse, ScenarioCoverageResponse

router = Router(prefix="/workflow/{workflow_id}", tags=["scenarios"])


@router.get("/scenario-coverage", response_model=ScenarioCoverageResponse, operation_id="get_scenario_coverage")
async def get_scenario_coverage(
    workflow_id: Id,
    org: CurrentOrg,
    session: Session,
    version: Annotated[
        int | None, Query(ge=1, le=2**31 - 1, description="A version by its number, instead of the draft")
    ] = None,
) -> ScenarioCoverageResponse:
    """Returns how many scenarios took each node, edge, condition and tool of the draft, or of the published version if
    there is no draft, by their last results with it. Only scenarios that passed count."""
    found = await service.measure_scenarios(session, org.organization_id, workflow_id, number=version)
    return ScenarioCoverageResponse.from_coverage(found)


@router.get("/call-coverage", response_model=CallCoverageResponse, operation_id="get_call_coverage")
async def get_call_coverage(
    workflow_id: Id,
    org: CurrentOrg,
    session: Session,
    now: Now,
    days: Annotated[int, Query(ge=1, le=service.MAX_DAYS)] = 30,
) -> CallCoverageResponse:
    """Returns how many of the newest 500 telephone calls of the last `days` took each node, edge, condition and tool of
    the draft, or of the published version. Calls with any version count, matched by the ids of nodes and edges and the
    names of tools; text chats and browser calls do not count."""
    found = await service.measure_calls(session, org.organization_id, workflow_id, now, days=days)
    return CallCoverageResponse.from_coverage(found)
