"""A phone of the sandbox dies with its process, and so does the call that it was about to ring for."""

import asyncio

from sqlalchemy import select

from offhook.root import Root
from offhook.runs.tables import Run
from offhook.telephony import CallOrder, OutboundCalls
from offhook.telephony.ports import CarrierAccount, DialRequest
from tests.fakes.carrier import replace_sandbox_dialer
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import MakeWorkflow, make_workflow

__all__ = ["make_workflow"]


class NeverRings:
    """Implements ``ports.Dialer``: asked, and not heard of since, as when the process dies."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def place_call(self, account: CarrierAccount, request: DialRequest) -> str:
        self.asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    async def hang_up(self, account: CarrierAccount, call_id: str) -> None:
        return None


async def test_the_run_is_leased_before_the_phone_rings(
    root: Root, org: OrgFixture, make_workflow: MakeWorkflow
) -> None:
    """So that the sweeper ends it within seconds: nobody renews the lease of a process that is gone."""
    phones = NeverRings()
    replace_sandbox_dialer(root, phones)
    order = CallOrder(org.id, await make_workflow(org.id), "+12015550101", use_draft=False)
    placing = asyncio.create_task(root.get(OutboundCalls).place_call(order))
    await phones.asked.wait()
    async with root.db.transaction() as session:
        run = (await session.scalars(select(Run))).one()
    assert (run.status, run.is_leased) == ("initiated", True)
    placing.cancel()
    await asyncio.gather(placing, return_exceptions=True)
    async with root.db.transaction() as session:
        run = (await session.scalars(select(Run))).one()
    assert (run.status, run.is_leased) == ("failed", False)
