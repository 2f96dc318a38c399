"""A call played again with another version of its agent, over HTTP."""

from typing import Annotated

from fastapi import Query

from offhook.kit.http.path_ids import Id, LongId
from offhook.kit.http.routing import Router
from offhook.orgs import RequireMember
from offhook.scenarios.replays.schemas import RunReplayResponse
from offhook.scenarios.services import Services

router = Router(prefix="/workflow/{workflow_id}/runs/{run_id}", tags=["runs"])


@router.post("/replay", response_model=RunReplayResponse, operation_id="replay_run")
async def replay_run(
    workflow_id: Id,
    run_id: LongId,
    org: RequireMember,
    services: Services,
    version: Annotated[
        int | None, Query(ge=1, le=2**31 - 1, description="The number of a version; the draft without it")
    ] = None,
) -> RunReplayResponse:
    """Plays a call again from its journal with the agent's draft or another version, and returns the first point at which it
    differs. No model and no tool is called, and nothing is stored but an entry in the audit log.

    Takes a few seconds, 55 at most with the wait for other organizations; returns 409 where the call has no journal, and 429
    (`too_many_replays`) while another such request of the organization is running, or when that wait is too long.
    """
    replay = await services.replays.replay(org, workflow_id, run_id, number=version)
    return RunReplayResponse.from_replay(replay)
