"""Recorded answers of models over HTTP."""

from offhook.kit.database.database import Session
from offhook.kit.http.path_ids import Id
from offhook.kit.http.routing import Router
from offhook.orgs import CurrentOrg, RequireMember
from offhook.scenarios.answers import service
from offhook.scenarios.answers.schemas import RecordedAnswersFile, RecordedAnswersResponse
from offhook.scenarios.services import Services

router = Router(prefix="/workflow/{workflow_id}", tags=["scenarios"])


@router.get("/recorded-answers", response_model=RecordedAnswersResponse, operation_id="get_recorded_answers")
async def get_recorded_answers(
    workflow_id: Id, org: CurrentOrg, session: Session, services: Services
) -> RecordedAnswersResponse:
    """Returns how many answers of models are recorded for the agent's scenarios."""
    found = await service.count_answers(session, services.answers.store, org.organization_id, workflow_id)
    return RecordedAnswersResponse.from_count(found)


@router.delete("/recorded-answers", response_model=RecordedAnswersResponse, operation_id="delete_recorded_answers")
async def delete_recorded_answers(
    workflow_id: Id, org: RequireMember, session: Session, services: Services
) -> RecordedAnswersResponse:
    """Deletes the recorded answers of the agent, so that the next play with `record` asks for all of them."""
    await service.delete_answers(session, org, workflow_id)
    found = await service.count_answers(session, services.answers.store, org.organization_id, workflow_id)
    return RecordedAnswersResponse.from_count(found)


@router.get("/recorded-answers/file", response_model=RecordedAnswersFile, operation_id="export_recorded_answers")
async def export_recorded_answers(
    workflow_id: Id, org: RequireMember, session: Session, services: Services
) -> RecordedAnswersFile:
    """Returns the recorded answers as a file for `offhook test --cassette`, which needs no server."""
    file = await service.export_answers(session, services.answers.store, org, workflow_id)
    return RecordedAnswersFile.model_validate(file.as_json())
