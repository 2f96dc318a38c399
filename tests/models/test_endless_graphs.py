"""Steps with more words than an author writes: the offline agent reads them in the loop that carries all calls."""

import time
from typing import Any

import pytest

from offhook.models.ports import EdgeHint, LlmMessage, LlmRequest, ToolHint
from offhook.models.providers.builtin.abilities import MAX_EDGE_CHARS
from offhook.models.providers.builtin.turns.fitted_hint import fit_edges, fit_hint
from tests.models.test_builtin_llm import BALANCE, NO, ORDER, SALES, SUPPORT, YES, answer, node, run

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


def words_in_sentences() -> str:
    return " ".join(f"Word{number} is one of many." for number in range(35_000))


@pytest.mark.parametrize(
    "given",
    [
        {"persona": WORDS},
        {"persona": words_in_sentences()},
        {"persona": "You are A " * 100_000},
        {"persona": "If the caller, a, " * 55_000},
        {"persona": "If the caller is ill say that we close. " * 25_000},
        {"prompt": WORDS},
        {"prompt": words_in_sentences()},
        {"prompt": "\u201cwa" * 250_000},
        {"tools": (ToolHint("endless", WORDS, tuple(WORDS.split())),)},
        {"tools": tuple(ToolHint(f"t{number}", "wa", ("wa wa",) * 50) for number in range(5000))},
        {"tools": (ToolHint("endless", "wa", (), {"properties": {f"p{n}": {"description": "wa " * 9} for n in range(30_000)}}),)},
        {"variables": tuple({"name": f"v{number}", "type": "string", "prompt": "wa " * 9} for number in range(30_000))},
        {"known_variables": tuple({"name": f"v{n}", "type": "string", "prompt": "wa " * 9} for n in range(30_000))},
        {"say_text": words_in_sentences() + " What can I do for you?"},
    ],
    ids=[
        "persona", "sentences", "names", "situations", "rules", "prompt", "sentences of the prompt", "quotes",
        "tool", "tools", "parameters", "variables", "known variables", "spoken",
    ],
)  # fmt: skip
async def test_a_step_of_endless_words_takes_no_time(given: dict[str, Any]) -> None:
    await answer(node(YES, NO), "yes")  # loads the rules
    hint = node(SALES, SUPPORT, **given)
    began = time.process_time()
    _, call = await answer(hint, "my internet is down")
    assert time.process_time() - began < 2
    assert call is not None
    assert call.name == "support"


async def test_values_of_endless_descriptions_take_no_time() -> None:
    await answer(node(YES, NO), "yes")
    variables = tuple({"name": f"v{number}", "type": "string", "prompt": WORDS[:30_000]} for number in range(30))
    schema = {"properties": {str(one["name"]): {"type": "string", "description": one["prompt"]} for one in variables}}
    asked = LlmRequest(
        [LlmMessage("user", "Agent: What is your name?\nCaller: Ann Miller")],
        hint=node(YES, NO, variables=variables),
        response_schema=schema,
    )
    began = time.process_time()
    assert await run(asked)
    assert time.process_time() - began < 2


def test_a_step_of_a_usual_length_stays() -> None:
    usual = node(
        YES,
        NO,
        tools=(ORDER, BALANCE),
        persona="You are Ann from Acme. " * 400,
        prompt="Ask for the order. " * 400,
        variables=({"name": "order", "type": "string", "prompt": "The number. " * 50},) * 20,
    )
    assert fit_hint(usual) == usual


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
