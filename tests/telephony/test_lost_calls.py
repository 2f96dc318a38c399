"""A dial whose answer was lost: the call is found and adopted, or it was never placed; nothing is dialed again."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from sqlalchemy import update

from offhook.errors import DomainError
from offhook.root import Root
from offhook.runs.tables import Run
from offhook.telephony.ports import CarrierAccount, CarrierFailed, CarrierRegistry, LostCallQuery, StatusUpdate
from offhook.telephony.services import TelephonyServices
from tests.telephony.fakecom import THEIRS, Account

LOST = CarrierFailed("carrier_unreachable", "No answer.", retryable=True, is_fate_unknown=True)


@dataclass
class Lists:
    """Implements CallFinder."""

    calls: Sequence[StatusUpdate] = ()
    asked: list[LostCallQuery] = field(default_factory=list)

    async def find_calls(self, account: CarrierAccount, sought: LostCallQuery) -> list[StatusUpdate]:
        self.asked.append(sought)
        return list(self.calls)


@pytest.fixture
def lists(root: Root, account: Account) -> Lists:
    found = Lists()
    root.get(CarrierRegistry).add(account.carrier.spec(finder=found))
    return found


async def lose(account: Account, *, ago_s: float = 120.0) -> int:
    """A run whose dial came to no answer, so long ago."""
    account.carrier.refuses["dial"] = LOST
    body = {"workflow_id": account.workflow_id, "phone_number": THEIRS, "telephony_configuration_id": account.id}
    answer = await account.client.post("/telephony/initiate-call", json=body, headers=account.org.owner_headers)
    run_id = int(answer.json()["workflow_run_id"])
    del account.carrier.refuses["dial"]
    async with account.root.db.transaction() as session:
        created = Run.created_at - timedelta(seconds=ago_s)
        await session.execute(update(Run).where(Run.id == run_id).values(created_at=created))
    return run_id


async def look(account: Account, run_id: int) -> Run:
    payload = {"organization_id": account.org.id, "run_id": run_id, "tries": 0}
    await account.root.get(TelephonyServices).lost_calls.run_search(payload)
    return await account.run(run_id)


async def test_it_is_found_and_adopted(account: Account, lists: Lists) -> None:
    run_id = await lose(account)
    lists.calls = [StatusUpdate("ringing", call_id="FC77")]
    run = await look(account, run_id)
    assert (run.status, run.call_id) == ("ringing", "FC77")
    (sought,) = lists.asked
    assert (sought.run_id, sought.to_number, sought.from_number) == (run_id, THEIRS, "+12015550150")
    await look(account, run_id)
    assert len(lists.asked) == 1, "the carrier's reports go on with it"
    await account.says(f"/fakecom/events/{run_id}", {"status": "completed", "call_id": "FC77"})
    assert (await account.run(run_id)).outcome == "answered"


async def test_one_that_is_over_by_now(account: Account, lists: Lists) -> None:
    run_id = await lose(account)
    lists.calls = [StatusUpdate("busy", call_id="FC77")]
    run = await look(account, run_id)
    assert (run.status, run.call_id) == ("busy", "FC77")


async def test_it_was_never_placed(account: Account, lists: Lists) -> None:
    early = await lose(account, ago_s=10)
    assert (await look(account, early)).status == "initiated", "it may still come to be"
    run = await look(account, await lose(account))
    assert (run.status, run.end_reason) == ("failed", "never_reached_carrier")
    assert len(account.carrier.asked_for("dial")) == 2


async def test_other_runs_calls_between_the_same_numbers_are_not_taken(account: Account, lists: Lists) -> None:
    other = await account.dial()
    theirs = (await account.run(other)).call_id
    lists.calls = [StatusUpdate("in_progress", call_id=theirs)]
    run = await look(account, await lose(account))
    assert (run.call_id, run.end_reason) == (None, "never_reached_carrier")
    lists.calls = [*lists.calls, StatusUpdate("ringing", call_id="A"), StatusUpdate("ringing", call_id="B")]
    run = await look(account, await lose(account))
    assert (run.status, run.call_id) == ("initiated", None), "either may be it: its callbacks decide"


async def test_a_carrier_that_cannot_say(account: Account, root: Root) -> None:
    run_id = await lose(account)
    assert (await look(account, run_id)).status == "initiated"
    with pytest.raises(CarrierFailed):
        await root.get(TelephonyServices).lost_calls.find_call(account.org.id, run_id)
    with pytest.raises(DomainError):
        await root.get(TelephonyServices).lost_calls.find_call(account.org.id, 999999)
