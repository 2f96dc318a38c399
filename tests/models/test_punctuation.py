"""Commas that recognizers leave out: where an utterance without punctuation is understood as one with it."""

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from offhook.models.providers.builtin.hearing.punctuation import punctuate
from offhook.models.providers.builtin.llm import BuiltinLlm
from tests.models.conversations import (
    EVERYDAY_FOLDER,
    hold_conversation,
    judge_conversation,
    load_conversations,
    offline_agent,
)

# Of the everyday conversations without their punctuation, of which the rest are understood with it.
UNDERSTOOD_BARE = {"appointment_booking": 0.82, "order_status": 0.88, "survey": 0.88}
MAX_HARMFUL = {"appointment_booking": 3, "order_status": 1, "survey": 2}


@pytest.mark.parametrize(
    ("heard", "read"),
    [
        ("thursday no sorry tuesday I always mix them up", "thursday, no, sorry, tuesday, I always mix them up"),
        ("no I don't need more time I'll settle it tomorrow", "no, I don't need more time, I'll settle it tomorrow"),
        ("I'd like to book an appointment for next tuesday", "I'd like to book an appointment for next tuesday"),
        ("nine nine zero five", "nine nine zero five"),
        ("Yes. Send it to me now please", "Yes. Send it to me now please"),
        ("no it can wait", "no, it can wait"),
        ("no no it's fine, thanks", "no no, it's fine, thanks"),
        ("no thanks", "no thanks"),
        ("no other day works", "no other day works"),
        ("yes please", "yes please"),
        ("", ""),
    ],
)
def test_clauses_are_told_apart_where_nothing_else_does(heard: str, read: str) -> None:
    assert punctuate(heard) == read


@pytest.fixture
async def llm(models_folder: Path) -> AsyncIterator[BuiltinLlm]:
    async with offline_agent(models_folder) as agent:
        yield agent


@pytest.mark.slow
@pytest.mark.parametrize("slug", UNDERSTOOD_BARE)
async def test_callers_are_understood_without_punctuation(llm: BuiltinLlm, slug: str) -> None:
    failed, harmful = [], []
    conversations = load_conversations(slug, EVERYDAY_FOLDER)
    for conversation in conversations:
        bare = replace(conversation, turns=tuple(map(without_punctuation, conversation.turns)))
        verdict = judge_conversation(bare, await hold_conversation(slug, bare.turns, llm))
        failed += [f"{bare.id} {list(bare.turns)}: {'; '.join(verdict.faults)}"] if verdict.faults else []
        harmful += [bare.id] if verdict.is_harmful else []
    print(f"{slug}: {len(failed)} of {len(conversations)} not understood, harmful: {harmful}", *failed, sep="\n")
    assert len(harmful) <= MAX_HARMFUL[slug]
    assert 1 - len(failed) / len(conversations) >= UNDERSTOOD_BARE[slug]


def without_punctuation(text: str) -> str:
    words = re.sub(r"[^\w'\u2019:$-]+", " ", re.sub(r"(?<=\d)[.,](?=\d)", "", text))
    return " ".join(words.split()).lower() or text
