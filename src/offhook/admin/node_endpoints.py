"""Superuser endpoints about the installation itself: its processes, their leases, recordings that wait for upload, and
failed jobs."""

from typing import Annotated

from fastapi import Path, Query

from offhook import jobs
from offhook.admin.schemas import (
    FailedJobItem,
    FailedJobsResponse,
    JobRetryResponse,
    NodeItem,
    NodesResponse,
    WaitingRecordingsItem,
    WaitingRecordingsRemoved,
)
from offhook.errors import Conflict, NotFound
from offhook.kit.database.database import Session
from offhook.kit.http.path_ids import LongId
from offhook.kit.http.routing import Router
from offhook.nodes import queries as nodes
from offhook.nodes import superuser_queries as spools
from offhook.orgs import RequireSuperuser, write_audit_entry
from offhook.runs.lists import superuser_queries as runs

router = Router(prefix="/superuser", tags=["superuser"])


class FailedJobNotFound(NotFound):
    """No failed job has this number."""

    code = "failed_job_not_found"


class RecordingSpoolNotFound(NotFound):
    """No waiting recordings have this id."""

    code = "recording_spool_not_found"


class RecordingSpoolInUse(Conflict):
    """A running process is uploading these recordings. It retries every 20 seconds."""

    code = "recording_spool_in_use"


@router.get("/nodes", response_model=NodesResponse, operation_id="list_nodes")
async def list_nodes(caller: RequireSuperuser, session: Session) -> NodesResponse:
    """Lists the processes of the installation with their calls and leases, including those lost within the last hour, and
    the machines on which recordings wait for upload."""
    found = await nodes.list_nodes(session)
    leases = await runs.count_leases_by_worker(session)
    backlog = await jobs.read_backlog(session)
    items = []
    for node in found:
        held, expired = leases.pop(node.id, (0, 0))
        known = {name: getattr(node, name) for name in NodeItem.model_fields.keys() - {"leases", "expired_leases"}}
        items.append(NodeItem(**known, leases=held, expired_leases=expired))
    return NodesResponse(
        nodes=items,
        waiting_recordings=[WaitingRecordingsItem.model_validate(spool) for spool in await spools.list_spools(session)],
        orphaned_leases=sum(held for held, _ in leases.values()),
        queued_jobs=backlog.queued,
        oldest_job_s=backlog.oldest_s,
    )


@router.delete(
    "/recording-spools/{spool_id}", response_model=WaitingRecordingsRemoved, operation_id="remove_recording_spool"
)
async def remove_recording_spool(
    spool_id: Annotated[str, Path(max_length=64)], caller: RequireSuperuser, session: Session
) -> WaitingRecordingsRemoved:
    """Removes a machine that is gone for good from the list of waiting recordings. No files are deleted: if the machine
    comes back, its process uploads them."""
    spool = next((one for one in await spools.list_spools(session) if one.id == spool_id), None)
    if spool is None:
        raise RecordingSpoolNotFound
    if spool.is_tried:
        raise RecordingSpoolInUse
    await spools.remove_spool(session, spool_id)
    await write_audit_entry(
        session, caller, "recording_spool.removed", f"recording_spool:{spool_id}", {"files": spool.files}
    )
    return WaitingRecordingsRemoved(removed=spool.files)


@router.get("/failed-jobs", response_model=FailedJobsResponse, operation_id="list_failed_jobs")
async def list_failed_jobs(
    caller: RequireSuperuser, session: Session, limit: Annotated[int, Query(ge=1, le=1000)] = 100
) -> FailedJobsResponse:
    """Lists background jobs that used up their attempts, newest first. They are kept for a month."""
    found = await jobs.failed_jobs(session, limit=limit)
    return FailedJobsResponse(jobs=[FailedJobItem.model_validate(job) for job in found])


@router.post("/failed-jobs/{job_id}/retry", response_model=JobRetryResponse, operation_id="retry_failed_job")
async def retry_failed_job(job_id: LongId, caller: RequireSuperuser, session: Session) -> JobRetryResponse:
    """Retries a failed job, from its first attempt."""
    if not await jobs.requeue_failed_job(session, job_id):
        raise FailedJobNotFound
    await write_audit_entry(session, caller, "job.retried", f"job:{job_id}")
    return JobRetryResponse(started=1)


@router.post("/failed-jobs/retry", response_model=JobRetryResponse, operation_id="retry_failed_jobs")
async def retry_failed_jobs(caller: RequireSuperuser, session: Session) -> JobRetryResponse:
    """Retries every failed job, from its first attempt."""
    started = await jobs.requeue_failed_jobs(session)
    await write_audit_entry(session, caller, "jobs.retried", data={"count": started})
    return JobRetryResponse(started=started)
