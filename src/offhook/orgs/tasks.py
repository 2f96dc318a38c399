"""The job that removes credentials and idempotency keys that nothing can use any more."""

from datetime import datetime, timedelta
from typing import Any

from offhook.jobs.registry import Handler
from offhook.orgs import idempotency, repository
from offhook.root import Root

SWEEP_EVERY_S = 3600.0
# Ended sessions and spent links are kept a while for whoever reads the audit log.
KEEP_ENDED = timedelta(days=7)


def sweep_handler(root: Root) -> Handler:
    async def sweep(_: dict[str, Any]) -> None:
        await idempotency.sweep(root.db)
        before: datetime = root.clock.now() - KEEP_ENDED
        async with root.db.transaction() as session:
            await repository.delete_ended(session, before)

    return sweep
