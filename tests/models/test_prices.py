"""Costs by hand: the table's prices against sums anybody can check."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from offhook.models.ports import LlmUsage, ModelError, ModelRef
from offhook.models.prices import Price, PricedUsage, PriceList, UnpricedUsage, price_table
from offhook.models.providers.openai_compatible.llm import _StreamedAnswer
from offhook.models.providers.openai_compatible.wire import ToolCallParts
from offhook.models.speech.speech_usage import SpeechUsage
from offhook.voice.usage_counter import UsageCounter, UsageEntry

DAY = date(2026, 11, 21)
TABLE = PriceList()
REALTIME = ModelRef("realtime", "openai_realtime", "gpt-realtime-1.5")
TIMED = ModelRef("realtime", "xai_voice", "grok-voice-think-fast-2.0")


def used(provider: str, model: str, prompt: int, completion: int, cached: int = 0) -> dict[str, list[UsageEntry]]:
    counter = UsageCounter()
    counter.add_llm_usage(ModelRef("llm", provider, model), LlmUsage(prompt, completion, cached))
    return counter.as_dict()


def lines(usage: Mapping[str, list[UsageEntry]], prices: PriceList = TABLE) -> list[PricedUsage]:
    found = prices.price_usage(usage, DAY)
    priced = [line for line in found if isinstance(line, PricedUsage)]
    assert len(priced) == len(found)
    return priced


def own(**values: Any) -> Price:
    known: dict[str, Any] = {"since": date(2026, 1, 1), "kind": "llm", "provider": "openai", "model": "*"}
    return Price(**(known | values))


def test_tokens_cost_by_the_million() -> None:
    found = lines(used("openai", "gpt-4.1", 500_000, 250_000))
    assert [(line.unit, line.quantity, line.cost_cents) for line in found] == [
        ("prompt_token", Decimal(500_000), Decimal(100)),
        ("completion_token", Decimal(250_000), Decimal(200)),
    ]


def test_a_line_says_where_its_price_comes_from() -> None:
    (line,) = lines(used("openai", "gpt-4.1-mini", 1000, 0))
    assert line == PricedUsage(
        "llm", "openai", "gpt-4.1-mini", "prompt_token", Decimal(1000), Decimal("0.00004"), date(2025, 4, 14)
    )


def test_what_runs_here_costs_nothing_and_is_still_shown() -> None:
    counter = UsageCounter()
    counter.add_units(ModelRef("tts", "builtin", "espeak-ng"), "characters", len("Hello there."))
    counter.add_units(ModelRef("stt", "builtin", "pocketsphinx"), "seconds", 12.5)
    assert [(line.kind, line.unit, line.quantity, line.cost_cents) for line in lines(counter.as_dict())] == [
        ("tts", "character", Decimal(12), Decimal(0)),
        ("stt", "second", Decimal("12.5"), Decimal(0)),
    ]


def test_a_dated_snapshot_costs_what_its_model_costs() -> None:
    (line,) = lines(used("openai", "gpt-4o-2024-08-06", 1_000_000, 0))
    assert (line.model, line.cost_cents) == ("gpt-4o-2024-08-06", Decimal(250))
    (line,) = lines(used("anthropic", "claude-haiku-4-5-20251001", 1_000_000, 0))
    assert line.cost_cents == Decimal(100)


def test_a_model_without_a_known_price_is_unpriced_and_not_free() -> None:
    assert TABLE.price_usage(used("openai", "my-own-server", 1000, 10), DAY) == [
        UnpricedUsage("llm", "openai", "my-own-server", "prompt_token", 1000.0),
        UnpricedUsage("llm", "openai", "my-own-server", "completion_token", 10.0),
    ]


def test_speech_costs_by_modality() -> None:
    counter = UsageCounter()
    spoken = SpeechUsage(
        text_input_tokens=1000,
        text_cached_tokens=10_000,
        text_output_tokens=500,
        audio_input_tokens=2000,
        audio_cached_tokens=4000,
        audio_output_tokens=3000,
    )
    counter.add_speech_usage(REALTIME, spoken)
    assert [(line.unit, line.quantity, line.cost_cents) for line in lines(counter.as_dict())] == [
        ("text_input", Decimal(1000), Decimal("0.4")),
        ("text_cached", Decimal(10_000), Decimal("0.4")),
        ("text_output", Decimal(500), Decimal("0.8")),
        ("audio_input", Decimal(2000), Decimal("6.4")),
        ("audio_cached", Decimal(4000), Decimal("0.16")),
        ("audio_output", Decimal(3000), Decimal("19.2")),
    ]


def test_speech_of_a_vendor_that_charges_for_time() -> None:
    counter = UsageCounter()
    counter.add_speech_usage(TIMED, SpeechUsage(seconds=80.0, messages=3))
    # what was said and never answered
    counter.add_speech_usage(TIMED, SpeechUsage(seconds=10.0, responses=0))
    usage = counter.as_dict()
    assert usage["realtime"] == [
        {"provider": "xai_voice", "model": "grok-voice-think-fast-2.0", "calls": 1, "seconds": 90.0, "messages": 3}
    ]
    assert [(line.unit, line.quantity, round(line.cost_cents, 4)) for line in lines(usage)] == [
        ("second", Decimal(90), Decimal(12)),
        ("text_message", Decimal(3), Decimal("1.2")),
    ]


def test_time_has_no_price_by_tokens() -> None:
    counter = UsageCounter()
    counter.add_speech_usage(REALTIME, SpeechUsage(seconds=80.0))
    (line,) = TABLE.price_usage(counter.as_dict(), DAY)
    assert isinstance(line, UnpricedUsage)


def test_a_response_without_a_report_is_unpriced_and_not_free() -> None:
    counter = UsageCounter()
    counter.add_speech_usage(REALTIME, None)
    assert TABLE.price_usage(counter.as_dict(), DAY) == [
        UnpricedUsage("realtime", "openai_realtime", "gpt-realtime-1.5", "response", 1.0)
    ]


def test_a_price_holds_from_its_day_on() -> None:
    assert TABLE.price_of("llm", "openai", "gpt-5", date(2025, 8, 6)) is None
    assert TABLE.price_of("llm", "openai", "gpt-5", date(2025, 8, 7)) is not None


def test_own_prices_go_first_from_their_day_on() -> None:
    cheap = own(dollars={"prompt_million": Decimal(1), "completion_million": Decimal(1)})
    free = own(model="gpt-4.1", since=date(2026, 6, 1), dollars=dict.fromkeys(cheap.dollars, Decimal(0)))
    prices = PriceList([cheap, free])
    assert lines(used("openai", "gpt-4o", 1_000_000, 0), prices)[0].cost_cents == 100
    assert lines(used("openai", "gpt-4.1", 1_000_000, 0), prices)[0].cost_cents == 0
    assert prices.price_of("llm", "openai", "gpt-4.1", date(2026, 5, 31)) is cheap
    before = prices.price_of("llm", "openai", "gpt-4.1", date(2025, 12, 31))
    assert before is not None
    assert before.dollars["prompt_million"] == 2


def test_a_call_is_charged_by_begun_steps() -> None:
    (line,) = TABLE.price_call("twilio", "inbound", "US", Decimal("61.2"), DAY)
    assert isinstance(line, PricedUsage)
    assert (line.quantity, round(line.cost_cents, 4)) == (Decimal(120), Decimal("1.7"))


def test_a_country_without_a_price_is_unpriced_unless_the_direction_has_one() -> None:
    assert TABLE.price_call("twilio", "outbound", "IN", Decimal(5), DAY) == [
        UnpricedUsage("carrier", "twilio", "outbound/IN", "second", 5.0)
    ]
    any_country = own(kind="carrier", provider="twilio", model="outbound", dollars={"minute": Decimal("0.6")})
    (line,) = PriceList([any_country]).price_call("twilio", "outbound", "IN", Decimal(5), DAY)
    assert isinstance(line, PricedUsage)
    assert line.cost_cents == Decimal(5)


def test_a_call_that_nobody_answered_costs_nothing() -> None:
    assert TABLE.price_call("twilio", "outbound", None, Decimal(0), DAY) == []


def test_prices_fit_the_column_that_keeps_them_and_say_where_they_are_from() -> None:
    """``run_cost_lines.unit_price_cents`` has eight decimals."""
    for price in price_table():
        assert price.source, price
        assert price.seen or price.provider in {"builtin", "sandbox", "voice_pack"}, price
        assert len(price.provider) <= 32
        assert len(price.model) <= 64
        for amount in price.dollars.values():
            assert 0 <= amount < 1000


def test_no_model_has_two_prices_from_one_day_on() -> None:
    days = [(price.kind, price.provider, price.model, price.since) for price in price_table()]
    assert len(days) == len(set(days))


def test_nothing_used_costs_nothing() -> None:
    assert TABLE.price_usage({"llm": [], "tts": [], "stt": []}, DAY) == []
    assert TABLE.price_usage({}, DAY) == []


@pytest.mark.parametrize("said", [-(10**9), -1])
def test_a_server_that_takes_tokens_back_makes_nothing_cheaper(said: int) -> None:
    """A server that an organization chose has the name of the vendor whose key the operator pays for."""
    counter = UsageCounter()
    gpt = ModelRef("llm", "openai", "gpt-4.1")
    counter.add_llm_usage(gpt, LlmUsage(1_000_000, 1000, 500))
    counter.add_llm_usage(gpt, LlmUsage(said, said, said))
    assert counter.as_dict() == used("openai", "gpt-4.1", 1_000_000, 1000, cached=500)
    speech = UsageCounter()
    speech.add_speech_usage(REALTIME, SpeechUsage(text_input_tokens=1000))
    speech.add_speech_usage(REALTIME, SpeechUsage(text_input_tokens=said, responses=0))
    assert [(line.unit, line.quantity) for line in lines(speech.as_dict())] == [("text_input", Decimal(1000))]


@pytest.mark.parametrize("said", [10**12, 10**40])
def test_made_up_amounts_stay_amounts_that_can_be_stored(said: int) -> None:
    counter = UsageCounter()
    for _ in range(3):
        counter.add_llm_usage(ModelRef("llm", "openai", "gpt-4.1"), LlmUsage(said, said))
    assert all(line.quantity < Decimal(10) ** 10 for line in lines(counter.as_dict()))
    stored: dict[str, Any] = {"llm": [{"provider": "openai", "model": "gpt-4.1", "prompt_tokens": said}]}
    assert all(line.quantity < Decimal(10) ** 10 for line in lines(stored))


def test_tokens_without_end() -> None:
    """``1e999`` is read as infinity."""
    chunk = SimpleNamespace(usage=SimpleNamespace(prompt_tokens=float("inf"), completion_tokens=1), choices=[])
    with pytest.raises(ModelError) as caught:
        _StreamedAnswer(ToolCallParts()).read_chunk(chunk)
    assert caught.value.code == "llm_malformed"
