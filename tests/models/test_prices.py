"""Costs by hand: the table's prices against sums anybody can check."""

from datetime import date
from decimal import Decimal

from offhook.models.ports import LlmUsage, ModelRef
from offhook.models.prices import CostLine, cost_lines, price_of, price_table
from offhook.voice.usage import UsageCounter

DAY = date(2026, 11, 21)


def used(provider: str, model: str, prompt: int, completion: int) -> dict[str, object]:
    counter = UsageCounter()
    counter.llm(ModelRef("llm", provider, model), LlmUsage(prompt, completion))
    return counter.as_dict()


def test_tokens_cost_by_the_million() -> None:
    lines = cost_lines(used("openai", "gpt-4.1", 500_000, 250_000), DAY)
    assert [(line.unit, line.quantity, line.cost_cents) for line in lines] == [
        ("prompt_token", Decimal(500_000), Decimal(100)),
        ("completion_token", Decimal(250_000), Decimal(200)),
    ]


def test_a_line_says_where_its_price_comes_from() -> None:
    (line,) = cost_lines(used("openai", "gpt-4.1-mini", 1000, 0), DAY)
    assert line == CostLine(
        "llm", "openai", "gpt-4.1-mini", "prompt_token", Decimal(1000), Decimal("0.00004"), date(2025, 4, 14)
    )


def test_what_runs_here_costs_nothing_and_is_still_shown() -> None:
    counter = UsageCounter()
    counter.tts(ModelRef("tts", "builtin", "espeak-ng"), "Hello there.")
    counter.stt(ModelRef("stt", "builtin", "pocketsphinx"), 12.5)
    lines = cost_lines(counter.as_dict(), DAY)
    assert [(line.kind, line.unit, line.quantity, line.cost_cents) for line in lines] == [
        ("tts", "character", Decimal(12), Decimal(0)),
        ("stt", "second", Decimal("12.5"), Decimal(0)),
    ]


def test_a_dated_snapshot_costs_what_its_model_costs() -> None:
    (line,) = cost_lines(used("openai", "gpt-4o-2024-08-06", 1_000_000, 0), DAY)
    assert (line.model, line.cost_cents) == ("gpt-4o-2024-08-06", Decimal(250))


def test_a_model_without_a_known_price_has_no_line() -> None:
    assert cost_lines(used("openai", "my-own-server", 1000, 1000), DAY) == []


def test_a_price_holds_from_its_day_on() -> None:
    ref = ModelRef("llm", "openai", "gpt-5")
    assert price_of(ref, date(2025, 8, 6)) is None
    assert price_of(ref, date(2025, 8, 7)) is not None


def test_unit_prices_fit_the_column_that_keeps_them() -> None:
    """``run_cost_lines.unit_price_cents`` has eight decimals: rounding there would change sums."""
    for price in price_table():
        for line in cost_lines(used(price.ref.provider, price.ref.model, 1, 1), DAY):
            assert line.unit_price_cents == round(line.unit_price_cents, 8)


def test_nothing_used_costs_nothing() -> None:
    assert cost_lines({"llm": [], "tts": [], "stt": []}, DAY) == []
    assert cost_lines({}, DAY) == []
