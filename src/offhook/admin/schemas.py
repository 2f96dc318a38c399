"""Request and response bodies of the superuser endpoints."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from offhook.kit.json_numbers import WholeNumber
from offhook.kit.schema import Schema
from offhook.runs.schemas import RunRecord
from offhook.workflows.superuser_queries import WorkflowListItem


class SuperuserWorkflowItem(Schema):
    model_config = ConfigDict(from_attributes=True)

    id: int
    name: str
    status: str
    organization_id: int
    organization_name: str
    workflow_uuid: str
    folder_id: int | None
    total_runs: int
    created_at: datetime
    updated_at: datetime

    @staticmethod
    def json_of(rows: Sequence[WorkflowListItem], names: Mapping[int, str], runs: Mapping[int, int]) -> bytes:
        """A list of them as it is sent: by hand, because models of thousands take longer than the queries. ``names`` are
        of organizations."""
        quoted = {id_: json.dumps(name) for id_, name in names.items()}
        objects = (
            f'{row.json.removesuffix("}")},"organization_name":{quoted[row.organization_id]},'
            f'"total_runs":{runs.get(row.id, 0)}}}'
            for row in rows
        )
        return f"[{','.join(objects)}]".encode()


class SuperuserOrganizationItem(Schema):
    id: int
    name: str
    created_at: datetime
    member_count: int
    workflow_count: int
    run_count: int
    balance_cents: int


class SuperuserCampaignItem(Schema):
    id: int
    name: str
    status: str
    organization_id: int
    organization_name: str
    workflow_id: int
    workflow_name: str
    parent_campaign_id: int | None
    max_concurrency: int
    failure_reason: str | None
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None


class SuperuserRunItem(RunRecord):
    organization_id: int
    organization_name: str
    user_id: int | None = Field(description="Who started it; null for a call that came in or was started by a key")


class SuperuserWorkflowRunsListResponse(Schema):
    """``workflow_runs`` is the same list as ``runs``. With filters ``total_count`` counts to 50,000 and no further,
    unless they name an organization."""

    runs: list[SuperuserRunItem]
    workflow_runs: list[SuperuserRunItem]
    total_count: int
    page: int
    limit: int
    total_pages: int


class ImpersonateRequest(Schema):
    """One of three fields names the user; if several are sent, the first one counts. ``provider_user_id`` is the
    user's id as text. ``organization_id`` chooses among the user's organizations."""

    provider_user_id: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)] | None = (
        None
    )
    user_id: WholeNumber | None = Field(default=None, ge=1, le=2**31 - 1)
    email: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=320)] | None = None
    organization_id: WholeNumber | None = Field(default=None, ge=1, le=2**31 - 1)

    @model_validator(mode="after")
    def _names_someone(self) -> "ImpersonateRequest":
        if self.provider_user_id is None and self.user_id is None and self.email is None:
            raise ValueError("give provider_user_id, user_id or email")
        return self


class ImpersonatedUser(Schema):
    id: int
    email: str
    name: str | None
    organization_id: int
    role: str
    is_superuser: bool


class ImpersonateResponse(Schema):
    """``access_token`` is a bearer token for one hour. Tokens are not refreshed: ``refresh_token`` repeats the access
    token for clients that expect both."""

    access_token: str
    refresh_token: str
    expires_at: datetime
    user: ImpersonatedUser


class NodeItem(Schema):
    """One process. ``state`` is ``up``, ``draining`` (its calls end, it takes no new ones), ``overloaded`` (its loop is
    late) or ``lost`` (silent for more than 8 seconds). ``leases`` are the runs that it holds; of them ``expired_leases``
    were not renewed in time."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    kind: Literal["serve", "worker"]
    state: Literal["up", "draining", "overloaded", "lost"]
    address: str | None
    version: str
    call_limit: int
    live_calls: int
    lateness_ms: int
    silent_s: float
    leases: int
    expired_leases: int
    started_at: datetime


class WaitingRecordingsItem(Schema):
    """Recordings that wait for upload in one folder of a machine; ``place`` is ``machine:folder``. ``is_tried``: a running
    process retries the upload every 20 seconds; otherwise, no process has reported since ``seen_at``. ``error``: why the
    last attempt failed."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    node_id: str
    place: str
    files: int
    bytes: int
    oldest_at: datetime
    error: str | None
    failed_at: datetime | None
    seen_at: datetime
    is_tried: bool


class NodesResponse(Schema):
    """``queued_jobs`` are due and wait for a worker, the oldest for ``oldest_job_s`` seconds. Leases of processes
    that no longer exist are counted in ``orphaned_leases``."""

    nodes: list[NodeItem]
    waiting_recordings: list[WaitingRecordingsItem]
    orphaned_leases: int
    queued_jobs: int
    oldest_job_s: float | None


class WaitingRecordingsRemoved(Schema):
    """``removed`` is the number of recordings that are no longer listed."""

    removed: int


class FailedJobItem(Schema):
    model_config = ConfigDict(from_attributes=True)

    id: int
    name: str
    attempts: int
    error: str | None
    created_at: datetime


class FailedJobsResponse(Schema):
    jobs: list[FailedJobItem]


class JobRetryResponse(Schema):
    """``started`` is how many jobs are retried, from their first attempt."""

    started: int
