"""Addresses that organizations type in: connected to through the egress guard, or not at all."""

import pytest

from offhook.kit.egress import EgressClient, EgressPolicy
from offhook.models.ports import ModelError
from offhook.models.providers.openai_compatible.http_requests import close_clients
from offhook.models.providers.openai_compatible.tts import OpenAiCompatibleTts
from offhook.models.speech.network_route import NetworkRoute
from offhook.models.speech.stt import SocketStt
from offhook.models.speech.tts import SocketTts
from offhook.models.vendors import ModelChoice
from tests.models.speech.test_voices import SENTENCE, WORDS, said
from tests.models.speech.vendors import EARS, KEY, VOICES, openai_talking, stt_choice, tts_choice, virtually


def allowed() -> NetworkRoute:
    return NetworkRoute(is_guarded=True, egress=EgressClient(EgressPolicy.parse("127.0.0.0/8")))


def forbidden() -> NetworkRoute:
    return NetworkRoute(is_guarded=True, egress=EgressClient())


@pytest.mark.parametrize("way", [forbidden(), NetworkRoute(is_guarded=True)], ids=["private", "without a guard"])
def test_a_private_address_is_refused(way: NetworkRoute) -> None:
    async def scenario() -> None:
        async with VOICES[0].server().running() as server:
            voice = SocketTts(VOICES[0].wire(tts_choice(VOICES[0], server.url)), way=way)
            with pytest.raises(ModelError) as caught:
                await said(voice, SENTENCE)
            assert (caught.value.code, caught.value.retryable) == ("tts_forbidden", False)
            ears = SocketStt(EARS[0].wire(stt_choice(EARS[0], server.url)), way=way)
            with pytest.raises(ModelError, match="address"):
                await ears.open_stream(sample_rate=8000, language="en-US")
            assert server.requests == []

    virtually(scenario)


def test_one_that_the_operator_allows_is_connected_to() -> None:
    async def scenario() -> None:
        async with VOICES[1].server().running() as server:
            voice = SocketTts(VOICES[1].wire(tts_choice(VOICES[1], server.url)), way=allowed())
            assert await said(voice, SENTENCE) == WORDS
            await voice.close()

    virtually(scenario)


def test_requests_are_guarded_too() -> None:
    async def scenario() -> None:
        async with openai_talking() as (_, server):
            choice = ModelChoice("tts", "openai", "tts-1", KEY, server.url, voice_id="alloy")
            with pytest.raises(ModelError) as caught:
                await said(OpenAiCompatibleTts(choice, forbidden()), SENTENCE)  # type: ignore[arg-type]
            assert caught.value.code == "tts_forbidden"
            assert server.connections == 0
            await close_clients()

    virtually(scenario)
