"""OpenAI's speech over plain requests, which local servers (Kokoro-FastAPI, speaches, whisper.cpp) speak too."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest

from offhook.models.ports import Expectation, ModelError
from offhook.models.providers.openai_compatible.http_requests import close_clients
from offhook.models.providers.openai_compatible.stt import OpenAiCompatibleStt, UtteranceSttStream
from offhook.models.providers.openai_compatible.tts import OpenAiCompatibleTts
from offhook.models.vendors import ModelChoice
from offhook_lab.speech.openai_audio import OpenAiAudioServer
from offhook_lab.speech.server import SpeechFault
from offhook_lab.speech.tones import read_tones
from offhook_lab.speech.voices import NO_VOICE
from tests.models.speech.test_voices import LONG, SENTENCE, WORDS
from tests.models.speech.vendors import KEY, Transcript, at_8000, caller_audio, openai_talking, virtually

BOOK = "i want to book a table for two people please"


async def said(voice: OpenAiCompatibleTts, text: str) -> list[str]:
    """As the caller hears it: over the telephone."""
    pcm = b"".join([piece async for piece in voice.speak(text)])
    return read_tones(at_8000(pcm, voice.sample_rate), 8000)


class TestAVoice:
    def test_says_every_word_in_order_although_http_cuts_samples_in_two(self) -> None:
        async def scenario() -> None:
            async with openai_talking() as (voice, server):
                assert await said(voice, SENTENCE) == WORDS
                assert all([len(piece) % 2 == 0 async for piece in voice.speak("yes")])
                assert server.connections == 1
                assert voice.characters == len(SENTENCE) + 3

        virtually(scenario)

    def test_a_server_that_answers_with_wav(self) -> None:
        async def scenario() -> None:
            async with openai_talking() as (voice, server):
                server.answers_wav = True
                assert await said(voice, SENTENCE) == WORDS

        virtually(scenario)

    def test_without_a_key(self) -> None:
        async def scenario() -> None:
            async with OpenAiAudioServer(api_key=None).running() as server:
                choice = ModelChoice(
                    "tts", "openai", "kokoro", base_url=server.url, is_own_network=True, voice_id="af_heart"
                )
                assert await said(OpenAiCompatibleTts(choice), SENTENCE) == WORDS
                await close_clients()

        virtually(scenario)

    def test_stops_when_the_caller_talks(self) -> None:
        async def scenario() -> None:
            async with openai_talking() as (voice, server):
                server.piece_s = 0.1
                async with aclosing(voice.speak(LONG)) as pieces:
                    await anext(pieces)
                await asyncio.sleep(1)
                assert server.pieces_sent < 5
                assert await said(voice, SENTENCE) == WORDS

        virtually(scenario)

    @pytest.mark.parametrize(
        ("trouble", "code", "retryable"),
        [
            ("unauthorized", "tts_unauthorized", False),
            ("forbidden", "tts_forbidden", False),
            ("no_quota", "tts_no_quota", False),
            ("rate_limited", "tts_rate_limited", True),
            ("not_found", "tts_not_found", False),
            ("server_error", "tts_server_error", True),
        ],
    )
    def test_errors_of_the_vendor(self, trouble: str, code: str, retryable: bool) -> None:
        async def scenario() -> None:
            async with openai_talking() as (voice, server):
                server.trouble = trouble
                with pytest.raises(ModelError) as caught:
                    await said(voice, SENTENCE)
                assert (caught.value.code, caught.value.retryable) == (code, retryable)
                assert caught.value.retry_after_s == (1.0 if trouble == "rate_limited" else None)

        virtually(scenario)

    def test_a_voice_that_is_not_there(self) -> None:
        async def scenario() -> None:
            async with openai_talking(voice_id=NO_VOICE) as (voice, _):
                with pytest.raises(ModelError, match="no such voice") as caught:
                    await said(voice, SENTENCE)
                assert caught.value.code == "tts_bad_request"

        virtually(scenario)

    @pytest.mark.parametrize(
        ("fault", "code"),
        [
            (SpeechFault("silent"), "tts_timeout"),
            (SpeechFault("slow", seconds=9), "tts_timeout"),
            (SpeechFault("cut", after=2), "tts_cut_off"),
            (SpeechFault("stall", after=2), "tts_timeout"),
            (SpeechFault("garbage", after=2), "tts_cut_off"),
        ],
        ids=lambda value: getattr(value, "kind", value),
    )
    def test_faults(self, fault: SpeechFault, code: str) -> None:
        async def scenario() -> None:
            async with openai_talking() as (voice, server):
                server.fault = SpeechFault(fault.kind, fault.after, 1, fault.seconds)
                with pytest.raises(ModelError) as caught:
                    await said(voice, LONG)
                assert (caught.value.code, caught.value.retryable) == (code, True)
                assert await said(voice, SENTENCE) == WORDS

        virtually(scenario)

    def test_nobody_there(self) -> None:
        async def scenario() -> None:
            choice = ModelChoice("tts", "openai", "tts-1", base_url="http://127.0.0.1:9/v1", is_own_network=True)
            with pytest.raises(ModelError) as caught:
                await said(OpenAiCompatibleTts(choice), SENTENCE)
            assert caught.value.code == "tts_connection"
            await close_clients()

        virtually(scenario)


@asynccontextmanager
async def hearing(
    rate: int = 8000, **server_options: Any
) -> AsyncIterator[tuple[UtteranceSttStream, Transcript, OpenAiAudioServer]]:
    async with OpenAiAudioServer(**server_options).running() as server:
        choice = ModelChoice("stt", "openai", "whisper-1", api_key=KEY, base_url=server.url, is_own_network=True)
        stream = await OpenAiCompatibleStt(choice).open_stream(sample_rate=rate, language="en-US")
        transcript = Transcript(stream)
        reading = asyncio.create_task(transcript.read())
        try:
            yield stream, transcript, server
        finally:
            await stream.close()
            await asyncio.gather(reading, return_exceptions=True)
            await close_clients()


async def says(stream: UtteranceSttStream, text: str, rate: int = 8000) -> None:
    audio = caller_audio(text, rate, quiet_s=1.0)
    step = rate // 50 * 2
    ends = len(audio) - int(0.7 * rate) * 2
    for at in range(0, len(audio), step):
        if at // step == 12:
            stream.speech_started()
        if at - step < ends <= at:
            stream.speech_ended()
        stream.push_audio(audio[at : at + step])
        await asyncio.sleep(0.02)


class TestARecogniser:
    @pytest.mark.parametrize("rate", [8000, 16000])
    def test_an_utterance_is_a_request(self, rate: int) -> None:
        async def scenario() -> None:
            async with hearing(rate) as (stream, transcript, server):
                await says(stream, BOOK, rate)
                await says(stream, "on friday", rate)
                assert transcript.finals == f"{BOOK} on friday"
                assert server.utterances == [BOOK, "on friday"]
                assert server.fields[0]["language"] == "en"

        virtually(scenario)

    def test_silence_costs_nothing(self) -> None:
        async def scenario() -> None:
            async with hearing() as (stream, _, server):
                for _ in range(500):
                    stream.push_audio(bytes(320))
                assert server.connections == 0
                assert stream.sent_s == 0

        virtually(scenario)

    def test_the_beginning_is_not_cut_off_after_a_silence(self) -> None:
        async def scenario() -> None:
            async with hearing() as (stream, transcript, _):
                for _ in range(300):
                    stream.push_audio(bytes(320))
                await says(stream, BOOK)
                assert transcript.finals == BOOK

        virtually(scenario)

    def test_expected_words_are_its_prompt(self) -> None:
        async def scenario() -> None:
            async with hearing() as (stream, _, server):
                stream.set_expectation(Expectation(("Offhook",)))
                await says(stream, BOOK)
                assert server.fields[0]["prompt"] == "Offhook"

        virtually(scenario)

    @pytest.mark.parametrize("kind", ["cut", "garbage"])
    def test_a_request_that_fails_is_made_once_more(self, kind: str) -> None:
        async def scenario() -> None:
            async with hearing() as (stream, transcript, server):
                server.fault = SpeechFault(kind)  # type: ignore[arg-type]
                await says(stream, BOOK)
                assert transcript.finals == BOOK

        virtually(scenario)

    @pytest.mark.parametrize(
        ("trouble", "code"),
        [("unauthorized", "stt_unauthorized"), ("not_found", "stt_not_found"), ("server_error", "stt_server_error")],
    )
    def test_errors_end_the_stream(self, trouble: str, code: str) -> None:
        async def scenario() -> None:
            async with OpenAiAudioServer().running() as server:
                server.trouble = trouble
                choice = ModelChoice(
                    "stt", "openai", "whisper-1", api_key=KEY, base_url=server.url, is_own_network=True
                )
                stream = await OpenAiCompatibleStt(choice).open_stream(sample_rate=8000, language="en")
                await says(stream, BOOK)
                with pytest.raises(ModelError) as caught:
                    await Transcript(stream).read()
                assert caught.value.code == code
                await stream.close()
                await close_clients()

        virtually(scenario)

    def test_a_server_that_never_answers(self) -> None:
        async def scenario() -> None:
            async with OpenAiAudioServer().running() as server:
                server.fault = SpeechFault("silent")
                choice = ModelChoice(
                    "stt", "openai", "whisper-1", api_key=KEY, base_url=server.url, is_own_network=True
                )
                stream = await OpenAiCompatibleStt(choice).open_stream(sample_rate=8000, language="en")
                await says(stream, BOOK)
                with pytest.raises(ModelError) as caught:
                    await Transcript(stream).read()
                assert (caught.value.code, caught.value.retryable) == ("stt_timeout", True)
                await stream.close()
                await close_clients()

        virtually(scenario)
