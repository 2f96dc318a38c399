"""The offline agent understands what ordinary callers say, and never does what they did not want."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from offhook.models.providers.builtin.llm import BuiltinLlm
from tests.models.conversations import (
    BLIND_FOLDER,
    EVERYDAY_FOLDER,
    FIGURATIVE_FOLDER,
    HELD_OUT_FOLDER,
    INDIRECT_FOLDER,
    TEMPLATE_FOLDER,
    Conversation,
    hold_conversation,
    judge_conversation,
    load_conversations,
    offline_agent,
)
from tests.quick import first_quick

# Shares of the conversations that are understood, less a point.
UNDERSTOOD = {"appointment_booking": 0.968, "order_status": 0.921, "survey": 0.972}
# The same of those that were written blind.
UNDERSTOOD_BLIND = {
    "appointment_booking": 0.95,
    "order_status": 0.95,
    "survey": 0.95,
    "reception": 0.9,
    "payment_reminder": 0.9,
    "delivery_window": 0.9,
    "support_triage": 0.8,
}
# Of callers who speak in figures; each template but the demo agents has eight or nine of them.
UNDERSTOOD_FIGURATIVE = {
    "appointment_booking": 0.75,
    "order_status": 0.8,
    "survey": 0.8,
    "reception": 0.7,
    "payment_reminder": 0.65,
    "delivery_window": 0.7,
    "support_triage": 0.5,
    "after_hours": 0.4,
    "event_reminder": 0.5,
    "lead_qualification": 0.8,
    "no_show_recall": 0.6,
    "recruiting_screen": 0.6,
}
UNDERSTOOD_HELD_OUT = {"appointment_booking": 0.77, "order_status": 0.87, "survey": 0.89}
UNDERSTOOD_INDIRECT = {"appointment_booking": 0.74, "order_status": 0.82, "survey": 0.73}
# The twentieth to the twenty-seventh author: ordinary people, some brief, some chatty and some indirect.
UNDERSTOOD_EVERYDAY = {"appointment_booking": 0.9, "order_status": 0.91, "survey": 0.925}
# The nine templates that are no demo agents, by four authors, of whom the first one's callers use no commas, with the
# harms that are left: both have to become better.
UNDERSTOOD_TEMPLATES = {
    "after_hours": (0.78, 0),
    "delivery_window": (0.62, 2),
    "event_reminder": (0.58, 2),
    "lead_qualification": (0.76, 2),
    "no_show_recall": (0.69, 2),
    "payment_reminder": (0.63, 2),
    "reception": (0.60, 1),
    "recruiting_screen": (0.64, 3),
    "support_triage": (0.72, 3),
}
MAX_HARMFUL = 0
# What a sample of a few dozen may deviate by.
SAMPLE_TOLERANCE = 0.07
SAMPLE_STEP = 12


@pytest.fixture
async def llm(models_folder: Path) -> AsyncIterator[BuiltinLlm]:
    async with offline_agent(models_folder) as agent:
        yield agent


async def check(
    llm: BuiltinLlm, slug: str, conversations: list[Conversation], least: float, most_harmful: int = MAX_HARMFUL
) -> None:
    failed, harmful = [], 0
    for conversation in conversations:
        verdict = judge_conversation(conversation, await hold_conversation(slug, conversation.turns, llm))
        harmful += verdict.is_harmful
        if verdict.faults:
            failed.append(f"{conversation.id} {list(conversation.turns)}: {'; '.join(verdict.faults)}")
    understood = 1 - len(failed) / len(conversations)
    print(f"{slug}: {understood:.1%} of {len(conversations)} understood, {harmful} harmful", *failed, sep="\n")
    assert harmful <= most_harmful
    assert understood >= least


@pytest.mark.slow
@pytest.mark.parametrize("slug", UNDERSTOOD)
async def test_callers_are_understood(llm: BuiltinLlm, slug: str) -> None:
    await check(llm, slug, load_conversations(slug), UNDERSTOOD[slug])


@pytest.mark.slow
@pytest.mark.parametrize("slug", UNDERSTOOD_BLIND)
async def test_callers_who_were_written_blind_are_understood(llm: BuiltinLlm, slug: str) -> None:
    await check(llm, slug, load_conversations(slug, BLIND_FOLDER), UNDERSTOOD_BLIND[slug])


@pytest.mark.slow
@pytest.mark.parametrize("slug", UNDERSTOOD_FIGURATIVE)
async def test_callers_who_speak_in_figures_are_understood(llm: BuiltinLlm, slug: str) -> None:
    await check(llm, slug, load_conversations(slug, FIGURATIVE_FOLDER), UNDERSTOOD_FIGURATIVE[slug])


@pytest.mark.slow
@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("slug", UNDERSTOOD_HELD_OUT)
async def test_callers_who_were_held_out_are_understood(llm: BuiltinLlm, slug: str, half: int) -> None:
    await check(llm, slug, load_conversations(slug, HELD_OUT_FOLDER)[half::2], UNDERSTOOD_HELD_OUT[slug])


# 400 conversations each, beside two other workers.
@pytest.mark.timeout(600)
@pytest.mark.slow
@pytest.mark.parametrize("slug", UNDERSTOOD_EVERYDAY)
async def test_brief_and_chatty_callers_are_understood(llm: BuiltinLlm, slug: str) -> None:
    await check(llm, slug, load_conversations(slug, EVERYDAY_FOLDER), UNDERSTOOD_EVERYDAY[slug])


@pytest.mark.slow
@pytest.mark.parametrize("slug", UNDERSTOOD_TEMPLATES)
async def test_callers_of_all_templates_are_understood(llm: BuiltinLlm, slug: str) -> None:
    await check(llm, slug, load_conversations(slug, TEMPLATE_FOLDER), *UNDERSTOOD_TEMPLATES[slug])


@pytest.mark.slow
@pytest.mark.parametrize("slug", UNDERSTOOD_INDIRECT)
async def test_callers_who_are_indirect_are_understood(llm: BuiltinLlm, slug: str) -> None:
    await check(llm, slug, load_conversations(slug, INDIRECT_FOLDER), UNDERSTOOD_INDIRECT[slug])


@pytest.mark.parametrize("slug", first_quick(UNDERSTOOD))
@pytest.mark.slow
async def test_a_sample_of_callers_is_understood(llm: BuiltinLlm, slug: str) -> None:
    await check(llm, slug, load_conversations(slug)[::SAMPLE_STEP], UNDERSTOOD[slug] - SAMPLE_TOLERANCE)


async def test_an_answer_does_not_depend_on_what_others_have_said(models_folder: Path) -> None:
    conversations = load_conversations("survey", BLIND_FOLDER)[:6]
    async with offline_agent(models_folder) as agent:
        after_others = [await hold_conversation("survey", said.turns, agent) for said in conversations]
    async with offline_agent(models_folder) as agent:
        before_others = [await hold_conversation("survey", said.turns, agent) for said in reversed(conversations)]
    assert after_others == before_others[::-1]
