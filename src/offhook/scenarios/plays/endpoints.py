"""Plays of scenarios and the publish gate over HTTP."""

from typing import Annotated

from fastapi import Header, Query, Response

from offhook.kit.database.database import Session
from offhook.kit.files.byte_ranges import RangeResponse
from offhook.kit.http.openapi import sdk_method
from offhook.kit.http.pagination import SliceParams, set_total
from offhook.kit.http.path_ids import Id
from offhook.kit.http.routing import Router
from offhook.orgs import CurrentOrg, RequireAdmin, RequireMember
from offhook.scenarios.answers.questions import BUILT_IN, LIVE
from offhook.scenarios.errors import ScenarioRecordingNotFound
from offhook.scenarios.plays import publish_gate, service
from offhook.scenarios.plays.schemas import (
    LatestScenarioResultResponse,
    OrderPlayRequest,
    PublishGateResponse,
    PublishGateSettings,
    ScenarioPlayResponse,
    ScenarioResultResponse,
)
from offhook.scenarios.services import Services
from offhook.workflows.version_scenarios import gate_settings

router = Router(prefix="/workflow/{workflow_id}", tags=["scenarios"])


@router.post(
    "/scenario-plays",
    response_model=ScenarioPlayResponse,
    operation_id="play_scenarios",
    openapi_extra=sdk_method("play_scenarios", "Play the scenarios of an agent as a job."),
)
async def play_scenarios(
    workflow_id: Id,
    org: RequireMember,
    session: Session,
    services: Services,
    body: OrderPlayRequest | None = None,
) -> ScenarioPlayResponse:
    """Plays scenarios as a job, offline and at no cost unless `answers` or `record` say otherwise. Poll `get_scenario_play`, or subscribe to the event
    `scenarios.played`. A play of all scenarios, in the `mode` that the publish gate
    demands, gets its verdict. Returns 409 without scenarios
    (`no_scenarios`), 429 while the organization has 10 plays waiting or running. With `recorded` and `live` the agent
    needs a language model of a vendor (`model_required`, 422) with its key (`key_missing`, 422), and so do callers and judges
    by a model.
    """
    wanted = (body or OrderPlayRequest()).to_wanted()
    play = await service.order_play(session, org, workflow_id, wanted)
    if wanted.answers != BUILT_IN:
        models = await service.list_models(session, play)
        needs_key = wanted.answers == LIVE or wanted.records
        await services.answers.find_model(org.organization_id, models.configurations, needs_key=needs_key)
        for name in sorted(models.helpers):
            await services.answers.find_model(org.organization_id, {}, name, needs_key=needs_key)
    return ScenarioPlayResponse.from_play(play)


@router.get("/scenario-plays", response_model=list[ScenarioPlayResponse], operation_id="list_scenario_plays")
async def list_scenario_plays(
    workflow_id: Id, org: CurrentOrg, session: Session, response: Response, part: SliceParams
) -> list[ScenarioPlayResponse]:
    """Lists plays, newest first; the newest 50 are kept. The `X-Total-Count` header holds the total count."""
    rows, total = await service.list_plays(
        session, org.organization_id, workflow_id, limit=part.limit, offset=part.offset
    )
    set_total(response, total)
    return [ScenarioPlayResponse.from_play(row) for row in rows]


@router.get("/scenario-plays/{play_id}", response_model=ScenarioPlayResponse, operation_id="get_scenario_play")
async def get_scenario_play(workflow_id: Id, play_id: Id, org: CurrentOrg, session: Session) -> ScenarioPlayResponse:
    """Returns one play with its progress."""
    return ScenarioPlayResponse.from_play(await service.get_play(session, org.organization_id, workflow_id, play_id))


@router.get(
    "/scenario-plays/{play_id}/results",
    response_model=list[ScenarioResultResponse],
    operation_id="list_scenario_results",
)
async def list_scenario_results(
    workflow_id: Id, play_id: Id, org: CurrentOrg, session: Session
) -> list[ScenarioResultResponse]:
    """Lists the result of each scenario so far, with its transcript."""
    rows = await service.list_results(session, org.organization_id, workflow_id, play_id)
    return [ScenarioResultResponse.from_result(row) for row in rows]


@router.get(
    "/scenario-plays/{play_id}/results/{result_id}/recording",
    response_class=Response,
    responses={200: {"content": {"audio/wav": {}}}, 206: {"description": "A range of the file"}},
    operation_id="get_scenario_recording",
)
async def get_scenario_recording(
    workflow_id: Id,
    play_id: Id,
    result_id: Id,
    org: CurrentOrg,
    session: Session,
    services: Services,
    range_header: Annotated[str | None, Header(alias="Range")] = None,
) -> Response:
    """Returns the recording of a failed call with sound, a stereo WAV file: caller left, agent right."""
    key, name = await service.find_recording_key(session, org.organization_id, workflow_id, play_id, result_id)
    storage = services.recordings.storage
    return RangeResponse(storage, key, range_header, "audio/wav", name, missing=ScenarioRecordingNotFound)


@router.post(
    "/scenario-plays/{play_id}/cancel", response_model=ScenarioPlayResponse, operation_id="cancel_scenario_play"
)
async def cancel_scenario_play(
    workflow_id: Id, play_id: Id, org: RequireMember, session: Session
) -> ScenarioPlayResponse:
    """Cancels a play. One that has ended is not changed."""
    return ScenarioPlayResponse.from_play(await service.cancel_play(session, org, workflow_id, play_id))


@router.get(
    "/scenario-results",
    response_model=list[LatestScenarioResultResponse],
    operation_id="list_latest_scenario_results",
)
async def list_latest_scenario_results(
    workflow_id: Id,
    org: CurrentOrg,
    session: Session,
    versions: Annotated[int, Query(ge=1, le=service.MAX_COMPARED_VERSIONS)] = 10,
) -> list[LatestScenarioResultResponse]:
    """Lists the last result of each scenario with each version, for the newest `versions` that were played and are kept."""
    rows = await service.list_latest_results(session, org.organization_id, workflow_id, max_versions=versions)
    return [LatestScenarioResultResponse.from_row(play, result) for play, result in rows]


@router.get("/publish-gate", response_model=PublishGateResponse, operation_id="get_publish_gate")
async def get_publish_gate(workflow_id: Id, org: CurrentOrg, session: Session) -> PublishGateResponse:
    """Returns the agent's publishing rules, and whether its draft meets them."""
    return PublishGateResponse.from_state(await publish_gate.read_gate(session, org.organization_id, workflow_id))


@router.put("/publish-gate", response_model=PublishGateResponse, operation_id="put_publish_gate")
async def put_publish_gate(
    workflow_id: Id, body: PublishGateSettings, org: RequireAdmin, session: Session
) -> PublishGateResponse:
    """Changes the agent's publishing rules. Earlier verdicts no longer count."""
    await gate_settings.set_gate(session, org, workflow_id, body.model_dump(mode="json"))
    return PublishGateResponse.from_state(await publish_gate.read_gate(session, org.organization_id, workflow_id))
