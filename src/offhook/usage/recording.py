"""Counts a finished run: once, in the transaction that ends it, and by the difference when it is told again."""

from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs import service as orgs
from offhook.usage import ledger, repository
from offhook.usage.facts import Charge, RunFacts
from offhook.usage.periods import bucket_of, month_of, zone
from offhook.usage.tables import BillingAccount, RunUsage

_MINUTE_MS = 60_000
_BUCKET = ("duration_ms", "billable_ms", "cost_cents")


async def record_run(session: AsyncSession, facts: RunFacts) -> Charge:
    """Add a finished run to the sums and charge it; what it costs in all.

    Idempotent by the run's id: a second telling with other figures changes sums and balance by the difference. Locks
    the organisation's account until the transaction ends, so call it late.
    """
    account = await repository.locked_account(session, facts.organization_id)
    known = await repository.run_usage(session, facts.organization_id, facts.run_id)
    charge = await _charge(session, account, facts, known)
    before = _amounts(known)
    models = _by_model(use.as_sums() for use in facts.models)
    if known is None:
        known = RunUsage(
            run_id=facts.run_id, organization_id=facts.organization_id, bucket_at=bucket_of(facts.created_at)
        )
        session.add(known)
        models_before: list[Any] = []
    else:
        models_before = known.models
    known.workflow_id, known.campaign_id = facts.workflow_id, facts.campaign_id
    known.duration_ms, known.cost_cents, known.models = facts.duration_ms, charge.cost_cents, models
    known.billable_ms = facts.duration_ms if facts.is_billable else 0
    await session.flush()
    after = _amounts(known)
    added = {name: after[name] - before[name] for name in after}
    if any(added.values()):
        await repository.add_to_bucket(session, facts.organization_id, known.bucket_at, added)
    await repository.add_to_model_buckets(
        session, facts.organization_id, known.bucket_at, _difference(models, models_before)
    )
    await ledger.charge_run(
        session, facts.organization_id, facts.run_id, added["cost_cents"], is_first=before["calls"] == 0
    )
    return charge


async def _charge(session: AsyncSession, account: BillingAccount, facts: RunFacts, known: RunUsage | None) -> Charge:
    terms = ledger.terms_of(session, account)
    price = terms.platform_cents_per_minute
    billed_ms = facts.duration_ms if facts.is_billable and price else 0
    if billed_ms and terms.included_minutes:
        organization = await orgs.organization(session, facts.organization_id)
        period = month_of(facts.created_at, zone(organization.time_zone))
        used_ms = (await repository.totals(session, facts.organization_id, period)).billable_ms
        used_ms -= known.billable_ms if known else 0
        billed_ms = max(0, billed_ms - max(0, terms.included_minutes * _MINUTE_MS - int(used_ms)))
    seconds = Decimal(billed_ms) / 1000
    total = facts.cost_cents + seconds * price / 60
    return Charge(int(total.quantize(Decimal(1), ROUND_HALF_UP)), seconds, price)


def _amounts(known: RunUsage | None) -> dict[str, int]:
    if known is None:
        return dict.fromkeys(("calls", *_BUCKET), 0)
    return {"calls": 1, **{name: getattr(known, name) for name in _BUCKET}}


def _by_model(rows: Any) -> list[dict[str, Any]]:
    """In one order, so that transactions never wait for each other crosswise; names are cut to their columns."""
    cut = [row | {"provider": row["provider"][:32], "model": row["model"][:64]} for row in rows]
    return sorted(cut, key=_key)


def _key(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["kind"], row["provider"], row["model"]


def _difference(after: Sequence[Mapping[str, Any]], before: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What to add to the sums so that they hold ``after`` where they held ``before``; nothing where nothing changed."""
    sums: dict[tuple[str, str, str], dict[str, Decimal]] = {}
    for sign, rows in ((1, after), (-1, before)):
        for row in rows:
            counted = sums.setdefault(_key(row), dict.fromkeys(repository.COUNTED, Decimal(0)))
            for name in repository.COUNTED:
                counted[name] += sign * Decimal(str(row[name]))
    return [
        {"kind": kind, "provider": provider, "model": model, **_columns(counted)}
        for (kind, provider, model), counted in sorted(sums.items())
        if any(counted.values())
    ]


def _columns(counted: Mapping[str, Decimal]) -> dict[str, Any]:
    return {name: value if name in {"seconds", "cost_cents"} else int(value) for name, value in counted.items()}
