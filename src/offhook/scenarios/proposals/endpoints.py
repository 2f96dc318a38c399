"""Proposed scenarios over HTTP."""

from offhook.kit.http.path_ids import Id
from offhook.kit.http.routing import Router
from offhook.orgs import RequireMember
from offhook.scenarios.proposals.schemas import ScenarioProposalsResponse
from offhook.scenarios.services import Services

router = Router(prefix="/workflow/{workflow_id}", tags=["scenarios"])


@router.post("/scenario-proposals", response_model=ScenarioProposalsResponse, operation_id="propose_scenarios")
async def propose_scenarios(workflow_id: Id, org: RequireMember, services: Services) -> ScenarioProposalsResponse:
    """Proposes scenarios for the edges of the draft that no passing scenario takes, found by talking to the offline
    agent. Nothing is stored: choose some, and store them with `put_scenario` or `replace_scenarios`.

    Takes a few seconds, 55 at most with the wait for other organizations; returns 429 (`too_many_proposals`) while another
    such request of the organization is running, or when that wait is too long.
    """
    return ScenarioProposalsResponse.from_proposed(await services.proposals.propose(org.organization_id, workflow_id))
