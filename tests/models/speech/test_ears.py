"""Every vendor's recognizer against its emulator, which hears what really arrives: nothing lost, nothing twice."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from offhook.models.ports import Expectation, ModelError
from offhook.models.speech.stt import SocketStt, SocketSttStream
from offhook_lab.speech.recognizers import AssemblyAiServer, RecognizerServer
from offhook_lab.speech.server import SpeechFault
from tests.models.speech.vendors import EARS, Ears, Transcript, caller_audio, listening, stt_choice, virtually

each = pytest.mark.parametrize("vendor", EARS, ids=lambda vendor: vendor.name)
BOOK = "i want to book a table for two people please"
AND = "on friday evening at half past seven"


@asynccontextmanager
async def heard(
    stt: SocketStt, rate: int = 8000, language: str = "en-US"
) -> AsyncIterator[tuple[SocketSttStream, Transcript]]:
    stream = await stt.open_stream(sample_rate=rate, language=language)
    transcript = Transcript(stream)
    reading = asyncio.create_task(transcript.read())
    try:
        yield stream, transcript
    finally:
        await stream.close()
        await reading


async def says(stream: SocketSttStream, text: str, rate: int = 8000, *, quiet_s: float = 1.6) -> None:
    """The caller speaks in real time, as the line carries it: a frame every 20 ms; our VAD notices a little late."""
    audio = caller_audio(text, rate, quiet_s=quiet_s)
    step = rate // 50 * 2
    ends = len(audio) - int(quiet_s * rate) * 2
    for at in range(0, len(audio), step):
        if at // step == 10:
            stream.speech_started()
        if at - step < ends + 0.3 * rate * 2 <= at:
            stream.speech_ended()
        stream.push_audio(audio[at : at + step])
        await asyncio.sleep(0.02)


async def opening(vendor: Ears, server: RecognizerServer, **choice: str) -> ModelError:
    stt = SocketStt(vendor.wire(stt_choice(vendor, server.url, **choice)))
    with pytest.raises(ModelError) as caught:
        await stt.open_stream(sample_rate=8000, language="en-US")
    return caught.value


@each
class TestHearing:
    @pytest.mark.parametrize("rate", [8000, 16000])
    def test_two_turns(self, vendor: Ears, rate: int) -> None:
        async def scenario() -> None:
            async with listening(vendor) as (stt, server), heard(stt, rate) as (stream, transcript):
                await says(stream, BOOK, rate)
                assert transcript.finals == BOOK
                assert transcript.endpoints == 1
                await says(stream, AND, rate)
                assert transcript.finals == f"{BOOK} {AND}"
                assert transcript.endpoints == 2
                assert server.connections == 1

        virtually(scenario)

    def test_partials_come_while_it_goes_on(self, vendor: Ears) -> None:
        async def scenario() -> None:
            async with listening(vendor) as (stt, _), heard(stt) as (stream, transcript):
                await says(stream, BOOK)
                assert len(transcript.partials) > 3
                assert transcript.partials[0].split()[0] == "i"

        virtually(scenario)

    def test_the_telephone_is_sent_as_it_came(self, vendor: Ears) -> None:
        async def scenario() -> None:
            async with listening(vendor) as (stt, server), heard(stt) as (stream, _):
                await says(stream, "yes")
                assert any(word in server.requests[0] + str(server.messages) for word in ("mulaw", "pcmu"))
                assert stream.sent_s == pytest.approx(server.received_s)

        virtually(scenario)

    def test_seconds_that_the_vendor_bills(self, vendor: Ears) -> None:
        async def scenario() -> None:
            async with listening(vendor) as (stt, _), heard(stt) as (stream, _):
                await says(stream, BOOK, quiet_s=2.0)
                assert stream.sent_s == pytest.approx(len(caller_audio(BOOK, 8000, quiet_s=2.0)) / 16000, abs=0.08)

        virtually(scenario)

    def test_the_end_of_a_call_closes_the_connection(self, vendor: Ears) -> None:
        async def scenario() -> None:
            async with listening(vendor) as (stt, server):
                async with heard(stt) as (stream, _):
                    await says(stream, "yes")
                await asyncio.sleep(0.5)
                assert not server.is_connected

        virtually(scenario)


@each
class TestALostLine:
    @pytest.mark.parametrize("kind", ["cut", "close", "garbage", "nested"])
    def test_in_the_middle_of_a_sentence(self, vendor: Ears, kind: str) -> None:
        async def scenario() -> None:
            async with listening(vendor) as (stt, server), heard(stt) as (stream, transcript):
                server.fault = SpeechFault(kind, after=5)  # type: ignore[arg-type]
                await says(stream, BOOK)
                assert transcript.finals == BOOK
                assert server.connections == 2
                await says(stream, AND)
                assert transcript.finals == f"{BOOK} {AND}"

        virtually(scenario)

    def test_in_the_second_sentence(self, vendor: Ears) -> None:
        async def scenario() -> None:
            async with listening(vendor) as (stt, server), heard(stt) as (stream, transcript):
                await says(stream, BOOK)
                server.fault = SpeechFault("cut", after=server.words_heard + 4)
                await says(stream, AND)
                assert transcript.finals == f"{BOOK} {AND}"

        virtually(scenario)

    def test_in_silence(self, vendor: Ears) -> None:
        async def scenario() -> None:
            async with listening(vendor) as (stt, server), heard(stt) as (stream, transcript):
                await says(stream, BOOK)
                server.drop_connections()
                await says(stream, AND)
                assert transcript.finals == f"{BOOK} {AND}"
                assert server.connections == 2

        virtually(scenario)

    def test_a_vendor_that_takes_audio_and_answers_nothing(self, vendor: Ears) -> None:
        async def scenario() -> None:
            async with listening(vendor) as (stt, server), heard(stt) as (stream, transcript):
                await says(stream, BOOK)
                server.fault = SpeechFault("stall", after=0)
                await says(stream, AND, quiet_s=4)
                assert transcript.finals == f"{BOOK} {AND}"
                assert server.connections == 2

        virtually(scenario)

    @pytest.mark.slow
    def test_a_vendor_that_comes_back_only_at_the_second_try(self, vendor: Ears) -> None:
        async def scenario() -> None:
            async with listening(vendor) as (stt, server), heard(stt) as (stream, transcript):
                await says(stream, BOOK)
                server.fault = SpeechFault("slow", seconds=3.2)
                server.drop_connections()
                await says(stream, AND, quiet_s=9)
                assert transcript.finals == f"{BOOK} {AND}"

        virtually(scenario)

    def test_a_vendor_that_does_not_come_back(self, vendor: Ears) -> None:
        async def scenario() -> None:
            async with vendor.server().running() as server:
                stream = await SocketStt(vendor.wire(stt_choice(vendor, server.url))).open_stream(
                    sample_rate=8000, language="en-US"
                )
                server.fault = SpeechFault("silent", times=99)
                await asyncio.sleep(0.1)
                server.drop_connections()
                with pytest.raises(ModelError) as caught:
                    await Transcript(stream).read()
                assert (caught.value.code, caught.value.retryable) == ("stt_timeout", True)
                await stream.close()

        virtually(scenario)

    def test_a_vendor_that_dies_all_the_time(self, vendor: Ears) -> None:
        async def scenario() -> None:
            async with listening(vendor) as (stt, server):
                stream = await stt.open_stream(sample_rate=8000, language="en-US")
                reading = asyncio.create_task(Transcript(stream).read())
                server.fault = SpeechFault("cut", after=2, times=99)
                await says(stream, BOOK)
                with pytest.raises(ModelError) as caught:
                    await reading
                assert caught.value.code == "stt_cut_off"
                assert server.connections == 3
                await stream.close()

        virtually(scenario)


TROUBLES = {
    "unauthorized": ("stt_unauthorized", False),
    "no_quota": ("stt_no_quota", False),
    "rate_limited": ("stt_rate_limited", True),
    "server_error": ("stt_server_error", True),
}


@each
class TestErrors:
    @pytest.mark.parametrize("trouble", TROUBLES)
    def test_of_the_vendor(self, vendor: Ears, trouble: str) -> None:
        async def scenario() -> None:
            async with vendor.server().running() as server:
                server.trouble = trouble
                error = await opening(vendor, server)
                assert (error.code, error.retryable) == TROUBLES[trouble]

        virtually(scenario)

    def test_a_wrong_key_is_not_repeated_in_the_text(self, vendor: Ears) -> None:
        async def scenario() -> None:
            async with vendor.server().running() as server:
                error = await opening(vendor, server, key="sk-very-secret-1234")
                assert (error.code, error.retryable) == ("stt_unauthorized", False)
                assert "very-secret" not in str(error)

        virtually(scenario)

    def test_a_key_that_is_withdrawn_during_the_call(self, vendor: Ears) -> None:
        async def scenario() -> None:
            async with listening(vendor) as (stt, server):
                stream = await stt.open_stream(sample_rate=8000, language="en-US")
                server.trouble = "no_quota"
                await asyncio.sleep(0.1)
                server.drop_connections()
                with pytest.raises(ModelError) as caught:
                    await Transcript(stream).read()
                assert (caught.value.code, caught.value.retryable) == ("stt_no_quota", False)
                await stream.close()

        virtually(scenario)

    def test_nobody_there(self, vendor: Ears) -> None:
        async def scenario() -> None:
            stt = SocketStt(vendor.wire(stt_choice(vendor, "ws://127.0.0.1:9")))
            with pytest.raises(ModelError) as caught:
                await stt.open_stream(sample_rate=8000, language="en-US")
            assert (caught.value.code, caught.value.retryable) == ("stt_connection", True)

        virtually(scenario)

    def test_a_handshake_that_is_never_answered(self, vendor: Ears) -> None:
        async def scenario() -> None:
            async with vendor.server().running() as server:
                server.fault = SpeechFault("silent")
                error = await opening(vendor, server)
                assert (error.code, error.retryable) == ("stt_timeout", True)

        virtually(scenario)


@each
class TestSilence:
    @pytest.mark.slow
    def test_a_minute_without_words(self, vendor: Ears) -> None:
        async def scenario() -> None:
            async with listening(vendor) as (stt, server), heard(stt) as (stream, transcript):
                await says(stream, "hello")
                for _ in range(300):
                    stream.push_audio(bytes(3200))
                    await asyncio.sleep(0.2)
                await says(stream, BOOK)
                assert transcript.finals == f"hello {BOOK}"
                assert server.connections == 1

        virtually(scenario)

    def test_a_minute_without_audio(self, vendor: Ears) -> None:
        async def scenario() -> None:
            async with listening(vendor) as (stt, server), heard(stt) as (stream, transcript):
                await says(stream, "hello")
                await asyncio.sleep(60)
                await says(stream, BOOK)
                assert transcript.finals == f"hello {BOOK}"
                assert server.connections == 1

        virtually(scenario)


@each
class TestExpectations:
    def test_what_the_node_expects_reaches_the_vendor(self, vendor: Ears) -> None:
        async def scenario() -> None:
            async with listening(vendor) as (stt, server), heard(stt) as (stream, transcript):
                stream.set_expectation(Expectation(("Offhook", "table for two")))
                await says(stream, BOOK)
                assert transcript.finals == BOOK
                sent = server.requests[-1] + str(server.messages)
                assert "Offhook" in sent
                assert "table" in sent

        virtually(scenario)

    def test_nothing_expected_needs_no_second_connection(self, vendor: Ears) -> None:
        async def scenario() -> None:
            async with listening(vendor) as (stt, server), heard(stt) as (stream, transcript):
                stream.set_expectation(Expectation())
                await says(stream, BOOK)
                assert transcript.finals == BOOK
                assert server.connections == 1

        virtually(scenario)


class TestPeculiarities:
    def test_assemblyai_gets_a_replay_no_faster_than_it_takes_it(self) -> None:
        class Strict(AssemblyAiServer):
            most_per_second = 2.5

        vendor = EARS[1]
        long = " ".join([BOOK, AND, "and it would be nice to sit outside with a view of the garden"])

        async def scenario() -> None:
            async with Strict().running() as server:
                stt = SocketStt(vendor.wire(stt_choice(vendor, server.url)))
                async with heard(stt) as (stream, transcript):
                    server.fault = SpeechFault("cut", after=28)
                    await says(stream, long, quiet_s=8)
                    assert transcript.finals == long
                    assert server.connections == 2

        virtually(scenario)

    def test_assemblyai_formatted_turns_are_not_said_twice(self) -> None:
        class Formatting(AssemblyAiServer):
            async def _send_turn(self, socket, turn, words, text, *, is_over):  # type: ignore[no-untyped-def]
                await super()._send_turn(socket, turn, words, text, is_over=is_over)
                if is_over:
                    await super()._send_turn(socket, turn, words, text.capitalize() + ".", is_over=True)

        vendor = EARS[1]

        async def scenario() -> None:
            async with Formatting().running() as server:
                stt = SocketStt(vendor.wire(stt_choice(vendor, server.url)))
                async with heard(stt) as (stream, transcript):
                    await says(stream, BOOK)
                    await says(stream, AND)
                    assert transcript.finals == f"{BOOK} {AND}"

        virtually(scenario)

    def test_assemblyai_takes_its_other_model_for_other_languages(self) -> None:
        async def scenario() -> None:
            async with listening(EARS[1]) as (stt, server), heard(stt, language="es-ES") as (stream, _):
                await says(stream, "hola")
                assert "universal-streaming-multilingual" in server.requests[0]

        virtually(scenario)

    def test_openai_transcripts_out_of_order_are_put_in_order(self) -> None:
        wire = EARS[3].wire(stt_choice(EARS[3], "ws://nowhere"))
        session = wire.create_session(wire.format_for(8000), "en-US", ())
        kind = "conversation.item.input_audio_transcription"
        for item in ("a", "b"):
            session.parse_message({"type": "input_audio_buffer.speech_started", "item_id": item, "audio_start_ms": 0})
            session.parse_message({"type": "input_audio_buffer.speech_stopped", "item_id": item, "audio_end_ms": 900})
        assert session.parse_message({"type": f"{kind}.completed", "item_id": "b", "transcript": "two"}) == ()
        both = session.parse_message({"type": f"{kind}.completed", "item_id": "a", "transcript": "one"})
        assert [heard_one.event.text for heard_one in both] == ["one", "two"]  # type: ignore[union-attr]

    def test_assemblyai_expects_the_end_by_its_confidence(self) -> None:
        wire = EARS[1].wire(stt_choice(EARS[1], "ws://nowhere"))
        session = wire.create_session(wire.format_for(8000), "en-US", ())
        words = [{"text": "yes", "start": 0, "end": 300, "confidence": 0.9, "word_is_final": True}]

        def likely(**more: float) -> bool:
            message = {
                "type": "Turn",
                "turn_order": 0,
                "end_of_turn": False,
                "transcript": "yes",
                "words": words,
                **more,
            }
            (found,) = session.parse_message(message)
            return found.event.is_likely_end  # type: ignore[union-attr]

        assert [likely(), likely(end_of_turn_confidence=0.1), likely(end_of_turn_confidence=0.6)] == [
            False,
            False,
            True,
        ]
