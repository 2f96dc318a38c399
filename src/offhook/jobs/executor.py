"""What becomes of a job whose worker ends, or that ends its worker: it runs again, but not for ever."""

import asyncio
from datetime import timedelta
from typing import Final

from pgqueuer.core.executors import (
    AbstractEntrypointExecutor,
    DatabaseRetryEntrypointExecutor,
    EntrypointExecutorParameters,
)
from pgqueuer.domain.errors import RetryRequested
from pgqueuer.domain.models import Context, Job
from sqlalchemy import text

from offhook.kit.database.database import Database

MAX_RETRIES: Final = 5
MIN_RETRY_DELAY: Final = timedelta(seconds=1)
MAX_RETRY_DELAY: Final = timedelta(minutes=5)
# A job that was running when so many workers were lost, one after the other, is taken for the reason.
MAX_LOST_WORKERS: Final = 5
# Since its last end of any kind; the log has the present start as well.
_COUNT_STARTS: Final = text(
    "SELECT count(*) FROM pgqueuer_log WHERE job_id = :id AND status = 'picked' AND id > coalesce("
    " (SELECT max(id) FROM pgqueuer_log WHERE job_id = :id AND status <> 'picked'), 0)"
)


class WorkersLost(Exception):
    """Several workers ended in the middle of this job."""


async def refuse_deadly_job(db: Database, job: Job, heartbeat: timedelta) -> None:
    """Raises :class:`WorkersLost` when this job seems to end every worker that runs it.

    A worker that is killed cannot count an attempt. Jobs that begin when they are due were not lost with a worker, and are
    not looked up.
    """
    if job.updated - job.execute_after < heartbeat:
        return
    async with db.transaction() as session:
        lost = (await session.execute(_COUNT_STARTS, {"id": job.id})).scalar_one() - 1
    if lost >= MAX_LOST_WORKERS:
        raise WorkersLost(f"{lost} workers ended while they ran this job.")


class RetryingExecutor(DatabaseRetryEntrypointExecutor):
    """Tries a failed job again, and gives a job back that its worker has no time to finish."""

    async def execute(self, job: Job, context: Context) -> None:
        try:
            await super().execute(job, context)
        except asyncio.CancelledError:
            # Only a worker that ends cancels, and PgQueuer deletes what is canceled.
            raise RetryRequested(reason="The worker ended before the job did.") from None
        except RetryRequested as retry:
            if isinstance(retry.__cause__, WorkersLost):
                raise retry.__cause__ from None
            raise


def make_retrying_executor(parameters: EntrypointExecutorParameters) -> AbstractEntrypointExecutor:
    return RetryingExecutor(
        parameters, max_attempts=MAX_RETRIES, initial_delay=MIN_RETRY_DELAY, max_delay=MAX_RETRY_DELAY
    )
