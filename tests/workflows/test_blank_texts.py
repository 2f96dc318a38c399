"""A text that shows nothing is no text, whatever it is made of."""

import pytest

from offhook.kit.json_values import is_blank
from tests.workflows.definitions import definition, global_node, node, start
from tests.workflows.test_validation import chain, errors, with_edge

BLANK = ("", " \n\t", "\u00a0", "\u2028", "\u200b", "\ufeff \u2060", "\u00ad\u200d", "\u3164", "\u2800", "\0")


@pytest.mark.parametrize("text", BLANK, ids=ascii)
def test_a_blank_prompt_is_none(text: str) -> None:
    assert errors(chain(prompt=text)) == [("node", "a", "data.prompt", "prompt_required")]
    assert errors(definition(start(), global_node(text))) == [("node", "g", "data.prompt", "prompt_required")]


@pytest.mark.parametrize("text", BLANK, ids=ascii)
def test_a_blank_sentence_does_not_stand_for_a_prompt(text: str) -> None:
    assert errors(chain(prompt=" ", say=text)) == [("node", "a", "data.prompt", "prompt_required")]


def test_a_sentence_that_is_never_spoken_does_not_stand_for_a_prompt() -> None:
    raw = definition(start(), node("g", "globalNode", prompt=" ", say="Hello"))
    assert errors(raw) == [("node", "g", "data.prompt", "prompt_required")]


@pytest.mark.parametrize("text", BLANK, ids=ascii)
def test_a_blank_name_is_none(text: str) -> None:
    assert errors(chain(name=text)) == [("node", "a", "data.name", "field_required")]


@pytest.mark.parametrize("text", BLANK, ids=ascii)
def test_a_key_needs_no_condition(text: str) -> None:
    assert errors(with_edge(digits="1", condition=text)) == []
    assert ("edge", "s-e", "data.condition", "field_required") in errors(with_edge(condition=text))


@pytest.mark.parametrize("text", ["a", "是", "👩\u200d⚕️", "{{ x }}", "."])
def test_what_shows_is_not_blank(text: str) -> None:
    assert not is_blank(text)
