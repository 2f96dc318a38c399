"""A call's duration and cost as its carrier reports them: stored with the run, the basis of its telephony cost line."""

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Final, cast

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_values import JsonObject
from offhook.runs.finishing import costs, repository
from offhook.runs.finishing.carrier_bills import CarrierBillData, LegBillData, bill_of
from offhook.runs.states import FINAL_STATES
from offhook.usage import service as usage_service

# Limits that match the columns: a report of a longer or more expensive call is ignored.
_MAX_SECONDS: Final = Decimal(1_000_000)
_MAX_COST: Final = Decimal(5_000)
MAX_LEGS: Final = 20


@dataclass(frozen=True, slots=True)
class CarrierCallBill:
    """A bill by the carrier's clock and in its currency (ISO 4217); None where the carrier reported nothing.

    ``duration_s``: how long the call was connected; ``billed_s``: the charged seconds; ``cost``: the amount, never
    negative.
    """

    duration_s: Decimal | None = None
    billed_s: Decimal | None = None
    cost: Decimal | None = None
    currency: str = "USD"


def parse_carrier_bill(
    duration_s: object = None, billed_s: object = None, cost: object = None, currency: object = None
) -> CarrierCallBill | None:
    """Parses a carrier's bill from fields that may be missing or unreadable; returns None when they hold nothing."""
    found = (
        _parse_amount(duration_s, _MAX_SECONDS),
        _parse_amount(billed_s, _MAX_SECONDS),
        _parse_amount(cost, _MAX_COST),
    )
    if found == (None, None, None):
        return None
    is_named = isinstance(currency, str) and len(currency) == 3
    return CarrierCallBill(*found, str(currency).upper() if is_named else "USD")


def _parse_amount(value: object, most: Decimal) -> Decimal | None:
    """Parses an amount without the sign that some carriers give to charges."""
    try:
        found = abs(Decimal(str(value))) if isinstance(value, str | int | float) else None
    except InvalidOperation:
        return None
    return found if found is not None and found.is_finite() and found < most else None


async def record_carrier_bill(
    session: AsyncSession, organization_id: int, run_id: int, reported: CarrierCallBill, *, leg: str | None = None
) -> bool:
    """Stores a bill with the run, and charges the difference if the run was charged already; returns False if nothing
    is new.

    ``leg``: the carrier's id of another leg of the call (the destination of a transfer), which has a bill of its
    own. When two bills differ, the larger value of each field counts, so neither order nor repetition matters.
    """
    run = await repository.lock_run(session, organization_id, run_id)
    if run is None:
        return False
    known = bill_of(run)
    bill: CarrierBillData = (
        {**known, **_merge_bill(known, reported)} if leg is None else _merge_leg(known, leg, reported)
    )
    if bill == run.carrier_bill:
        return False
    run.carrier_bill = cast(JsonObject, bill)
    duration_s = bill.get("duration_s")
    if duration_s is not None and run.status in FINAL_STATES and run.worker_id is None:
        # the call had no conversation, so the carrier's duration beats our clock between two of its requests
        run.duration = Decimal(duration_s)
    await session.flush()
    if await usage_service.is_counted(session, organization_id, run_id):
        await costs.charge_run(session, run)
    return True


def _merge_leg(known: CarrierBillData, leg: str, reported: CarrierCallBill) -> CarrierBillData:
    legs = known.get("legs", {})
    if leg not in legs and len(legs) >= MAX_LEGS:
        return known
    # The call's own bill has all its keys before the carrier reports it.
    call_bill: CarrierBillData = {**known, **_merge_bill(known, CarrierCallBill())}
    return {**call_bill, "legs": {**legs, leg: _merge_bill(legs.get(leg, {}), reported)}}


def _merge_bill(known: LegBillData, reported: CarrierCallBill) -> LegBillData:
    merged: LegBillData = {
        **known,
        "duration_s": _larger_amount(known.get("duration_s"), reported.duration_s),
        "billed_s": _larger_amount(known.get("billed_s"), reported.billed_s),
    }
    if known.get("cost") is None or reported.cost is None or known["currency"] == reported.currency:
        merged["cost"] = _larger_amount(known.get("cost"), reported.cost)
        merged["currency"] = (
            reported.currency if reported.cost is not None else known.get("currency", reported.currency)
        )
    return merged


def _larger_amount(known: str | None, reported: Decimal | None) -> str | None:
    found = [value for value in (Decimal(known) if known is not None else None, reported) if value is not None]
    return str(max(found)) if found else None
