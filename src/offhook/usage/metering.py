"""Meters finished runs: once, in the transaction that ends them, and by the difference when they are recorded again."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.usage import ledger, repository
from offhook.usage.outcomes import OutcomeSums
from offhook.usage.periods import TimeRange, bucket_of, included_month, start_of_day
from offhook.usage.run_facts import MAX_RUN_CENTS, RunCost, RunFacts
from offhook.usage.tables import RunUsage

_MINUTE_MS = 60_000
# What a run takes before its length begins to count.
_MAX_RINGING = timedelta(minutes=30)
_BUCKET_COLUMNS = ("duration_ms", "billable_ms", "cost_cents")


async def record_runs(session: AsyncSession, organization_id: int, runs: Sequence[RunFacts]) -> list[RunCost]:
    """Adds finished runs of one organization to its sums and charges them; returns each run's total cost.

    Idempotent by the run's id: recording it again with other figures changes sums and balance by the difference.
    Locks the organization's account until the transaction ends, so call it late. No run may occur in ``runs``
    twice.
    """
    account = await repository.lock_account(session, organization_id)
    known = await repository.run_usages(session, organization_id, [facts.run_id for facts in runs])
    tariff = _PlatformTariff(session, ledger.effective_terms(session, account), organization_id)
    sums, outcomes = _BucketSums(), OutcomeSums()
    charges, due = [], []
    today = start_of_day(datetime.now(UTC))
    for facts in runs:
        stored = known.get(facts.run_id)
        before = _counted_amounts(stored)
        models_before = stored.models if stored else []
        charge = await tariff.price_run(facts, before["billable_ms"])
        if stored is None:
            stored = RunUsage(
                run_id=facts.run_id, organization_id=organization_id, bucket_at=bucket_of(facts.created_at)
            )
            session.add(stored)
        if before["calls"]:
            outcomes.add_run(stored, -1)
        _fill(stored, facts, charge)
        outcomes.add_run(stored)
        added = sums.add_run(stored, before, models_before)
        charges.append(charge)
        due.append(
            ledger.RunCharge(
                facts.run_id, added["cost_cents"], is_first=before["calls"] == 0, is_of_today=_ends_today(facts, today)
            )
        )
    await session.flush()
    await sums.write(session, organization_id)
    await outcomes.write(session, organization_id)
    await ledger.post_run_charges(session, organization_id, due)
    await repository.delete_holds(session, organization_id, [facts.run_id for facts in runs])
    return charges


def _ends_today(facts: RunFacts, today: datetime) -> bool:
    """Returns whether a conversation of an earlier day went on in this one, as far as its length says."""
    ended_at = facts.created_at + timedelta(milliseconds=facts.duration_ms)
    return facts.created_at < today <= ended_at + _MAX_RINGING


def _fill(stored: RunUsage, facts: RunFacts, charge: RunCost) -> None:
    stored.workflow_id, stored.campaign_id = facts.workflow_id, facts.campaign_id
    stored.duration_ms, stored.cost_cents = facts.duration_ms, charge.cost_cents
    stored.outcome = facts.outcome
    stored.billable_ms = facts.duration_ms if facts.is_billable else 0
    rows = [use.as_sums() for use in facts.models]
    # names cut to their columns, in a fixed order so that transactions cannot deadlock
    cut = [row | {"provider": str(row["provider"])[:32], "model": str(row["model"])[:64]} for row in rows]
    stored.models = sorted(cut, key=_model_key)


class _BucketSums:
    """Sums by the quarter of an hour in which runs began."""

    def __init__(self) -> None:
        self._added: dict[datetime, dict[str, int]] = {}
        self._models: dict[datetime, tuple[list[Any], list[Any]]] = {}

    def add_run(self, stored: RunUsage, before: Mapping[str, int], models_before: Sequence[Any]) -> dict[str, int]:
        """Adds this run to the sums."""
        after = _counted_amounts(stored)
        added = {name: after[name] - before[name] for name in after}
        total = self._added.setdefault(stored.bucket_at, dict.fromkeys(after, 0))
        for name, amount in added.items():
            total[name] += amount
        now, then = self._models.setdefault(stored.bucket_at, ([], []))
        now += stored.models
        then += models_before
        return added

    async def write(self, session: AsyncSession, organization_id: int) -> None:
        for bucket_at in sorted(self._added):
            if any(self._added[bucket_at].values()):
                await repository.add_to_bucket(session, organization_id, bucket_at, self._added[bucket_at])
            difference = _model_difference(*self._models[bucket_at])
            await repository.add_to_model_buckets(session, organization_id, bucket_at, difference)


class _PlatformTariff:
    """The platform's price for runs, in sequence: included minutes that one run uses are gone for the next."""

    def __init__(self, session: AsyncSession, terms: ledger.EffectiveTerms, organization_id: int) -> None:
        self._session = session
        self._terms = terms
        self._organization_id = organization_id
        self._used_ms: dict[TimeRange, int] = {}

    async def price_run(self, facts: RunFacts, billed_before_ms: int) -> RunCost:
        """Prices a run. ``billed_before_ms``: its duration recorded earlier, if it is recorded again."""
        price = self._terms.platform_cents_per_minute
        billed_ms = facts.duration_ms if facts.is_billable and price else 0
        if self._terms.included_minutes and price:
            period = await self._load_period(facts.created_at)
            self._used_ms[period] -= billed_before_ms
            left_ms = max(0, self._terms.included_minutes * _MINUTE_MS - self._used_ms[period])
            self._used_ms[period] += facts.duration_ms if facts.is_billable else 0
            billed_ms = max(0, billed_ms - left_ms)
        seconds = Decimal(billed_ms) / 1000
        total = min(facts.cost_cents + seconds * price / 60, MAX_RUN_CENTS)
        return RunCost(int(total.quantize(Decimal(1), ROUND_HALF_UP)), seconds, price)

    async def _load_period(self, at: datetime) -> TimeRange:
        """Loads the month of a run; its used minutes are tracked from then on."""
        period = included_month(at)
        if period not in self._used_ms:
            totals = await repository.period_totals(self._session, self._organization_id, period)
            self._used_ms[period] = int(totals.billable_ms)
        return period


def _counted_amounts(known: RunUsage | None) -> dict[str, int]:
    if known is None:
        return dict.fromkeys(("calls", *_BUCKET_COLUMNS), 0)
    return {"calls": 1, **{name: getattr(known, name) for name in _BUCKET_COLUMNS}}


def _model_key(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["kind"], row["provider"], row["model"]


def _model_difference(
    after: Sequence[Mapping[str, Any]], before: Sequence[Mapping[str, Any]]
) -> list[dict[str, object]]:
    """Returns what to add to sums that hold ``before`` so that they hold ``after``; nothing where nothing changed."""
    sums: dict[tuple[str, str, str], dict[str, Decimal]] = {}
    for sign, rows in ((1, after), (-1, before)):
        for row in rows:
            counted = sums.setdefault(_model_key(row), dict.fromkeys(repository.COUNTED, Decimal(0)))
            for name in repository.COUNTED:
                counted[name] += sign * Decimal(str(row[name]))
    fractions = {"seconds", "cost_cents"}
    return [
        {
            "kind": kind,
            "provider": provider,
            "model": model,
            **{name: value if name in fractions else int(value) for name, value in counted.items()},
        }
        for (kind, provider, model), counted in sorted(sums.items())
        if any(counted.values())
    ]
