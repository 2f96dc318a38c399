"""How long an agent's calls are kept, over HTTP."""

from pydantic import ConfigDict

from offhook.kit.database.database import Session
from offhook.kit.http.path_ids import Id
from offhook.kit.http.routing import Router
from offhook.kit.schema import Schema
from offhook.orgs import CurrentOrg, Now, RequireAdmin
from offhook.orgs.privacy_settings.retention import Days
from offhook.privacy.retention import agent_periods
from offhook.privacy.retention.agent_periods import AgentPeriods, AgentRetentionView

router = Router(prefix="/workflow/{workflow_id}/retention", tags=["privacy"])


class AgentRetentionUpdate(Schema):
    """Days since the beginning of a call, 1 to 3650; null leaves it to the organization."""

    recordings_days: Days | None
    transcripts_days: Days | None
    runs_days: Days | None


class AppliedPeriods(Schema):
    """Days; null keeps it."""

    model_config = ConfigDict(from_attributes=True)

    recordings_days: int | None
    transcripts_days: int | None
    runs_days: int | None


class AgentRetentionResponse(Schema):
    """The agent's own periods. `applied`: the shorter of the agent's and the organization's period, after which calls
    are deleted."""

    recordings_days: int | None
    transcripts_days: int | None
    runs_days: int | None
    applied: AppliedPeriods


@router.get("", response_model=AgentRetentionResponse, operation_id="get_agent_retention")
async def get_agent_retention(workflow_id: Id, org: CurrentOrg, session: Session) -> AgentRetentionResponse:
    """Returns how long the recordings, transcripts and runs of an agent are kept."""
    return _to_response(await agent_periods.get_agent_retention(session, org.organization_id, workflow_id))


@router.put("", response_model=AgentRetentionResponse, operation_id="put_agent_retention")
async def put_agent_retention(
    workflow_id: Id, body: AgentRetentionUpdate, org: RequireAdmin, session: Session, now: Now
) -> AgentRetentionResponse:
    """Sets how long the recordings, transcripts and runs of an agent are kept, for all of its versions and including
    earlier calls. The organization's periods (`PUT /organizations/retention`) apply where they are shorter."""
    periods = AgentPeriods(**body.model_dump())
    return _to_response(await agent_periods.change_agent_retention(session, org, workflow_id, periods, now))


def _to_response(view: AgentRetentionView) -> AgentRetentionResponse:
    own, applied = view.own, AppliedPeriods.model_validate(view.applied)
    return AgentRetentionResponse(
        recordings_days=own.recordings_days,
        transcripts_days=own.transcripts_days,
        runs_days=own.runs_days,
        applied=applied,
    )
