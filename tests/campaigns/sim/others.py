"""What people and the runs domain do to the same tables, on the database in memory."""

from offhook.runs.states import LIVE_STATES, OUTCOME_OF, can_move
from tests.campaigns.sim.memory import Transaction


class OthersTx(Transaction):
    """The statements of whoever is not the engine."""

    async def set_running(self, campaign_id: int, source: str) -> bool:
        """What people do: start from draft, resume from paused."""

        def work() -> bool:
            self.lock(("campaigns", campaign_id))
            row = self.get("campaigns", campaign_id)
            assert row is not None
            starts = row["starts"] + (source == "draft")
            return self.change(
                "campaigns",
                campaign_id,
                lambda r: r["status"] == source,
                status="running",
                starts=starts,
                moves=self.memory.next_id("moves"),
            )

        return await self._do("set_running", (campaign_id, source), work)

    # the runs domain

    async def apply_status(
        self, organization_id: int, run_id: int, status: str, outcome: str | None, reason: str | None
    ) -> bool:
        def work() -> bool:
            run = self.get("runs", run_id)
            assert run is not None
            is_final = status in OUTCOME_OF
            known = outcome or run["outcome"]
            if is_final and run["process"] is None:
                known = known or OUTCOME_OF[status]
            lease = None if is_final and run["process"] is None else run["lease_until"]
            return self.change(
                "runs", run_id, lambda r: can_move(r["status"], status),
                status=status, outcome=known, reason=reason or run["reason"], lease_until=lease,
            )  # fmt: skip

        return await self._do("apply_status", (organization_id, run_id, status, outcome, reason), work)

    async def take_media(self, run_id: int, process: str, lease_until: float) -> bool:
        return await self._do(
            "take_media",
            (run_id,),
            lambda: self.change(
                "runs", run_id, lambda r: r["status"] in LIVE_STATES and r["process"] is None,
                status="in_progress", process=process, lease_until=lease_until,
            ),
        )  # fmt: skip

    async def store_end(self, run_id: int, status: str, outcome: str, reason: str) -> bool:
        def work() -> bool:
            run = self.get("runs", run_id)
            assert run is not None
            final = status if run["status"] in LIVE_STATES else run["status"]
            return self.change(
                "runs", run_id, lambda r: r["lease_until"] is not None,
                status=final, outcome=run["outcome"] or outcome, reason=reason, lease_until=None,
            )  # fmt: skip

        return await self._do("store_end", (run_id, status, outcome, reason), work)
