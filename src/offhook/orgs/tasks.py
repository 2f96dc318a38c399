"""The job that deletes expired credentials and idempotency keys."""

from datetime import timedelta

from offhook.jobs.registry import JobHandler
from offhook.kit.json_values import JsonObject
from offhook.orgs import repository
from offhook.orgs.idempotency import KEY_LIFETIME
from offhook.root import Root

SWEEP_EVERY_S = 3600.0
# Ended sessions and spent links are kept for a while for readers of the audit log.
KEEP_ENDED = timedelta(days=7)


def sweep_handler(root: Root) -> JobHandler:
    async def delete_expired_credentials(_: JsonObject) -> None:
        async with root.db.transaction() as session:
            await repository.delete_expired_keys(session, KEY_LIFETIME)
        async with root.db.transaction() as session:
            await repository.delete_ended(session, root.clock.now() - KEEP_ENDED)

    return delete_expired_credentials
