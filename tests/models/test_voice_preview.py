"""A sentence in a voice, before it is chosen: who may hear it, whose key speaks, and what is refused."""

import io
import wave
from typing import Any

import numpy as np
import pytest
from httpx2 import AsyncClient, Response

from offhook_lab.speech.openai_audio import OpenAiAudioServer
from tests.fixtures_orgs import OrgFixture
from tests.models.speech.vendors import spoken_words
from tests.models.test_endpoints import KEY, MASK, V2, put


async def hear(client: AsyncClient, org: OrgFixture, tts: Any, role: str = "owner", **body: Any) -> Response:
    return await client.post(f"{V2}/voice-preview", json={"tts": tts, **body}, headers=org.headers_for(role))


class TestVoicePreview:
    async def test_the_offline_voice_speaks(self, client: AsyncClient, org: OrgFixture) -> None:
        answers = [
            await hear(
                client, org, {"provider": "builtin", "voice_id": "en-gb"}, "member", text="Hello there, how are you?"
            ),
            await hear(
                client, org, {"provider": "builtin", "voice_id": "en-gb", "speed": 2}, text="Hello there, how are you?"
            ),
        ]
        lengths = []
        for answer in answers:
            assert (answer.status_code, answer.headers["content-type"]) == (200, "audio/wav")
            with wave.open(io.BytesIO(answer.content)) as file:
                assert (file.getnchannels(), file.getsampwidth()) == (1, 2)
                lengths.append(file.getnframes() / file.getframerate())
                assert np.abs(np.frombuffer(file.readframes(file.getnframes()), "<i2")).max() > 1000
        assert 0.8 < lengths[0] < 4
        assert lengths[1] < 0.7 * lengths[0]

    async def test_it_has_a_sentence_of_its_own(self, client: AsyncClient, org: OrgFixture) -> None:
        answer = await hear(client, org, {"provider": "builtin"})
        with wave.open(io.BytesIO(answer.content)) as file:
            assert file.getnframes() / file.getframerate() > 2.5

    async def test_a_viewer_may_not(self, client: AsyncClient, org: OrgFixture) -> None:
        assert (await hear(client, org, {"provider": "builtin"}, "viewer")).status_code == 403

    @pytest.mark.parametrize("own", [{"api_key": "sk-mine"}, {"base_url": "https://voices.example"}])
    async def test_an_own_key_or_address_needs_an_admin(
        self, client: AsyncClient, org: OrgFixture, own: dict[str, str]
    ) -> None:
        answer = await hear(client, org, {"provider": "openai", **own}, "member")
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")

    @pytest.mark.parametrize(
        ("tts", "text", "named"),
        [
            ({"provider": "nobody"}, "Hi.", "allowed: builtin"),
            ({"provider": "builtin", "voice_id": "../x"}, "Hi.", "voice"),
            ({"provider": "builtin", "speed": 9}, "Hi.", "less than or equal to 4"),
            ({"provider": "elevenlabs"}, "Hi.", "requires an API key"),
            ({"provider": "builtin", "surprise": 1}, "Hi.", "Extra inputs"),
            ({"provider": "openai", "api_key": "k", "base_url": "http://10.0.0.1/v1"}, "Hi.", "not public"),
            ({"provider": "builtin"}, "", "at least 1"),
            ({"provider": "builtin"}, "?!…", "must not be blank"),
            ({"provider": "builtin"}, "x" * 201, "at most 200"),
            (None, "Hi.", "valid dictionary"),
        ],
    )
    async def test_bad_input(self, client: AsyncClient, org: OrgFixture, tts: Any, text: str, named: str) -> None:
        answer = await hear(client, org, tts, text=text)
        assert answer.status_code == 422
        assert named in answer.text

    async def test_it_is_limited(self, client: AsyncClient, org: OrgFixture) -> None:
        statuses = [(await hear(client, org, {"provider": "elevenlabs"})).status_code for _ in range(21)]
        assert (statuses[0], statuses[-1]) == (422, 429)


class TestVoicePreviewOfAVendor:
    """The installation allows the emulator's address, as an operator allows a server of their own."""

    @pytest.fixture
    def settings(self, settings: Any) -> Any:
        return settings.model_copy(update={"egress_allow": "127.0.0.1/32"})

    async def test_the_stored_key_speaks_and_another_organization_has_none(
        self, client: AsyncClient, org: OrgFixture, other_org: OrgFixture
    ) -> None:
        async with OpenAiAudioServer(api_key=KEY).running() as server:
            stored = {"provider": "openai", "base_url": server.url, "api_key": KEY}
            await put(client, org, {"tts": stored})
            voices = [({"provider": "openai", "voice_id": "alloy"}, "member"), ({**stored, "api_key": MASK}, "admin")]
            for voice, role in voices:
                answer = await hear(client, org, voice, role, text="one two three")
                assert answer.status_code == 200, answer.text
                with wave.open(io.BytesIO(answer.content)) as file:
                    assert spoken_words(file.readframes(file.getnframes()), file.getframerate()) == [
                        "one",
                        "two",
                        "three",
                    ]
            assert (await hear(client, other_org, voices[0][0])).json()["code"] == "key_missing"
            elsewhere = {**stored, "base_url": "http://127.0.0.1:1/v1", "api_key": MASK}
            assert (await hear(client, org, elsewhere)).json()["code"] == "key_masked"

    async def test_nobody_there(self, client: AsyncClient, org: OrgFixture) -> None:
        voice = {"provider": "openai", "base_url": "http://127.0.0.1:1/v1", "api_key": "k"}
        answer = await hear(client, org, voice)
        assert (answer.status_code, answer.json()["code"]) == (502, "voice_failed")
