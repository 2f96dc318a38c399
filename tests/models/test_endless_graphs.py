"""Steps with more words than an author writes: the offline agent reads them in the loop that carries all calls."""

import time

import pytest

from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin.abilities import MAX_EDGE_CHARS
from offhook.models.providers.builtin.turns.rule_agent import fit_edges
from tests.models.test_builtin_llm import NO, SUPPORT, YES, answer, node

WORDS = "wa " * 250_000


@pytest.mark.parametrize(
    "edge",
    [
        EdgeHint("long", WORDS, ""),
        EdgeHint("long", "long", WORDS),
        EdgeHint("long", "long", "", (WORDS,)),
        EdgeHint("long", "long", "", tuple(WORDS.split())),
    ],
    ids=["label", "condition", "example", "examples"],
)
async def test_an_edge_of_endless_words_takes_no_time(edge: EdgeHint) -> None:
    await answer(node(YES, NO), "yes")  # loads the rules
    began = time.process_time()
    _, call = await answer(node(edge, SUPPORT), "my internet is down")
    assert time.process_time() - began < 2
    assert call is not None
    assert call.name == "support"


def test_edges_of_a_usual_length_stay() -> None:
    edges = (YES, NO, SUPPORT)
    assert fit_edges(edges) is edges


def test_short_edges_stay_beside_a_long_one() -> None:
    long = EdgeHint("long", "long", WORDS)
    assert fit_edges((YES, long, SUPPORT))[::2] == (YES, SUPPORT)
    usual = EdgeHint("usual", "usual", "The caller asks for it. " * 625, ("Please", "x" * 3000))
    assert fit_edges((usual, long))[0] == usual


def test_every_edge_keeps_its_beginning() -> None:
    many = tuple(
        EdgeHint(f"e{number}", f"way {number}", "The caller. " * 20, ("a", "b" * 500)) for number in range(100)
    )
    fitted = fit_edges(many)
    assert [edge.tool for edge in fitted] == [edge.tool for edge in many]
    assert fitted[7].label == "way 7"
    assert fitted[7].examples == ("a",)
    assert sum(len(edge.label + edge.condition) for edge in fitted) < MAX_EDGE_CHARS
