"""Cost lines of a run: counted use times the price of the day, summed once."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from offhook.root import Root
from offhook.runs import repository
from offhook.runs.finishing import costs
from offhook.runs.tables import Run
from offhook.usage import ledger

USAGE: dict[str, Any] = {
    "llm": [
        {"provider": "openai", "model": "gpt-4.1", "prompt_tokens": 40_000, "completion_tokens": 2_000, "calls": 9}
    ],
    "tts": [{"provider": "builtin", "model": "espeak-ng", "characters": 900}],
    "stt": [{"provider": "nobody", "model": "knows", "seconds": 61.5}],
}


async def store(
    root: Root, run: Run, usage: dict[str, Any], **values: Any
) -> tuple[int, list[repository.CostLineValues]]:
    async with root.db.transaction() as session:
        mine = await repository.by_id(session, run.organization_id, run.id)
        assert mine is not None
        mine.usage = usage
        for name, value in values.items():
            setattr(mine, name, value)
        cents = await costs.charge_run(session, mine)
        assert mine.cost_cents == cents
        return cents, await repository.cost_lines(session, run.organization_id, run.id)


async def test_every_counted_thing_has_its_line(root: Root, run: Run) -> None:
    cents, lines = await store(root, run, USAGE)
    by_unit = {(line["kind"], line["unit"]): line for line in lines}
    assert set(by_unit) == {("llm", "prompt_token"), ("llm", "completion_token"), ("tts", "character")}
    prompt = by_unit["llm", "prompt_token"]
    assert (prompt["quantity"], prompt["model"]) == (40_000, "gpt-4.1")
    total = sum(Decimal(str(line["quantity"])) * Decimal(str(line["unit_price_cents"])) for line in lines)
    assert cents == round(total) == 10


async def test_what_has_no_price_is_marked(root: Root, run: Run) -> None:
    await store(root, run, USAGE)
    async with root.db.transaction() as session:
        mine = await repository.by_id(session, run.organization_id, run.id)
    assert mine is not None
    assert mine.usage == USAGE | {
        "unpriced": [{"kind": "stt", "provider": "nobody", "model": "knows", "unit": "second", "quantity": 61.5}]
    }


async def test_the_carrier_has_its_line(root: Root, run: Run) -> None:
    cents, (line,) = await store(root, run, {}, duration=Decimal(30), direction="inbound", called_number="+14155550100")
    assert (line["kind"], line["provider"], line["model"], line["quantity"]) == ("carrier", "twilio", "inbound/US", 60)
    assert (cents, round(line["cost_cents"], 4)) == (1, 0.85)


async def test_the_platform_has_its_line(root: Root, run: Run) -> None:
    async with root.db.transaction() as session:
        await ledger.set_terms(
            session,
            run.organization_id,
            platform_cents_per_minute=Decimal(4),
            included_minutes=None,
            is_enforced=None,
        )
    cents, lines = await store(root, run, {}, duration=Decimal(90), mode="sandbox")
    platform = lines[-1]
    assert (platform["kind"], platform["quantity"], cents) == ("platform", 90, 6)


async def test_storing_it_again_changes_nothing(root: Root, run: Run) -> None:
    first = await store(root, run, USAGE)
    assert await store(root, run, USAGE) == first


async def test_no_use_costs_nothing(root: Root, run: Run) -> None:
    assert await store(root, run, {}) == (0, [])


async def test_the_price_is_that_of_the_day_of_the_call(root: Root, run: Run) -> None:
    usage = {"llm": [{"provider": "openai", "model": "gpt-5", "prompt_tokens": 1_000_000, "completion_tokens": 0}]}
    assert (await store(root, run, usage, answered_at=datetime(2025, 8, 6, 23, 59, tzinfo=UTC)))[1] == []
    cents, (line,) = await store(root, run, usage, answered_at=datetime(2025, 8, 7, tzinfo=UTC))
    assert (cents, line["price_date"]) == (125, "2025-08-07")
