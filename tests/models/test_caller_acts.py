"""The classifier of what callers' words do, on sentences of an author whom it was not trained on, and in agents."""

from collections.abc import AsyncIterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pytest

from offhook.knowledge.offline.model import OfflineModel
from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin.acts.classifier import (
    WEIGHTS,
    ActClassifier,
    ActOdds,
    compared_texts,
    shipped_classifier,
)
from offhook.models.providers.builtin.acts.edge_acts import acts_of_edge, opts_out
from offhook.models.providers.builtin.llm import BuiltinLlm
from tests.models.conversations import (
    DECISIONS_FOLDER,
    hold_conversation,
    judge_conversation,
    load_conversations,
    offline_agent,
)

SENTENCES: Final = Path(__file__).parents[2] / "scripts" / "caller_acts"
HELD_OUT: Final = Path(__file__).parents[1] / "data" / "caller_acts.tsv"
# Measured 92.2 % of 760.
MIN_RIGHT: Final = 0.91
# Of what is taken for a yes at the odds at which a call acts on it: measured 95 %.
MIN_PRECISION: Final = 0.93
SURE: Final = 0.8
# At the last question before something final, less two points: what is meant is done, what is not is left.
DONE: Final = {
    "appointment_booking": 0.59,
    "order_status": 0.757,
    "survey": 0.83,
    "payment_reminder": 0.59,
    "no_show_recall": 0.67,
    "delivery_window": 0.59,
}
MAX_HARMFUL: Final = {
    "appointment_booking": 2,
    "order_status": 0,
    "survey": 0,
    "payment_reminder": 1,
    "no_show_recall": 3,
    "delivery_window": 0,
}


class Sentence(NamedTuple):
    act: str
    asked: str
    said: str


@pytest.fixture
async def model(models_folder: Path) -> OfflineModel:
    model = OfflineModel(models_folder)
    await model.load()
    return model


@pytest.fixture
async def llm(models_folder: Path) -> AsyncIterator[BuiltinLlm]:
    async with offline_agent(models_folder) as agent:
        yield agent


def held_out() -> list[Sentence]:
    return [Sentence(*line.split("\t")) for line in HELD_OUT.read_text().splitlines()]


def odds_of(model: OfflineModel, said: str, asked: str = "") -> ActOdds:
    vectors = [model.embed_here(text)[0] for text in compared_texts(asked, said)]
    return shipped_classifier().odds(said, vectors)


async def test_an_unknown_author_is_understood(model: OfflineModel) -> None:
    sentences = held_out()
    found = [odds_of(model, sentence.said, sentence.asked) for sentence in sentences]
    right = sum(odds.likeliest == sentence.act for odds, sentence in zip(found, sentences, strict=True))
    assert right / len(sentences) >= MIN_RIGHT
    taken = [one.act for one, odds in zip(sentences, found, strict=True) if odds.of("yes") >= SURE]
    assert taken.count("yes") / len(taken) >= MIN_PRECISION
    assert len(taken) > 60


def test_the_weights_are_those_of_the_sentences() -> None:
    sentences = b"".join(file.read_bytes() for file in sorted(SENTENCES.glob("*.tsv")))
    with np.load(WEIGHTS) as stored:
        assert str(stored["trained_on"]) == sha256(sentences).hexdigest(), "run scripts/caller_acts/train.py"


@pytest.mark.parametrize(
    ("asked", "said", "act"),
    [
        ("Shall I book it?", "can't say I'm looking forward to it but yeah put me in the book", "yes"),
        ("Shall I book it?", "yes, but only if it's with Doctor Patel", "yes_but"),
        ("Would you recommend us?", "yes I'm still here, I'm thinking", "wait"),
        ("May I ask you three questions?", "can't right now, I'm at the register", "later"),
        ("Is there anything else?", "that's all I wanted to know, thanks a bunch", "leave"),
        ("Which day suits you best?", "just have somebody call me", "person"),
    ],
)
async def test_what_words_do_depends_on_what_was_asked(model: OfflineModel, asked: str, said: str, act: str) -> None:
    assert odds_of(model, said, asked).likeliest == act


async def test_odds_are_probabilities(model: OfflineModel) -> None:
    odds = odds_of(model, "yes please", "Shall I book it?")
    assert sum(odds.by_act.values()) == pytest.approx(1.0)
    assert odds.of("yes", "no") == pytest.approx(odds.of("yes") + odds.of("no"))


def test_words_that_were_never_seen_are_told_by_their_vector_alone() -> None:
    classifier = ActClassifier()
    nothing = np.zeros(384, dtype=np.float32)
    assert classifier.odds("xyzzy", [nothing] * 3).likeliest is not None


@pytest.mark.parametrize(
    ("examples", "acts"),
    [
        (("yes", "yes please", "sure", "book it please"), {"yes"}),
        (("no", "no thank you", "nope", "not really", "no thanks"), {"no"}),
        (("call me later", "i'm driving", "i'm busy", "another time please"), {"later"}),
        (("stop calling me", "take me off your list"), set()),
        (("the room", "the bed", "it was the room"), set()),
        ((), set()),
    ],
)
async def test_an_edge_takes_the_acts_of_its_examples(
    model: OfflineModel, examples: Sequence[str], acts: set[str]
) -> None:
    edge = EdgeHint("edge", "", "", tuple(examples), is_final=True)
    assert acts_of_edge(edge, lambda said: odds_of(model, said)) == acts
    assert opts_out(edge) == ("stop calling me" in examples)


@pytest.mark.slow
@pytest.mark.parametrize("slug", DONE)
async def test_what_is_final_is_done_when_it_is_meant(llm: BuiltinLlm, slug: str) -> None:
    meant, done, harmful = 0, 0, []
    for said in load_conversations(slug, DECISIONS_FOLDER):
        verdict = judge_conversation(said, await hold_conversation(slug, said.turns, llm))
        meant += said.kind == "meant"
        done += said.kind == "meant" and not verdict.faults
        harmful += [said.turns[-1]] if verdict.is_harmful else []
    assert done / meant >= DONE[slug]
    assert len(harmful) <= MAX_HARMFUL[slug], harmful
