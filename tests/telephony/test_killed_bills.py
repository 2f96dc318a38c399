"""The question what a call cost, by a process that is killed: it is asked again, and charged once."""

from datetime import timedelta
from decimal import Decimal

import pytest
from sqlalchemy import func, null, text, update

from offhook.kit.json_values import JsonObject
from offhook.root import Root
from offhook.runs.tables import Run
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.calls.carrier_charges import MISSED_AFTER, MISSED_JOB, MISSED_UNTIL, ChargeCollector
from offhook.telephony.ports import CarrierCallBill, CarrierRegistry
from tests.privacy.test_organization_deletion import DyingDatabase, Killed
from tests.telephony.fakecom import Account
from tests.telephony.test_bills import Rated, charged, detail


async def waiting(root: Root) -> list[str]:
    """The keys of the tries that wait."""
    async with root.db.transaction() as session:
        found = await session.scalars(
            text("SELECT dedupe_key FROM pgqueuer WHERE entrypoint = 'telephony.read_bill' ORDER BY 1")
        )
        return [str(key) for key in found]


async def dial_and_end(account: Account) -> int:
    run_id = await account.dial()
    await account.says(f"/fakecom/events/{run_id}", {"status": "completed", "call_id": "FC1"})
    return run_id


@pytest.mark.parametrize("cost", ["0.0170", None])
async def test_it_is_asked_again_and_charged_once(account: Account, root: Root, cost: str | None) -> None:
    bill = CarrierCallBill(Decimal(61), None, None if cost is None else Decimal(cost))
    rated = Rated(*[bill] * 9)
    root.get(CarrierRegistry).add(account.carrier.spec(bills=rated))
    run_id = await dial_and_end(account)
    payload = {"organization_id": account.org.id, "run_id": run_id, "tries": 0}
    for lives in range(4):
        database = DyingDatabase(root.db.url, lives=lives)
        bills = ChargeCollector(database, root.get(CarrierRegistry), root.get(CarrierAccounts))
        try:
            await bills.read_bill(payload)
        except Killed:
            assert lives < 2
        finally:
            await database.dispose()
    assert len(rated.asked) == 3, "all but the one that died first"
    assert (await detail(account, run_id))["cost_cents"] == await charged(account) == (2 if cost else 0)
    assert await waiting(root) == ([] if cost else [f"telephony.read_bill:{run_id}:1"])


async def test_a_call_whose_process_died_at_its_end_is_asked_about_later(account: Account, root: Root) -> None:
    """The wish to ask was lost with the process, and the call cost nothing for ever."""
    rated = Rated(CarrierCallBill(Decimal(61), None, Decimal("0.0170")))
    root.get(CarrierRegistry).add(account.carrier.spec(bills=rated))
    run_id = await dial_and_end(account)
    sweep = root.jobs.handlers[MISSED_JOB]
    at = MISSED_AFTER - timedelta(minutes=5)
    for ended_ago, tries in ((at, 0), (MISSED_UNTIL + timedelta(minutes=5), 0), (MISSED_AFTER * 1.5, 1)):
        async with root.db.transaction() as session:
            values = {"ended_at": func.now() - ended_ago, "created_at": func.now() - ended_ago - timedelta(minutes=1)}
            await session.execute(update(Run).where(Run.id == run_id).values(carrier_bill=null(), **values))
            await session.execute(text("DELETE FROM pgqueuer WHERE entrypoint = 'telephony.read_bill'"))
        await sweep({})
        await sweep({})
        assert len(await waiting(root)) == tries
    await root.jobs.handlers["telephony.read_bill"]({"organization_id": account.org.id, "run_id": run_id, "tries": 0})
    assert await charged(account) == 2
    async with root.db.transaction() as session:
        await session.execute(text("DELETE FROM pgqueuer WHERE entrypoint = 'telephony.read_bill'"))
    await sweep({})
    assert await waiting(root) == []


@pytest.mark.parametrize(
    ("bill", "tries"),
    [
        ({"duration_s": "61", "billed_s": None, "cost": None, "currency": "USD"}, 1),
        ({"duration_s": "0", "billed_s": None, "cost": None, "currency": "USD"}, 0),
        ({"duration_s": None, "billed_s": None, "cost": None, "currency": "USD"}, 0),
        ({"duration_s": "61", "billed_s": None, "cost": "0.0170", "currency": "USD"}, 0),
    ],
)
async def test_of_a_call_whose_carrier_told_only_its_length_the_price_is_missing(
    account: Account, root: Root, bill: JsonObject, tries: int
) -> None:
    root.get(CarrierRegistry).add(account.carrier.spec(bills=Rated()))
    run_id = await dial_and_end(account)
    ended_at = func.now() - MISSED_AFTER * 1.25
    async with root.db.transaction() as session:
        values = {"ended_at": ended_at, "created_at": ended_at - timedelta(minutes=1), "carrier_bill": bill}
        await session.execute(update(Run).where(Run.id == run_id).values(**values))
        await session.execute(text("DELETE FROM pgqueuer WHERE entrypoint = 'telephony.read_bill'"))
    await root.jobs.handlers[MISSED_JOB]({})
    assert len(await waiting(root)) == tries


async def test_missed_calls_are_asked_about_over_an_hour(account: Account, root: Root) -> None:
    root.get(CarrierRegistry).add(account.carrier.spec(bills=Rated()))
    run_ids = [await dial_and_end(account) for _ in range(3)]
    ended_at = func.now() - MISSED_AFTER * 1.25
    async with root.db.transaction() as session:
        values = {"ended_at": ended_at, "created_at": ended_at - timedelta(minutes=1), "carrier_bill": null()}
        await session.execute(update(Run).where(Run.id.in_(run_ids)).values(**values))
        await session.execute(text("DELETE FROM pgqueuer WHERE entrypoint = 'telephony.read_bill'"))
    await root.jobs.handlers[MISSED_JOB]({})
    async with root.db.transaction() as session:
        first, _, last = await session.scalars(
            text("SELECT execute_after FROM pgqueuer WHERE entrypoint = 'telephony.read_bill' ORDER BY 1")
        )
    assert last - first > timedelta(minutes=30)
