"""The cost of a run: one line per metered item, at the price on the day of the call."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date
from decimal import Decimal
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_values import JsonValue
from offhook.kit.phone_numbers import PhoneNumberInvalid, parse_phone_number
from offhook.models import prices
from offhook.models.prices import PricedUsage, PriceList, UnpricedUsage
from offhook.root import settings_of
from offhook.runs.artifacts.links import BROWSER
from offhook.runs.finishing import repository
from offhook.runs.finishing.carrier_bills import CarrierBillData, bill_of
from offhook.runs.states import TEXT_CHAT
from offhook.runs.tables import Run
from offhook.usage import service as usage_service
from offhook.usage.service import MAX_RUN_CENTS, UNKNOWN, ModelUse, RunFacts

PLATFORM: Final = "platform"
# The currency of balances and of the price table.
CURRENCY: Final = "USD"
_EXACT: Final = Decimal("0.00000001")
UNPRICED: Final = "unpriced"
_KINDS: Final = ("llm", "tts", "stt", "realtime")
_PROVIDER_CHARS, _MODEL_CHARS = 32, 64
_WITHOUT_CARRIER: Final = frozenset({TEXT_CHAT, BROWSER})


async def charge_run(session: AsyncSession, run: Run) -> int:
    """Charges one run as :func:`charge_runs` does and returns its cost in whole cents."""
    await charge_runs(session, run.organization_id, [run])
    return run.cost_cents


async def charge_runs(session: AsyncSession, organization_id: int, runs: Sequence[Run]) -> None:
    """Writes the cost lines of finished runs, adds them to their organization's usage and charges them.

    Idempotent: lines are replaced, and charging a run again with different usage changes sums and balance by the
    difference. Also sets ``run.cost_cents``, and lists items without a known price in ``run.usage["unpriced"]``.
    Locks the organization's account: call it late in the transaction.
    """
    price_list = await prices.price_list(session, organization_id)
    found = [_price_run(run, price_list) for run in runs]
    facts = [_run_facts(run, lines) for run, lines in zip(runs, found, strict=True)]
    charges = await usage_service.record_runs(session, organization_id, facts)
    rows = []
    for run, lines, charge in zip(runs, found, charges, strict=True):
        priced = [line for line in lines if isinstance(line, PricedUsage)]
        if charge.platform_seconds and charge.platform_cents_per_minute:
            price = charge.platform_cents_per_minute / 60
            priced.append(
                PricedUsage(PLATFORM, PLATFORM, run.mode, "second", charge.platform_seconds, price, _day_of(run))
            )
        rows += [_cost_line_row(run, line) for line in priced]
        run.cost_cents = charge.cost_cents
        unpriced: list[JsonValue] = [line.as_dict() for line in lines if isinstance(line, UnpricedUsage)]
        rest = {name: value for name, value in run.usage.items() if name != UNPRICED}
        run.usage = {**rest, UNPRICED: unpriced} if unpriced else rest
    await repository.replace_cost_lines(session, organization_id, [run.id for run in runs], rows)
    await session.flush()


@dataclass(frozen=True, slots=True)
class CallTariff:
    """What the price of a call's time depends on. ``day`` is that of its beginning."""

    mode: str
    direction: str
    called_number: str | None
    day: date


def tariff_of(run: Run) -> CallTariff:
    return CallTariff(run.mode, run.direction, run.called_number, _day_of(run))


def estimate_cents(price_list: PriceList, tariff: CallTariff, usage: Mapping[str, Any], seconds: Decimal) -> Decimal:
    """Returns the vendors' and the carrier's cost of a live call so far, as far as prices are known."""
    lines = price_list.price_usage(usage, tariff.day)
    if tariff.mode not in _WITHOUT_CARRIER:
        country = _country_of(tariff.called_number)
        lines += price_list.price_call(tariff.mode, tariff.direction, country, seconds, tariff.day)
    return sum((line.cost_cents for line in lines if isinstance(line, PricedUsage)), Decimal(0))


async def next_answer_cents(session: AsyncSession, run: Run, usage: object, answers: int) -> int:
    """Returns what a text chat has to hold for one more answer: what ``answers`` have cost, and as much again as one of
    them, at least ``chat_hold_cents``. ``usage`` is as in the ``usage_counted`` event."""
    price_list = await prices.price_list(session, run.organization_id)
    counted = usage if isinstance(usage, Mapping) else {}
    used = estimate_cents(price_list, tariff_of(run), counted, Decimal(0))
    return math.ceil(used + max(Decimal(settings_of(session).chat_hold_cents), used / max(1, answers)))


def _day_of(run: Run) -> date:
    return (run.answered_at or run.created_at).astimezone(UTC).date()


def _run_facts(run: Run, lines: Sequence[PricedUsage | UnpricedUsage]) -> RunFacts:
    return RunFacts(
        run_id=run.id,
        organization_id=run.organization_id,
        workflow_id=run.workflow_id,
        campaign_id=run.campaign_id,
        created_at=run.created_at,
        duration_ms=round((run.duration or 0) * 1000),
        is_billable=run.mode != TEXT_CHAT,
        cost_cents=sum((line.cost_cents for line in lines if isinstance(line, PricedUsage)), Decimal(0)),
        models=_model_uses(run.usage, lines),
        outcome=run.outcome or UNKNOWN,
    )


def _price_run(run: Run, price_list: PriceList) -> list[PricedUsage | UnpricedUsage]:
    lines = price_list.price_usage(run.usage, _day_of(run))
    if run.mode not in _WITHOUT_CARRIER:
        lines += _carrier_lines(run, price_list, _day_of(run))
    return lines


def _carrier_lines(run: Run, price_list: PriceList, on: date) -> list[PricedUsage | UnpricedUsage]:
    """Returns the carrier's own charge in our currency; otherwise its seconds, or ours, at the table's price."""
    bill, country = bill_of(run), _country_of(run.called_number)
    legs = _transfer_leg_lines(run, bill, on)
    cost = bill.get("cost")
    if cost is not None and bill["currency"] == CURRENCY:
        model = f"{run.direction}/{country}" if country else run.direction
        cents = (Decimal(cost) * 100).quantize(_EXACT)
        return [PricedUsage("carrier", run.mode, model, "call", Decimal(1), cents, on), *legs]
    connected_s = bill.get("duration_s")
    seconds = Decimal(run.duration or 0) if connected_s is None else Decimal(connected_s)
    return [*price_list.price_call(run.mode, run.direction, country, seconds, on), *legs]


def _transfer_leg_lines(run: Run, bill: CarrierBillData, on: date) -> list[PricedUsage]:
    """Returns one line for all transfer destinations; no table has their price."""
    legs = [leg for leg in bill.get("legs", {}).values() if leg.get("currency") == CURRENCY]
    costs = [Decimal(cost) for leg in legs if (cost := leg.get("cost")) is not None]
    cents = (sum(costs, Decimal(0)) * 100).quantize(_EXACT)
    return [PricedUsage("carrier", run.mode, "transfer", "call", Decimal(len(costs)), cents, on)] if costs else []


def _country_of(number: str | None) -> str | None:
    if number is None:
        return None
    try:
        return parse_phone_number(number).country
    except PhoneNumberInvalid:
        return None


def _model_uses(usage: Mapping[str, Any], lines: Sequence[PricedUsage | UnpricedUsage]) -> list[ModelUse]:
    """Returns every model that was used, with the sum of its lines."""
    used = []
    for kind in _KINDS:
        for entry in usage.get(kind) or ():
            provider, model = str(entry["provider"]), str(entry["model"])
            model_lines = [line for line in lines if (line.kind, line.provider, line.model) == (kind, provider, model)]
            cost = sum((line.cost_cents for line in model_lines if isinstance(line, PricedUsage)), Decimal(0))
            is_priced = not any(isinstance(line, UnpricedUsage) for line in model_lines)
            counted = usage_service.parse_counters(entry)
            used.append(
                ModelUse(kind, provider, model, **counted, cost_cents=min(cost, MAX_RUN_CENTS), is_priced=is_priced)
            )
    return used


def _cost_line_row(run: Run, line: PricedUsage) -> dict[str, object]:
    return {
        "run_id": run.id,
        "organization_id": run.organization_id,
        "kind": line.kind,
        "provider": line.provider[:_PROVIDER_CHARS],
        "model": line.model[:_MODEL_CHARS],
        "unit": line.unit,
        "quantity": line.quantity,
        "unit_price_cents": line.unit_price_cents,
        "price_date": line.price_date,
    }
