"""Recognizers and voices of installed packs: the real programs with models of a few kilobytes."""

import os
import shutil
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
import pytest_asyncio

from offhook.kit.audio import MULAW_8K, Samples
from offhook.models.ports import ModelError, SttEvent
from offhook.models.providers.voice_pack.installed_packs import InstalledPacks
from offhook.models.providers.voice_pack.phonemes import phonemize
from offhook.models.providers.voice_pack.stt import PackRecognizers, PackStt, PackSttStream, readable_text
from offhook.models.providers.voice_pack.tts import PackTts, PackVoices
from offhook.models.vendors import ModelChoice
from tests.fakes.tiny_models import ENGLISH, GERMAN, phonemes_in, say_words
from tests.models.voice_packs.installed import damage_pack, install_tiny_packs, remove_pack

BOOK = "i want to book a table"


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("packs")
    install_tiny_packs(data)
    return data


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def recognizers(installed: Path) -> AsyncIterator[PackRecognizers]:
    recognizers = PackRecognizers(InstalledPacks(installed / "voices"))
    yield recognizers
    await recognizers.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def voices(installed: Path) -> AsyncIterator[PackVoices]:
    voices = PackVoices(InstalledPacks(installed / "voices"))
    yield voices
    await voices.close()


@pytest.fixture
def data(installed: Path, tmp_path: Path) -> Path:
    """A copy of its own, for tests that change it."""
    shutil.copytree(installed / "voices", tmp_path / "voices")
    return tmp_path


@pytest_asyncio.fixture(loop_scope="module")
async def own_recognizers(data: Path) -> AsyncIterator[PackRecognizers]:
    recognizers = PackRecognizers(InstalledPacks(data / "voices"))
    yield recognizers
    await recognizers.close()


@pytest_asyncio.fixture(loop_scope="module")
async def own_voices(data: Path) -> AsyncIterator[PackVoices]:
    voices = PackVoices(InstalledPacks(data / "voices"))
    yield voices
    await voices.close()


def over_the_telephone(text: str, rate: int, words: tuple[str, ...] = ENGLISH) -> bytes:
    samples: Samples = say_words(text, rate, words)
    return (MULAW_8K.decode(MULAW_8K.encode(samples)) if rate == 8000 else samples).tobytes()


def say(stream: PackSttStream, pcm: bytes, rate: int) -> None:
    """As the voice loop does: frames of 20 ms, and what our voice detection says of them, a little late."""
    quiet = bytes(rate // 25)
    frames = [pcm[at : at + len(quiet)] for at in range(0, len(pcm), len(quiet))]
    for _ in range(20):
        stream.push_audio(quiet)
    for index, frame in enumerate([*frames, *[quiet] * 20]):
        stream.push_audio(frame)
        if index == 4:
            stream.speech_started()
    stream.speech_ended()


async def hear(stream: PackSttStream) -> list[SttEvent]:
    heard = []
    async for event in stream.events():
        heard.append(event)
        if event.kind == "final":
            break
    return heard


def recognizer(recognizers: PackRecognizers, name: str = "english") -> PackStt:
    return recognizers.build(ModelChoice("stt", "voice_pack", name))


def voice(voices: PackVoices, name: str = "english", speaker: str = "default") -> PackTts:
    return voices.build(ModelChoice("tts", "voice_pack", name, voice_id=speaker))


async def spoken(tts: PackTts, text: str) -> bytes:
    return b"".join([chunk async for chunk in tts.speak(text)])


class TestRecognizers:
    async def test_a_zipformer_follows_the_caller_on_every_line(self, recognizers: PackRecognizers) -> None:
        stt = recognizer(recognizers)
        for rate in (8000, 16000, 48000):
            stream = await stt.open_stream(sample_rate=rate, language="en-US")
            say(stream, over_the_telephone(BOOK, rate), rate)
            *partials, final = await hear(stream)
            assert [event.text for event in partials] == [" ".join(BOOK.split()[:count]) for count in range(1, 7)]
            assert (final.kind, final.text) == ("final", BOOK)
            assert final.confidence is not None
            assert final.confidence > 0.5
            await stream.close()

    async def test_callers_who_speak_at_the_same_time_are_kept_apart(self, recognizers: PackRecognizers) -> None:
        stt = recognizer(recognizers)
        one, other = [await stt.open_stream(sample_rate=8000, language="en-US") for _ in range(2)]
        for stream in (one, other):
            stream.speech_started()
        for at in range(0, 20_000, 320):
            one.push_audio(over_the_telephone("two please", 8000)[at : at + 320])
            other.push_audio(over_the_telephone("book", 8000)[at : at + 320])
        for stream in (one, other):
            stream.speech_ended()
        assert [(await hear(stream))[-1].text for stream in (one, other)] == ["two please", "book"]
        assert len({process.pid for each in recognizers.pool.programs for process in each.processes}) == 1
        await one.close()
        await other.close()

    async def test_moonshine_hears_an_utterance_when_it_is_over(self, recognizers: PackRecognizers) -> None:
        stt = recognizer(recognizers, "small")
        stream = await stt.open_stream(sample_rate=8000, language="en-GB")
        for word, sentence in (("i", BOOK), ("want", "for two please")):
            say(stream, over_the_telephone(" ".join([word] * 5), 8000), 8000)
            assert await hear(stream) == [SttEvent("final", sentence)]
        await stream.close()

    async def test_silence_is_nothing_and_the_next_utterance_is_heard(self, recognizers: PackRecognizers) -> None:
        stream = await recognizer(recognizers).open_stream(sample_rate=8000, language="en-US")
        say(stream, bytes(16000), 8000)
        assert [(event.kind, event.text) for event in await hear(stream)] == [("final", "")]
        say(stream, over_the_telephone("please", 8000), 8000)
        assert (await hear(stream))[-1].text == "please"
        await stream.close()

    async def test_a_pack_in_another_language(self, recognizers: PackRecognizers) -> None:
        stt = recognizer(recognizers, "deutsch")
        stream = await stt.open_stream(sample_rate=8000, language="de-AT")
        say(stream, over_the_telephone("ich möchte einen tisch für zwei", 8000, GERMAN), 8000)
        assert (await hear(stream))[-1].text == "ich möchte einen tisch für zwei"
        await stream.close()
        with pytest.raises(ModelError, match="understands de only") as caught:
            await stt.open_stream(sample_rate=8000, language="en-US")
        assert (caught.value.code, caught.value.retryable) == ("stt_language", False)

    @pytest.mark.parametrize(
        ("text", "read"), [(" I  WANT TWO ", "i want two"), ("Two, please.", "Two, please."), ("ÄPFEL", "äpfel")]
    )
    async def test_capital_letters_are_not_read(self, text: str, read: str) -> None:
        assert readable_text(text) == read


class TestVoices:
    async def test_a_voice_says_the_phonemes_of_the_text_at_the_rate_of_the_line(self, voices: PackVoices) -> None:
        text = "Hello, how are you? It costs 3.50 dollars."
        wanted = "".join(chr(point) for point in await phonemize(voices.speech, text, "en-us"))
        assert wanted.startswith("həlˈoʊ, hˈaʊ ɑːɹ juː? ɪt kˈɔsts θɹˈiː")
        tts = voice(voices)
        for rate in (8000, 16000, 24000):
            pcm = await spoken(tts.for_line(rate), text)
            assert tts.for_line(rate) is tts.for_line(rate)
            assert tts.for_line(rate).sample_rate == rate
            assert phonemes_in(pcm, rate) == wanted.replace(" ", "")

    async def test_long_texts_come_in_pieces_and_a_barge_in_stops_them(self, voices: PackVoices) -> None:
        tts = voice(voices)
        text = "One sentence that is not short at all. " * 12
        pieces = tts.speak(text)
        first = await anext(pieces)
        assert 3 * len(first) < len(await spoken(tts, text))
        await pieces.aclose()
        assert phonemes_in(await spoken(tts, "Yes."), tts.sample_rate) == "jˈɛs."

    async def test_what_nobody_says_is_not_said(self, voices: PackVoices) -> None:
        assert await spoken(voice(voices), " *** \U0001f600 ") == b""

    async def test_kokoro_has_speakers(self, voices: PackVoices) -> None:
        loud, quiet = [await spoken(voice(voices, "small", speaker), "Good morning.") for speaker in ("loud", "quiet")]
        assert phonemes_in(loud, 24000) == phonemes_in(quiet, 24000) == "ɡˈʊdmˈɔːɹnɪŋ."
        peaks = [np.abs(np.frombuffer(pcm, "<i2").astype(int)).max() for pcm in (loud, quiet)]
        assert peaks[0] == pytest.approx(4 * peaks[1], rel=0.01)

    async def test_a_german_voice_reads_german(self, voices: PackVoices) -> None:
        pcm = await spoken(voice(voices, "deutsch"), "Guten Tag, zwei Bitte.")
        assert phonemes_in(pcm, 24000).startswith("ɡˈuːtəntˈɑːk,tsvˈaɪ")


class TestFaults:
    @pytest.mark.slow
    async def test_a_voice_that_crashed_is_loaded_again(self, own_voices: PackVoices) -> None:
        tts = voice(own_voices)
        await spoken(tts, "Yes.")
        (program,) = own_voices.pool.programs
        assert program.pid is not None
        os.kill(program.pid, signal.SIGKILL)
        assert phonemes_in(await spoken(tts, "Yes."), tts.sample_rate) == "jˈɛs."
        assert program.restarts == 1

    async def test_a_recognizer_that_crashed_says_so_and_is_loaded_for_the_next_stream(
        self, own_recognizers: PackRecognizers
    ) -> None:
        stt = recognizer(own_recognizers)
        stream = await stt.open_stream(sample_rate=8000, language="en-US")
        (pid,) = [process.pid for each in own_recognizers.pool.programs for process in each.processes]
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        say(stream, over_the_telephone(BOOK, 8000), 8000)
        with pytest.raises(ModelError) as caught:
            await hear(stream)
        assert (caught.value.code, caught.value.retryable) == ("stt_program_died", True)
        await stream.close()
        again = await stt.open_stream(sample_rate=8000, language="en-US")
        say(again, over_the_telephone(BOOK, 8000), 8000)
        assert (await hear(again))[-1].text == BOOK
        await again.close()

    async def test_a_damaged_voice_is_not_tried_with_every_call(self, own_voices: PackVoices, data: Path) -> None:
        damage_pack(data, "english", "tts/*.onnx")
        with pytest.raises(ModelError, match="offhook voices verify english") as first:
            await spoken(voice(own_voices), "Yes.")
        assert (first.value.code, first.value.retryable) == ("tts_unavailable", False)
        with pytest.raises(ModelError) as second:
            await spoken(voice(own_voices), "Yes.")
        assert second.value is first.value

    @pytest.mark.slow
    async def test_a_damaged_recognizer(self, own_recognizers: PackRecognizers, data: Path) -> None:
        damage_pack(data, "english", "stt/encoder*")
        with pytest.raises(ModelError, match="offhook voices verify english") as caught:
            await own_recognizers.check(ModelChoice("stt", "voice_pack", "english"))
        assert (caught.value.code, caught.value.retryable) == ("stt_unavailable", False)

    async def test_a_pack_that_is_removed_serves_the_calls_that_have_it(
        self, own_recognizers: PackRecognizers, own_voices: PackVoices, data: Path
    ) -> None:
        stt, tts = recognizer(own_recognizers), voice(own_voices)
        stream = await stt.open_stream(sample_rate=8000, language="en-US")
        assert await spoken(tts, "Yes.")
        remove_pack(data, "english")
        say(stream, over_the_telephone(BOOK, 8000), 8000)
        assert (await hear(stream))[-1].text == BOOK
        await stream.close()
        with pytest.raises(ModelError, match="No installed voice pack named 'english' has a voice") as caught:
            await spoken(tts, "Yes.")
        assert (caught.value.code, caught.value.retryable) == ("tts_pack_missing", False)
        with pytest.raises(ModelError, match="has a recognizer"):
            await stt.open_stream(sample_rate=8000, language="en-US")
