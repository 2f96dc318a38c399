"""Who enters this process: a media token is spent only together with a slot."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import structlog

from offhook.kit.crypto import new_token
from offhook.kit.database.database import Database
from offhook.kit.database.outage import DATABASE_ERRORS
from offhook.orgs import service as orgs
from offhook.runs.cluster_room import ClusterRoom
from offhook.runs.live import media_tokens
from offhook.runs.live.call_slots import CallSlots
from offhook.runs.tables import Run
from offhook.settings import Settings

TakeSlot = Callable[[Run, int], None]
# Longer than any call.
RETURN_TTL_S: Final = 3600.0
log = structlog.get_logger(__name__)


class CallAdmission:
    """The slots of this process, and what it knows of the room of all."""

    def __init__(self, db: Database, settings: Settings, node_id: str) -> None:
        self._db = db
        self._settings = settings
        self.slots = CallSlots(settings)
        self.room = ClusterRoom(node_id, settings, self.slots.free_modes)

    async def admit_run(self, run_id: int, token: str, *, mode: str) -> Run:
        """Spends the media token of a run and takes its slot, both or neither: refused, the token opens another process.

        Raises MediaTokenRefused (401) and ProcessIsFull (503). The caller gives the slot back when its socket is closed.
        """
        with self.slot_of(run_id) as take_slot:
            async with self._db.transaction() as session:
                run = await media_tokens.claim_token(session, token, run_id=run_id, mode=mode)
                take_slot(run, await orgs.concurrency_limit(session, run.organization_id, self._settings))
        return run

    async def issue_return_token(self, run_id: int, mode: str) -> str | None:
        """Returns the token with which the page of a live call connects it again, once, after its line broke; None while
        the database is unavailable."""
        token = new_token()
        try:
            async with self._db.transaction() as session:
                await media_tokens.store_tokens(session, mode, {token: run_id}, ttl_s=RETURN_TTL_S)
        except DATABASE_ERRORS as error:
            log.warning("return_token_not_stored", run_id=run_id, error=type(error).__name__)
            return None
        return token

    @contextmanager
    def slot_of(self, run_id: int) -> Iterator[TakeSlot]:
        """Provides a function that takes the run's slot for an organization with this limit of calls. The slot is given
        back if the block fails afterwards."""
        has_slot = False

        def take(run: Run, organization_limit: int) -> None:
            nonlocal has_slot
            self.slots.take(
                run.id,
                run.organization_id,
                run.mode,
                weight=organization_limit / self._settings.org_concurrency_limit,
                is_promised=self.room.is_watched,
            )
            has_slot = True

        try:
            yield take
        except BaseException:
            if has_slot:  # a second socket of a run must not return the slot of the first
                self.slots.give_back(run_id)
            raise
