"""The job that deletes expired credentials and idempotency keys."""

from datetime import timedelta

from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.json_values import JsonObject
from offhook.orgs import repository
from offhook.orgs.idempotency import KEY_LIFETIME
from offhook.orgs.identity_provider import repository as identity_providers

SWEEP_EVERY_S = 3600.0
# Ended sessions and spent links are kept for a while for readers of the audit log.
KEEP_ENDED = timedelta(days=7)
SIGNUP_REQUEST_LIFETIME = timedelta(days=14)


async def delete_expired_credentials(db: Database, clock: Clock, _: JsonObject) -> None:
    """Handles the job ``credentials.sweep``."""
    async with db.transaction() as session:
        await repository.delete_expired_keys(session, KEY_LIFETIME)
    async with db.transaction() as session:
        await repository.delete_ended(session, clock.now() - KEEP_ENDED)
        await identity_providers.delete_old_attempts(session, clock.now())
        await repository.delete_signup_requests(session, clock.now() - SIGNUP_REQUEST_LIFETIME)
