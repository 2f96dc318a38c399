"""The job that removes credentials and idempotency keys that nothing can use any more."""

from datetime import datetime, timedelta
from typing import Any

from offhook.jobs.registry import JobHandler
from offhook.orgs import idempotency, repository
from offhook.root import Root

SWEEP_EVERY_S = 3600.0
# Ended sessions and spent links are kept a while for whoever reads the audit log.
KEEP_ENDED = timedelta(days=7)


def sweep_handler(root: Root) -> JobHandler:
    async def delete_expired_credentials(_: dict[str, Any]) -> None:
        await idempotency.delete_expired_keys(root.db)
        before: datetime = root.clock.now() - KEEP_ENDED
        async with root.db.transaction() as session:
            await repository.delete_ended(session, before)

    return delete_expired_credentials
