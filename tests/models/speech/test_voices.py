"""Every vendor's voice against its emulator: what it says, how it stops, what it survives, what it reports."""

import asyncio
from contextlib import aclosing

import pytest

from offhook.models.ports import ModelError
from offhook.models.providers.deepgram.tts import DeepgramTtsWire
from offhook.models.speech.tts import SocketTts, TtsLimits
from offhook_lab.speech.server import SpeechFault
from offhook_lab.speech.voices import NO_VOICE, DeepgramVoiceServer, ElevenLabsServer
from tests.models.speech.vendors import VOICES, Voice, spoken_words, talking, tts_choice, virtually

SENTENCE = "All right, your table for two is booked."
WORDS = ["all", "right", "your", "table", "for", "two", "is", "booked"]
LONG = "one two three four five six seven eight nine ten " * 2 + "end"

each = pytest.mark.parametrize("vendor", VOICES, ids=lambda vendor: vendor.name)


async def said(voice: SocketTts, text: str) -> list[str]:
    return spoken_words(b"".join([piece async for piece in voice.speak(text)]), voice.sample_rate)


async def failure(voice: SocketTts, text: str = SENTENCE) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await said(voice, text)
    return caught.value


@each
class TestSpeaking:
    @pytest.mark.parametrize("rate", [8000, 16000])
    def test_says_every_word_in_order(self, vendor: Voice, rate: int) -> None:
        async def scenario() -> None:
            async with talking(vendor, rate=rate) as (voice, server):
                assert voice.sample_rate == rate
                assert await said(voice, SENTENCE) == WORDS
                assert server.spoken == [SENTENCE]

        virtually(scenario)

    def test_a_line_gets_the_voice_at_its_own_rate(self, vendor: Voice) -> None:
        async def scenario() -> None:
            async with talking(vendor, rate=16000) as (voice, server):
                on_the_phone = voice.for_line(8000)
                assert on_the_phone.sample_rate == 8000
                assert voice.for_line(8000) is on_the_phone
                assert voice.for_line(16000) is voice
                assert await said(on_the_phone, SENTENCE) == WORDS
                assert any(word in server.requests[0] for word in ("ulaw", "mulaw")) or "mulaw" in str(server.messages)

        virtually(scenario)

    def test_sentences_share_a_warm_connection(self, vendor: Voice) -> None:
        async def scenario() -> None:
            async with talking(vendor) as (voice, server):
                await voice.warm_up()
                for _ in range(3):
                    assert await said(voice, SENTENCE) == WORDS
                assert server.connections == 1

        virtually(scenario)

    def test_calls_that_speak_at_once_do_not_mix(self, vendor: Voice) -> None:
        async def scenario() -> None:
            async with talking(vendor) as (voice, _):
                texts = ["one two three", "four five six", "seven eight nine"]
                assert await asyncio.gather(*(said(voice, text) for text in texts)) == [t.split() for t in texts]

        virtually(scenario)

    def test_nothing_to_say(self, vendor: Voice) -> None:
        async def scenario() -> None:
            async with talking(vendor) as (voice, server):
                assert await said(voice, "  ") == []
                assert server.connections == 0

        virtually(scenario)

    def test_counts_what_the_vendor_bills(self, vendor: Voice) -> None:
        async def scenario() -> None:
            async with talking(vendor) as (voice, _):
                await said(voice, SENTENCE)
                assert voice.characters == len(SENTENCE)
                assert voice.model_ref.provider == vendor.name
                assert voice.model_ref.model == vendor.model

        virtually(scenario)


@each
class TestBargeIn:
    def test_the_vendor_stops_and_the_connection_goes_on(self, vendor: Voice) -> None:
        async def scenario() -> None:
            async with talking(vendor) as (voice, server):
                server.piece_s = 0.1
                async with aclosing(voice.speak(LONG)) as pieces:
                    await anext(pieces)
                    await anext(pieces)
                await asyncio.sleep(0.3)
                sent = server.pieces_sent
                assert await said(voice, SENTENCE) == WORDS
                assert server.spoken == [LONG, SENTENCE]
                if vendor.name == "elevenlabs":
                    # its sentences cannot be stopped: the next one does not wait for the rest
                    assert server.connections == 2
                else:
                    assert sent < 6
                    assert server.connections == 1

        virtually(scenario)

    def test_before_the_first_byte(self, vendor: Voice) -> None:
        async def scenario() -> None:
            async with talking(vendor) as (voice, server):
                server.first_byte_s = 5.0
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(1.0):
                        await said(voice, LONG)
                server.first_byte_s = 0.1
                assert await said(voice, SENTENCE) == WORDS

        virtually(scenario)

    def test_again_and_again(self, vendor: Voice) -> None:
        async def scenario() -> None:
            async with talking(vendor) as (voice, server):
                for _ in range(8):
                    async with aclosing(voice.speak(LONG)) as pieces:
                        await anext(pieces)
                    assert await said(voice, "sure thing") == ["sure", "thing"]
                    await asyncio.sleep(0.5)
                assert server.connections <= 2

        virtually(scenario)


# what each vendor has a way to say
TROUBLES = {
    "unauthorized": ("tts_unauthorized", False),
    "no_quota": ("tts_no_quota", False),
    "rate_limited": ("tts_rate_limited", True),
    "server_error": ("tts_server_error", True),
}


@each
class TestErrors:
    @pytest.mark.parametrize("trouble", TROUBLES)
    def test_of_the_vendor(self, vendor: Voice, trouble: str) -> None:
        async def scenario() -> None:
            async with talking(vendor) as (voice, server):
                server.trouble = trouble
                error = await failure(voice)
                assert (error.code, error.retryable) == TROUBLES[trouble]

        virtually(scenario)

    def test_a_wrong_key_is_not_repeated_in_the_text(self, vendor: Voice) -> None:
        async def scenario() -> None:
            async with talking(vendor, key="sk-very-secret-1234") as (voice, _):
                error = await failure(voice)
                assert (error.code, error.retryable) == ("tts_unauthorized", False)
                assert "very-secret" not in str(error)

        virtually(scenario)

    def test_a_voice_that_is_not_there(self, vendor: Voice) -> None:
        async def scenario() -> None:
            async with talking(vendor, voice=NO_VOICE) as (voice, server):
                server.trouble = "not_found"
                error = await failure(voice)
                assert error.code in ("tts_not_found", "tts_bad_request")
                assert not error.retryable

        virtually(scenario)

    def test_nobody_there(self, vendor: Voice) -> None:
        async def scenario() -> None:
            voice = SocketTts(vendor.wire(tts_choice(vendor, "ws://127.0.0.1:9")))
            error = await failure(voice)
            assert (error.code, error.retryable) == ("tts_connection", True)

        virtually(scenario)

    @pytest.mark.parametrize("seconds", [3.5, 60])
    def test_a_handshake_that_takes_too_long(self, vendor: Voice, seconds: float) -> None:
        async def scenario() -> None:
            async with talking(vendor) as (voice, server):
                server.fault = SpeechFault("silent") if seconds == 60 else SpeechFault("slow", seconds=seconds)
                error = await failure(voice)
                assert (error.code, error.retryable) == ("tts_timeout", True)
                assert await said(voice, SENTENCE) == WORDS

        virtually(scenario)

    def test_a_sentence_that_does_not_begin(self, vendor: Voice) -> None:
        async def scenario() -> None:
            async with talking(vendor) as (voice, server):
                await voice.warm_up()
                server.fault = SpeechFault("stall")
                assert (await failure(voice)).code == "tts_timeout"
                assert await said(voice, SENTENCE) == WORDS

        virtually(scenario)

    @pytest.mark.parametrize(
        ("kind", "code"),
        [
            ("cut", "tts_cut_off"),
            ("close", "tts_cut_off"),
            ("stall", "tts_timeout"),
            ("garbage", "tts_malformed"),
            ("nested", "tts_malformed"),
        ],
    )
    def test_death_in_the_middle_of_a_sentence(self, vendor: Voice, kind: str, code: str) -> None:
        async def scenario() -> None:
            async with talking(vendor) as (voice, server):
                await said(voice, "hello there")
                server.fault = SpeechFault(kind, after=3)  # type: ignore[arg-type]
                heard = bytearray()

                async def listen() -> None:
                    async for piece in voice.speak(LONG):
                        heard.extend(piece)

                with pytest.raises(ModelError) as caught:
                    await listen()
                assert caught.value.code == code
                assert caught.value.retryable
                assert spoken_words(bytes(heard), voice.sample_rate)[:2] == ["one", "two"]
                assert await said(voice, SENTENCE) == WORDS

        virtually(scenario)


@each
class TestWarmConnections:
    def test_one_that_died_in_its_sleep_is_not_noticed(self, vendor: Voice) -> None:
        async def scenario() -> None:
            async with talking(vendor) as (voice, server):
                await said(voice, SENTENCE)
                server.drop_connections()
                await asyncio.sleep(1)
                assert await said(voice, SENTENCE) == WORDS
                assert server.connections == 2

        virtually(scenario)

    def test_one_that_dies_under_the_next_sentence_is_replaced(self, vendor: Voice) -> None:
        async def scenario() -> None:
            async with talking(vendor) as (voice, server):
                await said(voice, SENTENCE)
                server.fault = SpeechFault("cut")
                assert await said(voice, SENTENCE) == WORDS

        virtually(scenario)

    def test_a_long_silence_keeps_it(self, vendor: Voice) -> None:
        async def scenario() -> None:
            async with talking(vendor) as (voice, server):
                await said(voice, SENTENCE)
                await asyncio.sleep(100)
                assert await said(voice, SENTENCE) == WORDS
                assert server.connections == 1

        virtually(scenario)

    def test_after_two_minutes_it_is_closed(self, vendor: Voice) -> None:
        async def scenario() -> None:
            async with talking(vendor) as (voice, server):
                await said(voice, SENTENCE)
                await asyncio.sleep(150)
                assert not server.is_connected

        virtually(scenario)


class TestPeculiarities:
    def test_deepgram_takes_another_connection_before_its_limit_of_flushes(self) -> None:
        async def scenario() -> None:
            async with talking(VOICES[2]) as (voice, server):
                for _ in range(25):
                    assert await said(voice, "yes") == ["yes"]
                assert server.connections == 2

        virtually(scenario)

    def test_deepgram_says_that_its_limit_is_reached(self) -> None:
        class Impatient(DeepgramTtsWire):
            uses_per_minute = 100

        async def scenario() -> None:
            async with DeepgramVoiceServer().running() as server:
                voice = SocketTts(Impatient(tts_choice(VOICES[2], server.url)), sample_rate=8000)
                for _ in range(20):
                    await said(voice, "yes")
                error = await failure(voice)
                assert (error.code, error.retryable) == ("tts_rate_limited", True)
                await voice.close()

        virtually(scenario)

    def test_deepgram_says_how_long_to_wait(self) -> None:
        async def scenario() -> None:
            async with talking(VOICES[2]) as (voice, server):
                server.trouble = "rate_limited"
                assert (await failure(voice)).retry_after_s == 3.0

        virtually(scenario)

    def test_elevenlabs_is_kept_awake(self) -> None:
        class Sleepy(ElevenLabsServer):
            """Forgets a connection after 15 s, whatever the client asked for."""

            async def serve_connection(self, socket, query):  # type: ignore[no-untyped-def]
                await super().serve_connection(socket, {**query, "inactivity_timeout": "15"})

        async def scenario() -> None:
            async with Sleepy().running() as server:
                voice = SocketTts(VOICES[0].wire(tts_choice(VOICES[0], server.url)), sample_rate=8000)
                await said(voice, SENTENCE)
                await asyncio.sleep(60)
                assert await said(voice, SENTENCE) == WORDS
                assert server.connections == 1
                await voice.close()

        virtually(scenario)

    def test_speed(self) -> None:
        async def scenario() -> None:
            async with talking(VOICES[0], speed=1.1) as (voice, server):
                await said(voice, "yes")
                assert server.messages[0]["voice_settings"] == {"speed": 1.1}
            async with talking(VOICES[1], speed=1.1) as (voice, server):
                await said(voice, "yes")
                assert server.messages[0]["generation_config"] == {"speed": 1.1}
            async with talking(VOICES[3], speed=2.0) as (voice, server):
                await said(voice, "yes")
                assert "timeScaleFactor=0.500" in server.requests[0]

        virtually(scenario)

    def test_limits_can_be_set(self) -> None:
        async def scenario() -> None:
            async with VOICES[1].server().running() as server:
                server.fault = SpeechFault("slow", seconds=1.0)
                wire = VOICES[1].wire(tts_choice(VOICES[1], server.url))
                assert (await failure(SocketTts(wire, limits=TtsLimits(connect_s=0.5)))).code == "tts_timeout"

        virtually(scenario)
