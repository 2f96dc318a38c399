"""Where a stream of model text is cut for the voice."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook.voice.output.sentence_splitter import MAX_LENGTH, SentenceSplitter


def cut(*deltas: str) -> list[str]:
    splitter = SentenceSplitter()
    return [piece for delta in deltas for piece in splitter.push(delta)] + splitter.flush()


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Hello. How are you?", ["Hello.", "How are you?"]),
        (
            "I can do that for you now, if you like. Shall I?",
            ["I can do that for you now, if you like.", "Shall I?"],
        ),
        ("Yes, sure.", ["Yes, sure."]),
        ("Dr. Smith is in. Come at 3.5 p.m. today.", ["Dr. Smith is in.", "Come at 3.5 p.m. today."]),
        ('He said "stop." Then he left.', ['He said "stop."', "Then he left."]),
        ("One\nTwo", ["One", "Two"]),
        ("   ", []),
    ],
)
def test_cuts(text: str, pieces: list[str]) -> None:
    assert cut(text) == pieces


def test_the_first_clause_is_ready_before_the_sentence_ends() -> None:
    splitter = SentenceSplitter()
    assert splitter.push("All right, I have noted that, and") == ["All right, I have noted that,"]


@given(st.lists(st.text(max_size=40)))
def test_loses_no_word_wherever_the_stream_is_cut(deltas: list[str]) -> None:
    assert "".join("".join(cut(*deltas)).split()) == "".join("".join(deltas).split())


def test_endless_text_is_cut_all_the_same() -> None:
    assert all(len(piece) <= MAX_LENGTH for piece in cut("word " * 500))


@pytest.mark.parametrize("text", ["Mr. " * 5000, "Mr.\u2003" * 5000, "a, " * 5000, "One. " * 20_000, "\n " * 20_000])
def test_a_text_is_cut_in_time_that_grows_with_its_length(text: str) -> None:
    started = time.process_time()
    assert len(cut(text)) < 21_000
    assert time.process_time() - started < 3
