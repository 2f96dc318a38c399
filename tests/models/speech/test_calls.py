"""Whole calls through the vendors' emulators: the caller speaks, the agent answers, also when a vendor dies in between."""

import re
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pytest

from offhook.kit.audio import MULAW_8K
from offhook.models.configuration.turn_settings import TurnSettings
from offhook.models.ports import Stt, Tts
from offhook.models.providers.openai_compatible.http_requests import close_clients
from offhook.models.providers.openai_compatible.stt import OpenAiCompatibleStt
from offhook.models.providers.openai_compatible.tts import OpenAiCompatibleTts
from offhook.models.speech.stt import SocketStt
from offhook.models.speech.tts import SocketTts
from offhook.models.vendors import ModelChoice
from offhook.voice import events
from offhook_lab.speech.openai_audio import OpenAiAudioServer
from offhook_lab.speech.recognizers import RecognizerServer
from offhook_lab.speech.server import SpeechFault
from offhook_lab.speech.tones import ToneDetector, ToneWord, speak_tones
from offhook_lab.speech.voices import VoiceServer
from tests.fakes.scripted import says
from tests.models.speech.vendors import EARS, KEY, VOICES, Ears, Voice, stt_choice, tts_choice, virtually
from tests.quick import first_quick
from tests.voice.phone import LOUDNESS, Action, Call, simple_agent

BOOK = "i want to book a table"
SURE = "Sure, for how many people shall I book it?"
GREETING = "hello how can i help"


@dataclass
class TalkingCall(Call):
    """The caller really speaks, in tones; what the agent said can be read from what left on the line."""

    voice: bytearray = field(default_factory=bytearray)

    def says(self, text: str, *, at: float, for_s: float | None = None, loudness: float = LOUDNESS) -> Self:
        """Speak ``text``; tones have a length and a loudness of their own."""
        self.actions.append(Action(at, lambda _: self.voice.extend(MULAW_8K.encode(speak_tones(text, 8000)))))
        return self

    def _audio(self, now: float) -> bytes:
        frame = (bytes(self.voice[:160]) + self.leg.codec.silence_frame)[:160]
        del self.voice[:160]
        return frame

    def heard_by_the_caller(self) -> str:
        """The words in the frames that left, in the order in which the caller heard them."""
        ear = ToneDetector(8000)
        line = np.concatenate([*(MULAW_8K.decode(frame) for _, frame in self.leg.frames), np.zeros(1600, np.int16)])
        return " ".join(item.text or "?" for item in ear.push_samples(line) if isinstance(item, ToneWord))


class Lab:
    """The emulators of one test and the ports that use them."""

    def __init__(self) -> None:
        self._stack = AsyncExitStack()
        self.servers: dict[str, Any] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await close_clients()
        await self._stack.aclose()

    async def voice(self, vendor: Voice) -> Tts:
        server: VoiceServer = await self._stack.enter_async_context(vendor.server().running())
        self.servers[f"tts {vendor.name}"] = server
        voice = SocketTts(vendor.wire(tts_choice(vendor, server.url)))
        self._stack.push_async_callback(voice.close)
        return voice

    async def ears(self, vendor: Ears, **choice: Any) -> Stt:
        server: RecognizerServer = await self._stack.enter_async_context(vendor.server().running())
        self.servers[f"stt {vendor.name}"] = server
        return SocketStt(vendor.wire(stt_choice(vendor, server.url, **choice)))

    async def openai_voice(self) -> Tts:
        server = self.servers["tts openai"] = await self._stack.enter_async_context(OpenAiAudioServer().running())
        choice = ModelChoice("tts", "openai", "tts-1", KEY, server.url, is_own_network=True, voice_id="alloy")
        return OpenAiCompatibleTts(choice)

    async def local_ears(self) -> Stt:
        server = self.servers["stt local"] = await self._stack.enter_async_context(OpenAiAudioServer().running())
        return OpenAiCompatibleStt(ModelChoice("stt", "local", "whisper-1", KEY, server.url, is_own_network=True))


def call_with(ttss: Sequence[Tts] = (), stts: Sequence[Stt] = (), *replies: str) -> TalkingCall:
    return TalkingCall(simple_agent(), [says(reply) for reply in replies or (SURE,)], ttss=ttss, stts=stts)


async def carry(call: TalkingCall) -> TalkingCall:
    call.result = await call._run()
    return call


def failed_over(call: TalkingCall) -> list[tuple[str, str, str]]:
    return [(data["kind"], data["from"], data["to"]) for data in call.sink.of(events.FAILED_OVER)]


class TestEarlyAnswers:
    """What a recognizer says before it is certain that a turn is over starts the answer, and takes it back."""

    @pytest.mark.parametrize("early", [True, False])
    def test_the_vendors_guess_starts_the_answer(self, early: bool) -> None:
        async def scenario() -> None:
            async with Lab() as lab:
                ears = await lab.ears(EARS[4], turns=TurnSettings(wants_likely_ends=early))
                call = call_with([await lab.voice(VOICES[1])], [ears])
                call.configurations = {"early_answers": early}
                await carry(call.says(BOOK, at=3.0).hangs_up(at=9))
                assert call.transcript[1:] == [("caller", BOOK), ("agent", SURE)]
                outcomes = call.sink.of(events.EARLY_ANSWER)
                assert [data["used"] for data in outcomes] == [True] * early
                # the emulator is certain 0.3 s after it has guessed
                assert all(data["ahead_ms"] >= 150 for data in outcomes)

        virtually(scenario)

    def test_who_goes_on_after_the_guess_is_answered_once(self) -> None:
        async def scenario() -> None:
            async with Lab() as lab:
                ears = await lab.ears(EARS[4], turns=TurnSettings(wants_likely_ends=True))
                call = call_with([await lab.voice(VOICES[1])], [ears], "Never heard.", "Two, got it.")
                call.configurations = {"early_answers": True}
                call.says(BOOK, at=3.0).says("for two please", at=3.0 + len(speak_tones(BOOK, 8000)) / 8000 + 0.35)
                await carry(call.hangs_up(at=11))
                assert call.transcript[1:] == [("caller", f"{BOOK} for two please"), ("agent", "Two, got it.")]
                assert [data["used"] for data in call.sink.of(events.EARLY_ANSWER)] == [False, True]
                (usage,) = call.sink.of(events.USAGE_COUNTED)[0]["llm"]
                assert (usage["calls"], usage["early_unused_calls"]) == (2, 1)

        virtually(scenario)


class TestAConversation:
    @pytest.mark.parametrize("vendor", first_quick(VOICES), ids=lambda vendor: vendor.name)
    def test_with_the_vendors_voice(self, vendor: Voice) -> None:
        async def scenario() -> None:
            async with Lab() as lab:
                call = call_with([await lab.voice(vendor)], [await lab.ears(EARS[0])])
                await carry(call.says(BOOK, at=3.0).hangs_up(at=9))
                assert call.transcript == [
                    ("agent", "Hello, how can I help?"),
                    ("caller", BOOK),
                    ("agent", SURE),
                ]
                assert call.heard_by_the_caller().startswith(f"{GREETING} sure for how many people shall i book it")
                usage = call.sink.of(events.USAGE_COUNTED)[0]["tts"][0]
                assert (usage["provider"], usage["characters"]) == (vendor.name, len("Hello, how can I help?" + SURE))
                requested = lab.servers[f"tts {vendor.name}"]
                assert "8000" in requested.requests[0] + str(requested.messages)

        virtually(scenario)

    @pytest.mark.parametrize("vendor", first_quick(EARS), ids=lambda vendor: vendor.name)
    def test_with_the_vendors_ears(self, vendor: Ears) -> None:
        async def scenario() -> None:
            async with Lab() as lab:
                call = call_with([await lab.voice(VOICES[1])], [await lab.ears(vendor)], SURE, "Two, got it.")
                await carry(call.says(BOOK, at=3.0).says("for two please", at=8).hangs_up(at=12))
                assert [text for who, text in call.transcript if who == "caller"] == [BOOK, "for two please"]
                assert call.agent_said[-1] == "Two, got it."
                usage = call.sink.of(events.USAGE_COUNTED)[0]["stt"][0]
                assert usage["provider"] == vendor.provider
                assert usage["seconds"] == pytest.approx(12, abs=0.5)

        virtually(scenario)

    def test_with_servers_of_ones_own(self) -> None:
        async def scenario() -> None:
            async with Lab() as lab:
                call = call_with([await lab.openai_voice()], [await lab.local_ears()])
                await carry(call.says(BOOK, at=3.0).hangs_up(at=10))
                assert call.transcript[1:] == [("caller", BOOK), ("agent", SURE)]
                assert call.heard_by_the_caller().startswith(f"{GREETING} sure for how many people")

        virtually(scenario)

    @pytest.mark.parametrize("vendor", first_quick(VOICES), ids=lambda vendor: vendor.name)
    def test_a_barge_in_stops_the_vendor_and_the_next_answer_is_heard(self, vendor: Voice) -> None:
        long = "One moment please, I will look for a table and tell you what we have on that evening, one moment."

        async def scenario() -> None:
            async with Lab() as lab:
                call = call_with([await lab.voice(vendor)], [await lab.ears(EARS[0])], long, "Tomorrow it is.")
                await carry(call.says(BOOK, at=3.0).says("no tomorrow please", at=6.5).hangs_up(at=13))
                assert call.leg.clears
                assert call.transcript[-2:] == [("caller", "no tomorrow please"), ("agent", "Tomorrow it is.")]
                heard = call.heard_by_the_caller()
                assert heard.endswith("tomorrow it is")
                assert "on that evening one moment tomorrow" not in heard

        virtually(scenario)


class TestAVoiceThatDies:
    @pytest.mark.parametrize("vendor", first_quick(VOICES), ids=lambda vendor: vendor.name)
    @pytest.mark.parametrize("kind", ["cut", "stall", "garbage"])
    def test_in_the_middle_of_a_sentence_the_next_vendor_says_it(self, vendor: Voice, kind: str) -> None:
        other = VOICES[0] if vendor is not VOICES[0] else VOICES[1]

        async def scenario() -> None:
            async with Lab() as lab:
                call = call_with([await lab.voice(vendor), await lab.voice(other)], [await lab.ears(EARS[0])])

                def break_it(call: Call) -> None:
                    lab.servers[f"tts {vendor.name}"].fault = SpeechFault(kind, after=4, times=9)  # type: ignore[arg-type]

                await carry(call.does(break_it, at=2.9).says(BOOK, at=3.0).hangs_up(at=14))
                assert failed_over(call) == [("tts", vendor.name, other.name)]
                # the next voice goes on where the first one stopped, perhaps with the word in which it stopped
                heard = re.sub(r"\b(\w+) \1\b", r"\1", call.heard_by_the_caller())
                assert heard.endswith("sure for how many people shall i book it")
                assert call.longest_silence_after(4.3) < 3

        virtually(scenario)

    def test_that_is_not_there_at_all(self) -> None:
        async def scenario() -> None:
            async with Lab() as lab:
                dead = SocketTts(VOICES[0].wire(tts_choice(VOICES[0], "ws://127.0.0.1:9")))
                call = call_with([dead, await lab.voice(VOICES[3])], [await lab.ears(EARS[0])])
                await carry(call.says(BOOK, at=3.0).hangs_up(at=9))
                assert call.heard_by_the_caller().startswith(f"{GREETING} sure for how many")

        virtually(scenario)

    def test_with_a_wrong_key(self) -> None:
        async def scenario() -> None:
            async with Lab() as lab:
                first = await lab.voice(VOICES[2])
                lab.servers["tts deepgram"].trouble = "unauthorized"
                call = call_with([first, await lab.openai_voice()], [await lab.ears(EARS[0])])
                await carry(call.says(BOOK, at=3.0).hangs_up(at=9))
                assert failed_over(call) == [("tts", "deepgram", "openai")]
                assert call.heard_by_the_caller().startswith(GREETING)

        virtually(scenario)


class TestEarsThatDie:
    @pytest.mark.parametrize("vendor", first_quick(EARS), ids=lambda vendor: vendor.name)
    def test_in_the_middle_of_a_sentence_nothing_is_lost(self, vendor: Ears) -> None:
        async def scenario() -> None:
            async with Lab() as lab:
                stts = [await lab.ears(vendor), await lab.ears(EARS[0])]
                call = call_with([await lab.voice(VOICES[1])], stts)
                lab.servers[f"stt {vendor.name}"].fault = SpeechFault("cut", after=3)
                await carry(call.says(BOOK, at=3.0).hangs_up(at=11))
                assert call.transcript[1:] == [("caller", BOOK), ("agent", SURE)]
                assert failed_over(call) == []

        virtually(scenario)

    @pytest.mark.parametrize("vendor", first_quick(EARS), ids=lambda vendor: vendor.name)
    def test_for_good_in_the_middle_of_a_sentence_the_next_vendor_hears_all_of_it(self, vendor: Ears) -> None:
        other = EARS[0] if vendor.provider != EARS[0].provider else EARS[3]

        async def scenario() -> None:
            async with Lab() as lab:
                call = call_with([await lab.voice(VOICES[1])], [await lab.ears(vendor), await lab.ears(other)])

                def break_it(call: Call) -> None:
                    server = lab.servers[f"stt {vendor.name}"]
                    server.trouble = "no_quota"
                    server.drop_connections()

                await carry(call.says(BOOK, at=3.0).does(break_it, at=3.7).hangs_up(at=11))
                assert failed_over(call) == [("stt", vendor.provider, other.provider)]
                assert call.transcript[1:] == [("caller", BOOK), ("agent", SURE)]

        virtually(scenario)
