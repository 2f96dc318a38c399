"""What the offline recognizer keeps of agents in the server's memory: authors choose how large each of it is."""

import random
import string

import pytest

from offhook.models.ports import Expectation
from offhook.models.providers.builtin.hearing import grammar, language_model
from offhook.models.providers.builtin.hearing.grammar import compile_grammar
from offhook.models.providers.builtin.hearing.language_model import CommonWords, build_language_model
from offhook.models.providers.builtin.hearing.recognizer_slot import RecognizerSlot
from offhook.models.providers.builtin.hearing.sized_cache import SizedCache
from offhook.models.speech_programs.synthesizer_process import SynthesizerProcess


def large_expectation(seed: int) -> Expectation:
    letters = random.Random(seed)

    def word() -> str:
        return "".join(letters.choices(string.ascii_lowercase, k=27))

    return Expectation(tuple(" ".join(word() for _ in range(14)) for _ in range(120)))


def test_what_was_not_used_for_longest_is_forgotten() -> None:
    cache = SizedCache[str, int](10)
    for number, key in enumerate("abc"):
        cache.keep(key, number, 4)
    assert [cache.find(key) for key in "abc"] == [None, 1, 2]
    cache.find("b")
    cache.keep("d", 3, 4)
    assert [cache.find(key) for key in "bcd"] == [1, None, 3]
    cache.keep("d", 4, 6)
    assert (cache.find("d"), cache.size) == (4, 10)
    cache.keep("huge", 5, 11)
    assert (cache.find("huge"), cache.size) == (None, 0)


def test_a_grammar_is_compiled_once() -> None:
    expectation = Expectation(("book a table", "cancel"), ("digits",))
    assert compile_grammar(expectation) is compile_grammar(Expectation(("book a table", "cancel"), ("digits",), ("x",)))


def test_grammars_are_kept_up_to_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = SizedCache[tuple[tuple[str, ...], tuple[str, ...]], grammar.SpeechGrammar](200_000)
    monkeypatch.setattr(grammar, "_kept", kept)
    for seed in range(5):
        assert len(compile_grammar(large_expectation(seed)).jsgf) > 40_000
    assert kept.size <= 200_000


async def test_prepared_grammars_are_kept_up_to_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand of them were some 100 MB in each process."""

    async def start() -> None:
        pass

    async def know_every_word(*_: object) -> list[str]:
        return []

    slot = RecognizerSlot(SynthesizerProcess())
    monkeypatch.setattr(slot.program, "start", start)
    monkeypatch.setattr(slot.program, "request_answer", know_every_word)
    monkeypatch.setattr(slot, "_prepared", SizedCache(800_000))
    for seed in range(20):
        await slot.prepare_grammar(compile_grammar(large_expectation(seed)))
    assert 400_000 < slot._prepared.size <= 800_000
    assert slot._prepared.find(compile_grammar(large_expectation(19)).name) is not None


def test_an_agent_of_endless_sentences_has_a_small_language_model() -> None:
    """Each sentence with a day or a number counts in up to twelve variants: models of 20 MB were kept by the hundred."""
    words = [f"{one}{two}{three}" for one in "bcdfg" for two in "aeiou" for three in "klmnp"]
    letters = random.Random(1)
    sentences = tuple(" ".join(["five", *letters.choices(words, k=29)]) for _ in range(1500))
    model = build_language_model(Expectation(sentences=sentences), CommonWords({"the": 1.0}), frozenset())
    assert len(model.arpa) < 5_000_000
    assert 10 * len(model.arpa) <= language_model.MAX_KEPT_CHARS
