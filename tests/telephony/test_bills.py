"""What carriers say that calls cost: the telephony line of a run's bill, once, however often and in whatever order."""

import json
from decimal import Decimal
from itertools import permutations
from typing import Any

import pytest

from offhook.root import Root
from offhook.runs.finishing import carrier_charges
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.calls.carrier_charges import ChargeCollector
from offhook.telephony.ports import CarrierAccount, CarrierCallBill, CarrierFailed, CarrierRegistry
from offhook.usage import repository as usage
from tests.telephony.fakecom import Account

END = {"status": "completed", "call_id": "FC1", "duration": "61"}
COST = {"call_id": "FC1", "cost": "-0.0170", "currency": "USD"}


async def charged(account: Account) -> int:
    """What the organization's ledger holds, in cents."""
    async with account.root.db.transaction() as session:
        return -await usage.ledger_sum(session, account.org.id)


async def detail(account: Account, run_id: int) -> dict[str, Any]:
    path = f"/workflow/{account.workflow_id}/runs/{run_id}"
    return dict((await account.client.get(path, headers=account.org.owner_headers)).json())


async def test_the_carrier_s_own_price_is_charged_once(account: Account) -> None:
    run_id = await account.dial()
    reports = [{"status": "in_progress", "call_id": "FC1"}, END, COST]
    for one in [*reports, *reports, END | {"cost": "0.0170"}]:
        assert (await account.says(f"/fakecom/events/{run_id}", one)).status_code == 200
    run = await detail(account, run_id)
    assert run["carrier_bill"] == {
        "duration_s": "61",
        "billed_s": None,
        "cost": "0.0170",
        "currency": "USD",
        "legs": {},
    }
    (line,) = run["cost_lines"]
    assert (line["kind"], line["provider"], line["unit"], line["quantity"]) == ("carrier", "fakecom", "call", 1)
    assert (line["cost_cents"], run["cost_cents"], run["unpriced"]) == (1.7, 2, [])
    assert await charged(account) == 2


@pytest.mark.slow
async def test_whatever_order_it_comes_in(account: Account) -> None:
    bills: set[tuple[int, str]] = set()
    events: list[dict[str, str | None]] = [
        {**END, "cost": "0.0100", "call_id": None},
        {**COST, "call_id": None},
        {**COST, "duration": "60"},
    ]
    for order in permutations(events):
        run_id = await account.dial()
        for one in order:
            body = one | {"call_id": account.carrier.calls[-1][0]}
            await account.says(f"/fakecom/events/{run_id}", body)
        run = await detail(account, run_id)
        bills.add((run["cost_cents"], json.dumps(run["carrier_bill"])))
    assert len(bills) == 1, bills
    bill: dict[str, Any] = {"duration_s": "61", "billed_s": None, "cost": "0.0170", "currency": "USD", "legs": {}}
    assert bills == {(2, json.dumps(bill))}
    assert await charged(account) == 12


async def test_another_currency_is_shown_and_not_charged(account: Account) -> None:
    run_id = await account.dial()
    await account.says(f"/fakecom/events/{run_id}", END | {"cost": "0.5", "currency": "EUR"})
    run = await detail(account, run_id)
    assert run["carrier_bill"]["cost"] == "0.5"
    assert run["cost_lines"] == []
    assert run["unpriced"][0] | {"quantity": 61} == run["unpriced"][0], "its seconds are the carrier's"


async def test_another_leg_s_price_is_charged_beside_the_call_s(account: Account) -> None:
    """As that of a caller who was sent on is; what else it does is not what the call does."""
    run_id = await account.dial()
    path, other = f"/fakecom/events/{run_id}", {"call_id": "ANOTHER"}
    assert (await account.says(path, {"status": "completed"} | other)).json() == {"status": "ignored"}
    assert (await account.says(path, COST | other)).json() == {"status": "ok"}, "before the call's own"
    assert (await detail(account, run_id))["carrier_bill"]["duration_s"] is None
    for one in (END, COST, COST | other | {"cost": "0.0330"}):
        assert (await account.says(path, one)).json() == {"status": "ok"}
    assert (await account.says(path, COST | other)).json() == {"status": "duplicate"}
    run = await detail(account, run_id)
    assert run["carrier_bill"]["cost"] == "0.0170"
    assert run["carrier_bill"]["legs"]["ANOTHER"]["cost"] == "0.0330"
    lines = {line["model"]: (line["quantity"], line["cost_cents"]) for line in run["cost_lines"]}
    assert lines == {"outbound/US": (1, 1.7), "transfer": (1, 3.3)}
    assert await charged(account) == run["cost_cents"] == 5


class Rated:
    """A carrier that answers whoever asks what a call cost."""

    def __init__(self, *answers: CarrierCallBill | CarrierFailed) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def read_bill(self, account: CarrierAccount, call_id: str) -> CarrierCallBill:
        self.asked.append(call_id)
        answer = self.answers.pop(0)
        if isinstance(answer, CarrierFailed):
            raise answer
        return answer


async def test_a_carrier_that_is_asked_until_it_knows(account: Account, root: Root) -> None:
    rated = Rated(
        CarrierFailed("carrier_unreachable", "away", retryable=True),
        CarrierCallBill(Decimal(61)),
        CarrierCallBill(Decimal(61), None, Decimal("0.0170")),
    )
    root.get(CarrierRegistry).add(account.carrier.spec(bills=rated))
    run_id = await account.dial()
    await account.says(f"/fakecom/events/{run_id}", {"status": "completed", "call_id": "FC1"})
    bills = ChargeCollector(root.db, root.get(CarrierRegistry), root.get(CarrierAccounts))
    payloads = [{"organization_id": account.org.id, "run_id": run_id, "tries": tries} for tries in range(3)]
    for payload in payloads:
        await bills.read_bill(payload)
    assert rated.asked == ["FC1"] * 3
    assert (await detail(account, run_id))["cost_cents"] == 2


@pytest.mark.parametrize("said", ["", "free", None, [], "nan", "1e9", "inf"])
def test_what_is_no_amount(said: object) -> None:
    assert carrier_charges.parse_carrier_bill(cost=said) is None
