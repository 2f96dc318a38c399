"""Background work in the same database: a job is inserted in the caller's transaction and runs in a worker.

A job runs at least once: handlers are idempotent, the domain tables hold the truth.
"""

from offhook.jobs.poll_schedule import Asking
from offhook.jobs.queue import enqueue, failed_jobs, is_healthy, requeue
from offhook.jobs.registry import Handler, JobRegistry, Schedule

__all__ = ["Asking", "Handler", "JobRegistry", "Schedule", "enqueue", "failed_jobs", "is_healthy", "requeue"]
