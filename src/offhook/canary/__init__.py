"""Canaries: a new version takes a share of calls, and is rolled back or forward by how they go."""

from offhook.canary import endpoints
from offhook.canary.tasks import LOOK_INTERVAL_S, LOOK_JOB, SCHEDULE_JOB, CanaryJob
from offhook.root import Root

__all__ = ["register"]


def register(root: Root) -> None:
    """Registers the routes, and the jobs that look at canaries."""
    job = CanaryJob(root.db, root.clock)
    root.jobs.add(SCHEDULE_JOB, job.schedule_looks, every_s=LOOK_INTERVAL_S)
    root.jobs.add(LOOK_JOB, job.look)
    root.api.include_router(endpoints.router)
