"""The offline recognizer: its grammars (pure), and the real program with the offline voice as the caller."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
import soxr
from hypothesis import given
from hypothesis import strategies as st

from offhook.kit.audio import MULAW_8K
from offhook.models.ports import Expectation, ModelError, SttEvent
from offhook.models.providers.builtin.hearing.grammar import compile_grammar, ipa_to_arpabet, jsgf_without, words_of
from offhook.models.providers.builtin.hearing.hypotheses import judge_result
from offhook.models.providers.builtin.stt import BuiltinStt, BuiltinSttStream
from offhook.models.providers.builtin.tts import BuiltinTts
from offhook.models.speech_programs.synthesizer_process import SynthesizerProcess

MENU = Expectation(
    ("I would like to book an appointment", "I want to change my appointment", "What are your opening hours?"),
    ("yes_no",),
)


class TestGrammar:
    @pytest.mark.parametrize(
        ("phrase", "words"),
        [
            ("Where is my order?", "where is my order"),
            ("Room 12, please", "room one two please"),
            ("I don\u2019t know {{ name }}", "i don't know"),
            ("да", ""),
        ],
    )
    def test_phrases_become_words(self, phrase: str, words: str) -> None:
        assert " ".join(words_of(phrase)) == words

    def test_the_same_expectation_is_the_same_grammar(self) -> None:
        assert compile_grammar(MENU) == compile_grammar(Expectation(MENU.phrases, MENU.kinds))

    def test_vocabularies_are_there_only_where_they_are_asked_for(self) -> None:
        assert "wednesday" not in compile_grammar(MENU).jsgf
        assert "wednesday" in compile_grammar(Expectation((), ("days",))).jsgf

    def test_phrases_with_unpronounceable_words_are_left_out(self) -> None:
        grammar = compile_grammar(Expectation(("call zzyzx now", "goodbye now")))
        assert "zzyzx" not in jsgf_without(grammar, frozenset({"zzyzx"}))
        assert "goodbye now" in jsgf_without(grammar, frozenset({"zzyzx"}))

    @given(st.lists(st.text(max_size=60), max_size=8), st.lists(st.sampled_from(["digits", "days", "x"]), max_size=3))
    def test_whatever_is_written_on_an_edge_gives_a_grammar(self, phrases: list[str], kinds: list[str]) -> None:
        grammar = compile_grammar(Expectation(tuple(phrases), tuple(kinds)))
        assert grammar.jsgf.startswith("#JSGF V1.0;\n")
        assert all(word.replace("'", "").isalpha() for word in grammar.words)

    @pytest.mark.parametrize(("ipa", "phones"), [("həlˈoʊ", "HH AH L OW"), ("ˈɔfhʊk", "AO F HH UH K"), ("", "")])
    def test_how_a_word_sounds(self, ipa: str, phones: str) -> None:
        assert ipa_to_arpabet(ipa) == phones


class TestWholeSentences:
    grammar = compile_grammar(
        Expectation(("book an appointment", "no thank you", "talk to a person"), ("days", "digits"))
    )

    @pytest.mark.parametrize(
        ("found", "said"),
        [
            ("book an appointment", "book an appointment"),
            ("book an appointment please", "book an appointment please"),
            ("next friday morning", "next friday morning"),
            ("four two seven one", "four two seven one"),
            ("no thank", "no thank you"),
            ("talk to a", "talk to a person"),
            ("next friday at", "next friday"),
            ("tuesday thank", "tuesday thank you"),
            ("book", None),
            ("at", None),
            ("purple elephants", None),
            ("", None),
        ],
    )
    def test_a_sentence_is_whole_completed_cut_or_nothing(self, found: str, said: str | None) -> None:
        assert self.grammar.complete_sentence(found) == said

    @given(
        st.lists(st.text("abcd '", min_size=1, max_size=20), min_size=1, max_size=6),
        st.lists(st.sampled_from(["digits", "days", "times", "numbers"]), max_size=4, unique=True),
    )
    def test_every_phrase_is_a_whole_sentence(self, phrases: list[str], kinds: list[str]) -> None:
        grammar = compile_grammar(Expectation(tuple(phrases), tuple(kinds)))
        assert all(grammar.complete_sentence(phrase) == phrase for phrase in grammar.phrases)

    def test_words_that_mean_the_same_are_one(self) -> None:
        grammar = compile_grammar(Expectation(("yeah sure", "nope", "yep")))
        assert {"yes sure", "no", "yes"} <= set(grammar.phrases)

    @pytest.mark.parametrize(
        ("margin", "speech_margin", "covered", "text"),
        [
            (-5.0, -8.0, 1.0, "yes"),
            (-40.0, -45.0, 1.0, ""),
            (-12.0, -90.0, 1.0, ""),
            (-5.0, -8.0, 0.4, ""),
            (None, None, 0.0, ""),
        ],
    )
    def test_what_is_far_behind_free_phones_was_something_else(
        self, margin: float | None, speech_margin: float | None, covered: float, text: str
    ) -> None:
        found = {"text": "yes", "margin": margin, "speech_margin": speech_margin, "covered": covered}
        event = judge_result(found, self.grammar)
        assert (event.kind, event.text, event.is_endpoint) == ("final", text, False)
        assert event.confidence is not None
        assert (event.confidence > 0.5) == bool(text)


@pytest.fixture
async def stt() -> AsyncIterator[BuiltinStt]:
    speech = SynthesizerProcess()
    recognizer = BuiltinStt(speech)
    yield recognizer
    await recognizer.close()
    await speech.close()


async def heard(stt: BuiltinStt, stream: BuiltinSttStream, sentence: str, *, rate: int = 8000) -> SttEvent:
    """Say a sentence into a stream in 20 ms frames, as a call does, and wait for its final."""
    speech = SynthesizerProcess()
    voice = BuiltinTts(speech, voice="en-us+klatt3")
    samples = await voice.synthesize(sentence, sample_rate=rate)
    await speech.close()
    if rate == 8000:
        samples = MULAW_8K.decode(MULAW_8K.encode(samples))
    step = rate // 50
    for _ in range(20):
        stream.push_audio(bytes(step * 2))
    stream.speech_started()
    for at in range(0, samples.size, step):
        stream.push_audio(np.ascontiguousarray(samples[at : at + step]).tobytes())
    for _ in range(15):
        stream.push_audio(bytes(step * 2))
    stream.speech_ended()
    async with asyncio.timeout(60):
        return await final_event(stream)


async def final_event(stream: BuiltinSttStream) -> SttEvent:
    return await anext(event async for event in stream.events() if event.kind == "final")


@pytest.mark.real_time
class TestTheProgram:
    @pytest.mark.parametrize("rate", [8000, pytest.param(16000, marks=pytest.mark.slow)])
    async def test_understands_what_the_node_expects(self, stt: BuiltinStt, rate: int) -> None:
        stream = await stt.open_stream(sample_rate=rate, language="en-US")
        stream.set_expectation(MENU)
        event = await heard(stt, stream, "I would like to book an appointment", rate=rate)
        assert event.text == "i would like to book an appointment"
        assert event.kind == "final"
        await stream.close()

    @pytest.mark.slow
    async def test_other_speech_is_none_of_it(self, stt: BuiltinStt) -> None:
        stream = await stt.open_stream(sample_rate=8000, language="en-US")
        stream.set_expectation(MENU)
        event = await heard(stt, stream, "seventeen purple elephants danced around the broken windmill")
        assert event.text not in {" ".join(words_of(phrase)) for phrase in MENU.phrases}
        await stream.close()

    @pytest.mark.slow
    async def test_a_word_that_is_in_no_dictionary_is_learned(self, stt: BuiltinStt) -> None:
        stream = await stt.open_stream(sample_rate=8000, language="en-US")
        stream.set_expectation(Expectation(("I am calling about Offhook", "something else entirely")))
        assert (await heard(stt, stream, "I am calling about Offhook")).text == "i am calling about offhook"
        await stream.close()

    async def test_the_next_node_has_another_grammar(self, stt: BuiltinStt) -> None:
        stream = await stt.open_stream(sample_rate=8000, language="en-US")
        stream.set_expectation(Expectation((), ("days",)))
        assert "tuesday" in (await heard(stt, stream, "Tuesday morning")).text
        stream.set_expectation(MENU)
        assert (await heard(stt, stream, "What are your opening hours")).text == "what are your opening hours"
        await stream.close()

    async def test_a_program_that_dies_is_an_error_that_may_be_tried_again(self, stt: BuiltinStt) -> None:
        stream = await stt.open_stream(sample_rate=8000, language="en-US")
        (pid,) = stt.pids
        os.kill(pid, signal.SIGSTOP)
        stream.set_expectation(MENU)

        async def die() -> None:
            await asyncio.sleep(0.5)
            os.kill(pid, signal.SIGKILL)

        dying = asyncio.create_task(die())
        with pytest.raises(ModelError) as error:
            await heard(stt, stream, "What are your opening hours")
        await dying
        assert error.value.retryable
        await stream.close()
        again = await stt.open_stream(sample_rate=8000, language="en-US")
        again.set_expectation(MENU)
        assert (await heard(stt, again, "What are your opening hours")).text == "what are your opening hours"
        await again.close()

    @pytest.mark.slow
    async def test_two_callers_share_the_program(self, stt: BuiltinStt) -> None:
        first = await stt.open_stream(sample_rate=8000, language="en-US")
        second = await stt.open_stream(sample_rate=8000, language="en-US")
        first.set_expectation(MENU)
        second.set_expectation(Expectation((), ("days",)))
        one, two = await asyncio.gather(
            heard(stt, first, "I want to change my appointment"), heard(stt, second, "Tuesday morning")
        )
        assert one.text == "i want to change my appointment"
        assert "tuesday" in two.text
        assert len(stt.pids) == 1
        await first.close()
        await second.close()


class TestTheStream:
    async def test_keeps_no_more_than_the_pre_roll_while_nobody_speaks(self, stt: BuiltinStt) -> None:
        stream = await stt.open_stream(sample_rate=8000, language="en-US")
        for size in (1, 4000, 160, 16000, 3):
            stream.push_audio(bytes(2 * size))
            assert len(stream._pre_roll_audio) <= 2 * 5600
        await stream.close()

    @pytest.mark.slow
    async def test_a_caller_who_never_stops_is_heard_up_to_a_limit(self, stt: BuiltinStt) -> None:
        stream = await stt.open_stream(sample_rate=8000, language="en-US")
        stream.set_expectation(MENU)
        stream.speech_started()
        for _ in range(30):
            stream.push_audio(bytes(16000))
        stream.speech_ended()
        async with asyncio.timeout(60):
            assert (await final_event(stream)).text == ""
        await stream.close()

    async def test_closing_twice_and_pushing_afterwards_is_harmless(self, stt: BuiltinStt) -> None:
        stream = await stt.open_stream(sample_rate=8000, language="en-US")
        stream.speech_started()
        stream.push_audio(bytes(3200))
        await stream.close()
        await stream.close()
        stream.push_audio(bytes(3200))
        stream.speech_ended()
        assert [event async for event in stream.events()] == []


DATA = Path("/usr/share/pocketsphinx/test/data")


@pytest.mark.real_time
@pytest.mark.skipif(not DATA.exists(), reason="needs Debian's pocketsphinx-testdata")
class TestPeople:
    """Recordings that nobody synthesized for us, as a browser and as a telephone carry them."""

    ROBOT = Expectation(("go forward ten meters", "go backward ten meters", "go forward nine meters", "turn left"))
    CARDS = Expectation(
        (
            *(f"{card} of clubs" for card in ("two", "five", "seven", "ten", "queen")),
            *(f"{card} of hearts" for card in ("two", "five", "seven", "ten", "queen")),
            "eight of spades four of clubs seven of hearts",
        )
    )

    @pytest.mark.parametrize("rate", [8000, pytest.param(16000, marks=pytest.mark.slow)])
    @pytest.mark.parametrize(
        ("file", "expectation", "said"),
        [
            ("goforward.raw", ROBOT, "go forward ten meters"),
            ("cards/003.wav", CARDS, "seven of clubs"),
            ("cards/005.wav", ROBOT, ""),
            *(
                pytest.param(*case, marks=pytest.mark.slow)
                for case in (
                    ("cards/005.wav", CARDS, "eight of spades four of clubs seven of hearts"),
                    *(
                        (f"librivox/sense_and_sensibility_01_austen_64kb-{number}.wav", grammar, "")
                        for number, grammar in (("0870", MENU), ("0890", ROBOT), ("0920", CARDS), ("0930", MENU))
                    ),
                )
            ),
        ],
    )
    async def test_are_understood(
        self, stt: BuiltinStt, file: str, expectation: Expectation, said: str, rate: int
    ) -> None:
        raw = (DATA / file).read_bytes()
        samples = np.frombuffer(raw[44:] if file.endswith(".wav") else raw, "<i2")
        if rate == 8000:
            samples = MULAW_8K.decode(MULAW_8K.encode(soxr.resample(samples, 16000, 8000)))
        stream = await stt.open_stream(sample_rate=rate, language="en-US")
        stream.set_expectation(expectation)
        stream.speech_started()
        stream.push_audio(samples.tobytes())
        stream.speech_ended()
        async with asyncio.timeout(30):
            heard = (await final_event(stream)).text
        if said:
            assert heard == said
        else:
            # what nobody expected may be written down as it sounds, but never as something else that was expected
            assert heard not in {phrase.lower() for phrase in expectation.phrases}
        await stream.close()
