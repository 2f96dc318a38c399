"""The form in which a run stores its carrier's charges."""

from typing import TypedDict, cast

from offhook.runs.tables import Run


class LegBillData(TypedDict, total=False):
    """The bill of one leg: seconds and cost as decimal strings, None where the carrier reported nothing."""

    duration_s: str | None
    billed_s: str | None
    cost: str | None
    currency: str


class CarrierBillData(LegBillData, total=False):
    """The bill of a call, with the bills of its other legs by the carrier's id."""

    legs: dict[str, LegBillData]


def bill_of(run: Run) -> CarrierBillData:
    """Returns what the carrier has reported about the run so far."""
    return cast(CarrierBillData, run.carrier_bill or {})
