"""The engine's three ways in: dial (a slot may be free), a run has ended, and the slow tick that misses nothing."""

from typing import Final

from offhook.campaigns.dialing import Dialing
from offhook.campaigns.ports import Carrier, Store, Time
from offhook.campaigns.settling import Settling

SILENT_BATCH: Final = 200


class Engine:
    """No state of its own: any number of them work on one database, and each may die at any step."""

    def __init__(self, store: Store, carrier: Carrier, time: Time, *, patience_s: float) -> None:
        self._store = store
        self._time = time
        self.settling = Settling(store, carrier, time)
        self.dialing = Dialing(store, carrier, time, self.settling, patience_s=patience_s)

    async def dial(self, organization_id: int) -> int:
        """The job ``campaign.dial``; how many calls it placed."""
        reserved = await self.dialing.reserve(organization_id)
        await self.dialing.ask(reserved)
        return len(reserved.placings)

    async def run_ended(self, organization_id: int, run_id: int) -> None:
        """On ``CallEnded`` and ``RunFinished``; hearing it twice, or of a run of nobody's campaign, is fine."""
        await self.settling.run_ended(organization_id, run_id)

    async def tick(self) -> None:
        """The job ``campaign.tick``: what a dead process left, and what nobody was woken for."""
        async with self._store.transaction() as tx:
            silent = await tx.silent(self._time.now(), SILENT_BATCH)
            await tx.cancel_leftovers(self._time.now())
        for one in silent:
            await self.settling.look_into(one.organization_id, one.run_id)
        async with self._store.transaction() as tx:
            for organization_id in await tx.running_organizations():
                await tx.wake(organization_id, None)
