"""The scenarios of agents over HTTP."""

from typing import Annotated, Literal

from fastapi import File, Form, Path, Query, Response, UploadFile

from offhook.kit.database.database import Session
from offhook.kit.files.downloads import content_disposition
from offhook.kit.http.openapi import sdk_method
from offhook.kit.http.path_ids import Id, LongId
from offhook.kit.http.revisions import IfMatch, set_revision
from offhook.kit.http.routing import Router
from offhook.orgs import CurrentOrg, RequireMember
from offhook.scenarios.definition import Scenario
from offhook.scenarios.errors import MAX_ISSUES, ScenariosInvalid
from offhook.scenarios.files import MAX_BYTES, read_scenarios, scenario_as_json, write_scenarios
from offhook.scenarios.services import Services
from offhook.scenarios.stored import past_calls, service
from offhook.scenarios.stored.schemas import (
    CheckScenariosRequest,
    CheckScenariosResponse,
    PlainScenario,
    ReplaceScenariosRequest,
    ScenarioIssueResponse,
    ScenarioListResponse,
)
from offhook.workflows.version_scenarios.service import get_version_scenarios

YAML = "application/yaml"
_MAX_FORM_BYTES = MAX_BYTES + 64 * 1024
ScenarioName = Annotated[str, Path(max_length=200, description="`name` of the scenario")]
VersionNumber = Annotated[
    int | None, Query(ge=1, le=2**31 - 1, description="A version by its number, instead of the draft")
]

router = Router(prefix="/workflow/{workflow_id}", tags=["scenarios"])


@router.get(
    "/scenarios",
    response_model=ScenarioListResponse,
    operation_id="list_scenarios",
    openapi_extra=sdk_method("list_scenarios", "List the scenarios of an agent."),
)
async def list_scenarios(
    workflow_id: Id, org: CurrentOrg, session: Session, response: Response, version: VersionNumber = None
) -> ScenarioListResponse:
    """Lists the scenarios of the draft, or of the published version if there is no draft."""
    found = await service.list_scenarios(session, org.organization_id, workflow_id, number=version)
    set_revision(response, found.revision)
    return ScenarioListResponse.from_agent(workflow_id, found)


@router.put(
    "/scenarios",
    response_model=ScenarioListResponse,
    operation_id="replace_scenarios",
    openapi_extra=sdk_method("replace_scenarios", "Replace the scenarios of an agent's draft."),
)
async def replace_scenarios(
    workflow_id: Id,
    body: ReplaceScenariosRequest,
    org: RequireMember,
    session: Session,
    services: Services,
    response: Response,
    if_match: IfMatch,
) -> ScenarioListResponse:
    """Replaces the scenarios of the draft, which is created if there is none. With `expected_revision` or `If-Match`,
    returns 409 if the workflow was changed since it was read."""
    expected = if_match if body.expected_revision is None else body.expected_revision
    async with services.files.hold_thread(org.organization_id) as thread:
        found = await service.replace_scenarios(
            session, org, workflow_id, body.scenarios, thread=thread, expected_revision=expected
        )
    set_revision(response, found.revision)
    return ScenarioListResponse.from_agent(workflow_id, found)


@router.get("/scenarios/{scenario_name}", response_model=PlainScenario, operation_id="get_scenario")
async def get_scenario(
    workflow_id: Id, scenario_name: ScenarioName, org: CurrentOrg, session: Session, response: Response
) -> PlainScenario:
    """Returns one scenario of the draft, or of the published version if there is no draft."""
    scenario, found = await service.get_scenario(session, org.organization_id, workflow_id, scenario_name)
    set_revision(response, found.revision)
    return scenario_as_json(scenario)


@router.put("/scenarios/{scenario_name}", response_model=ScenarioListResponse, operation_id="put_scenario")
async def put_scenario(
    workflow_id: Id,
    scenario_name: ScenarioName,
    body: Scenario,
    org: RequireMember,
    session: Session,
    services: Services,
    response: Response,
    if_match: IfMatch,
) -> ScenarioListResponse:
    """Replaces one scenario of the draft, or adds it. A body with another `name` renames the scenario."""
    async with services.files.hold_thread(org.organization_id) as thread:
        found = await service.put_scenario(
            session, org, workflow_id, scenario_name, body, thread=thread, expected_revision=if_match
        )
    set_revision(response, found.revision)
    return ScenarioListResponse.from_agent(workflow_id, found)


@router.delete("/scenarios/{scenario_name}", response_model=ScenarioListResponse, operation_id="delete_scenario")
async def delete_scenario(
    workflow_id: Id,
    scenario_name: ScenarioName,
    org: RequireMember,
    session: Session,
    services: Services,
    response: Response,
    if_match: IfMatch,
) -> ScenarioListResponse:
    """Removes one scenario from the draft. Published versions keep it."""
    async with services.files.hold_thread(org.organization_id) as thread:
        found = await service.delete_scenario(
            session, org, workflow_id, scenario_name, thread=thread, expected_revision=if_match
        )
    set_revision(response, found.revision)
    return ScenarioListResponse.from_agent(workflow_id, found)


@router.get(
    "/scenario-file",
    response_class=Response,
    responses={200: {"content": {YAML: {}}}},
    operation_id="export_scenarios",
)
async def export_scenarios(
    workflow_id: Id, org: CurrentOrg, session: Session, services: Services, version: VersionNumber = None
) -> Response:
    """Returns the scenarios as the YAML file that `offhook test --file` and `import_scenarios` read."""
    async with services.files.hold_thread(org.organization_id) as thread:
        found = await service.list_scenarios(session, org.organization_id, workflow_id, number=version)
        text = await thread.run(lambda: write_scenarios(found.scenarios))
    headers = {
        "Content-Disposition": content_disposition(f"agent-{workflow_id}.scenarios.yaml", kind="attachment"),
        "Cache-Control": "no-store",
    }
    return Response(text, media_type=YAML, headers=headers)


@router.post(
    "/scenario-file",
    response_model=ScenarioListResponse,
    operation_id="import_scenarios",
    max_body_size=_MAX_FORM_BYTES,
)
async def import_scenarios(
    workflow_id: Id,
    file: Annotated[UploadFile, File(description="YAML or JSON, up to 1 MB and 200 scenarios")],
    org: RequireMember,
    session: Session,
    services: Services,
    response: Response,
    if_match: IfMatch,
    mode: Annotated[
        Literal["add", "replace"],
        Form(description="`add` keeps the scenarios of other names, `replace` only those of the file"),
    ] = "add",
) -> ScenarioListResponse:
    """Reads a file into the draft. A file with a mistake changes nothing: `detail.issues` names every wrong field."""
    text = await file.read(MAX_BYTES + 1)
    async with services.files.hold_thread(org.organization_id) as thread:
        scenarios = await thread.run(lambda: read_scenarios(text))
        found = await service.replace_scenarios(
            session, org, workflow_id, scenarios, thread=thread, keeps_others=mode == "add", expected_revision=if_match
        )
    set_revision(response, found.revision)
    return ScenarioListResponse.from_agent(workflow_id, found)


@router.post("/scenario-check", response_model=CheckScenariosResponse, operation_id="check_scenarios")
async def check_scenarios(
    workflow_id: Id, body: CheckScenariosRequest, org: CurrentOrg, session: Session, services: Services
) -> CheckScenariosResponse:
    """Checks a file of scenarios without storing anything."""
    issues: list[ScenarioIssueResponse] = []
    read: tuple[Scenario, ...] = ()
    text = None
    try:
        read, text = await services.files.normalize(org.organization_id, body.yaml)
    except ScenariosInvalid as refused:
        issues = [ScenarioIssueResponse.from_issue(issue) for issue in refused.issues[:MAX_ISSUES]]
    # after the file: whose turn has not come yet has no connection
    await get_version_scenarios(session, org.organization_id, workflow_id, None)
    plain = [scenario_as_json(scenario) for scenario in read]
    return CheckScenariosResponse(is_valid=not issues, issues=issues, scenarios=plain, yaml=text)


@router.get("/runs/{run_id}/scenario", response_model=PlainScenario, operation_id="get_run_scenario")
async def get_run_scenario(workflow_id: Id, run_id: LongId, org: CurrentOrg, session: Session) -> PlainScenario:
    """Returns a scenario made from a run: what its caller said and pressed, what tools returned, and its edges,
    variables and tool calls as expectations. It contains the caller's words, except what the organization redacts:
    review it before you store it."""
    return scenario_as_json(await past_calls.make_scenario(session, org.organization_id, workflow_id, run_id))
