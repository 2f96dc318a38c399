"""Background work in the same database: a job is inserted in the caller's transaction and runs in a worker.

A job runs at least once: handlers are idempotent, the domain tables hold the truth.
"""

from offhook.jobs.poll_schedule import PollSchedule
from offhook.jobs.queue import (
    enqueue,
    failed_jobs,
    is_healthy,
    observe_backlog,
    read_backlog,
    requeue_failed_job,
    requeue_failed_jobs,
)
from offhook.jobs.registry import JobHandler, JobRegistry, ScheduledJob

__all__ = [
    "JobHandler",
    "JobRegistry",
    "PollSchedule",
    "ScheduledJob",
    "enqueue",
    "failed_jobs",
    "is_healthy",
    "observe_backlog",
    "read_backlog",
    "requeue_failed_job",
    "requeue_failed_jobs",
]
