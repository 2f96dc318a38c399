"""Normal forms of text: Unicode's own for what people write, and quick for what is made to be slow."""

import time
import unicodedata
from itertools import cycle, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook.kit.redaction.redactor import Redactor
from offhook.kit.unicode_forms import MAX_MARKS_IN_A_ROW, Form, normalize_text
from offhook.models.providers.builtin.english.words import word_tokens
from offhook.runs.records.word_search import split_words

# Marks of several classes, which have to be sorted: the second of each pair belongs before the first.
PAIRS = ["\u0300\u0316", "\u0f73", "\u0344\u0316", "\uff9e\u0316", "\u0f81\u0f71"]
FORMS: list[Form] = ["NFC", "NFD", "NFKC", "NFKD"]


def endless_marks(pair: str, count: int = 150_000) -> str:
    return "x" + pair[0] * (count // 2) + pair[-1] * (count // 2) + "".join(islice(cycle(pair), count))


@pytest.mark.parametrize("pair", PAIRS, ids=ascii)
@pytest.mark.parametrize("form", FORMS)
def test_any_text_takes_linear_time(form: Form, pair: str) -> None:
    began = time.process_time()
    normalize_text(form, endless_marks(pair))
    assert time.process_time() - began < 2


def test_readers_of_strangers_words_take_linear_time() -> None:
    """Half a minute each, in the loop that carries calls, for words of a caller, a model, a tool, or of an agent's graph."""
    text = "My name is Anna " + endless_marks("\u0300\u0316")
    began = time.process_time()
    assert word_tokens(text)[-1] == "x"
    assert "anna" in split_words(text)
    Redactor({"name"}).redact_turn(text, is_caller=True)
    assert time.process_time() - began < 8


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x11FF), max_size=MAX_MARKS_IN_A_ROW))
def test_what_people_write_is_as_unicode_says(text: str) -> None:
    long = (text + "e") * 40
    for form in FORMS:
        assert normalize_text(form, long) == unicodedata.normalize(form, long)


def test_marks_above_the_most_are_left_out() -> None:
    most = "e" + "\u0316" * MAX_MARKS_IN_A_ROW
    assert normalize_text("NFD", (most + "\u0316") * 20) == most * 20
