"""Whatever is put together of callers' sentences, the offline agent does nothing against what was said."""

import re
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path
from typing import Final

import pytest

from offhook.models.providers.builtin.llm import BuiltinLlm
from tests.models import caller_variations as callers
from tests.models.caller_variations import Point
from tests.models.conversations import Outcome, hold_conversation, offline_agent
from tests.quick import first_quick

SEEDS: Final = (1, 2)
_CALLS_HELP: Final = re.compile(r"\b(?:emergency number|911)\b")


@pytest.fixture
async def llm(models_folder: Path) -> AsyncIterator[BuiltinLlm]:
    async with offline_agent(models_folder) as agent:
        yield agent


async def ends_after(llm: BuiltinLlm, slug: str, turns: Sequence[str], said: Iterable[str]) -> dict[str, Outcome]:
    """Returns what comes of each sentence after the same turns."""
    return {text: await hold_conversation(slug, (*turns, text), llm) for text in said}


def harmful(outcomes: dict[str, Outcome], point: Point) -> list[str]:
    return [f"{text} -> {outcome.node}" for text, outcome in outcomes.items() if outcome.node in point.never]


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("point", callers.POINTS_OF_CONSENT, ids=lambda point: point.slug)
async def test_a_yes_with_something_left_over_commits_to_nothing(llm: BuiltinLlm, point: Point, seed: int) -> None:
    assert harmful(await ends_after(llm, point.slug, point.turns, callers.reserved_answers(seed)), point) == []


@pytest.mark.parametrize(
    "point", first_quick(callers.POINTS_OF_LEAVING), ids=lambda point: f"{point.slug} {len(point.turns)}"
)
async def test_who_wants_to_stay_is_not_sent_away(llm: BuiltinLlm, point: Point) -> None:
    assert harmful(await ends_after(llm, point.slug, point.turns, callers.WISHES_TO_STAY), point) == []


@pytest.mark.parametrize(("slug", "turns"), first_quick(callers.POINTS_OF_DANGER))
async def test_danger_to_life_is_answered_first(llm: BuiltinLlm, slug: str, turns: Sequence[str]) -> None:
    before = await hold_conversation(slug, turns, llm)
    outcomes = await ends_after(llm, slug, turns, callers.DANGERS)
    assert [text for text, outcome in outcomes.items() if not _CALLS_HELP.search(outcome.last_reply)] == []
    assert {outcome.node for outcome in outcomes.values()} == {before.node}


@pytest.mark.slow
@pytest.mark.parametrize("day", callers.DAYS)
async def test_a_day_that_is_only_mentioned_is_not_kept(llm: BuiltinLlm, day: str) -> None:
    said = [mention.format(day) for mention in callers.DAY_MENTIONS]
    outcomes = await ends_after(llm, "appointment_booking", (callers.BOOK,), said)
    assert [text for text, outcome in outcomes.items() if outcome.values.get("day") == day] == []


@pytest.mark.slow
@pytest.mark.parametrize("hour", callers.HOURS)
async def test_an_hour_that_is_only_mentioned_is_not_taken(llm: BuiltinLlm, hour: str) -> None:
    said = [mention.format(hour) for mention in callers.HOUR_MENTIONS]
    outcomes = await ends_after(llm, "appointment_booking", (callers.BOOK, "Tuesday."), said)
    assert [text for text, outcome in outcomes.items() if outcome.node != "time" and hour in _time(outcome)] == []


async def test_a_part_of_a_number_is_asked_for_again(llm: BuiltinLlm) -> None:
    outcomes = await ends_after(llm, "reception", (*callers.CONSULT, "alex morgan"), callers.PARTIAL_NUMBERS)
    assert [text for text, outcome in outcomes.items() if outcome.node != "phone" or "phone" in outcome.values] == []


async def test_a_sentence_is_no_name(llm: BuiltinLlm) -> None:
    outcomes = await ends_after(llm, "reception", callers.CONSULT, callers.NO_NAMES)
    assert [text for text, outcome in outcomes.items() if "caller_name" in outcome.values] == []


async def test_nobody_else_hears_of_the_bill(llm: BuiltinLlm) -> None:
    outcomes = await ends_after(llm, "payment_reminder", (), callers.OTHER_PERSONS)
    assert [text for text, outcome in outcomes.items() if "reminder" in outcome.visited] == []


async def test_a_telephone_number_is_no_order_number(llm: BuiltinLlm) -> None:
    said = "I don't have the order number but my phone number is 201 555 0142"
    outcome = await hold_conversation("order_status", ("Where is my order?", said), llm)
    assert "order_number" not in outcome.values


def _time(outcome: Outcome) -> str:
    return str(outcome.values.get("time") or "")
