"""Speech-to-speech models in the model configuration, over HTTP."""

from typing import Any, ClassVar

import pytest
from httpx2 import AsyncClient

from offhook_lab.speech.gemini_live import GeminiLiveServer
from offhook_lab.speech.nova_sonic import ACCESS_KEY_ID, NovaSonicServer
from offhook_lab.speech.openai_realtime import OpenAiVoiceModelServer
from offhook_lab.speech.voice_model_server import VoiceModelServer
from offhook_lab.speech.xai_voice import XaiVoiceServer
from tests.fixtures_orgs import OrgFixture
from tests.models.test_endpoints import KEY, MASK, REALTIME, V2, put, root_of, stored_keys


class TestSaving:
    async def test_a_realtime_model(self, client: AsyncClient, org: OrgFixture) -> None:
        answer = await put(client, org, {"realtime": REALTIME})
        assert answer["configuration"]["realtime"]["api_key"] == MASK
        assert answer["effective"]["is_realtime"]
        assert answer["effective"]["realtime"] == {
            **dict.fromkeys(("base_url", "language", "max_tokens", "speed", "temperature")),
            "provider": "openai_realtime",
            "model": "gpt-realtime-2",
            "has_key": True,
            "voice_id": "marin",
        }
        assert (await stored_keys(root_of(client), org))["realtime"]["api_key"] == KEY
        kept = await put(client, org, {"realtime": {"provider": "openai_realtime"}, "is_realtime": False})
        assert (kept["effective"]["is_realtime"], kept["effective"]["realtime"]) == (False, None)
        assert kept["configuration"]["realtime"]["api_key"] == MASK

    async def test_a_realtime_model_in_the_other_shape(self, client: AsyncClient, org: OrgFixture) -> None:
        realtime = {
            "realtime": {"provider": "openai_realtime", "api_key": [KEY], "voice": "cedar"},
            "llm": {"provider": "builtin"},
        }
        body = {"version": 2, "mode": "byok", "byok": {"mode": "realtime", "realtime": realtime}}
        answer = await put(client, org, body)
        assert answer["effective"]["realtime"]["voice_id"] == "cedar"
        assert answer["effective"]["llm"]["provider"] == "builtin"


class TestAKeyInTwoParts:
    NOVA: ClassVar[dict[str, str]] = {"provider": "nova_sonic", "api_key": KEY}

    async def test_its_id_and_its_region_are_stored_with_it(self, client: AsyncClient, org: OrgFixture) -> None:
        answer = await put(client, org, {"realtime": {**self.NOVA, "access_key_id": "AKIA1", "region": "eu-north-1"}})
        stored = answer["configuration"]["realtime"]
        assert (stored["access_key_id"], stored["region"], stored["api_key"]) == ("AKIA1", "eu-north-1", MASK)

    async def test_a_secret_without_its_id_is_refused(self, client: AsyncClient, org: OrgFixture) -> None:
        answer = await client.put(V2, json={"realtime": self.NOVA}, headers=org.owner_headers)
        assert answer.status_code == 422
        assert "ID of the access key" in answer.text

    async def test_a_region_is_no_way_to_another_host(self, client: AsyncClient, org: OrgFixture) -> None:
        service = {**self.NOVA, "access_key_id": "AKIA1", "region": "evil.example/#"}
        answer = await client.put(V2, json={"realtime": service}, headers=org.owner_headers)
        assert answer.status_code == 422


class TestCheckOfAVendor:
    """The installation allows the emulator's address."""

    @pytest.fixture
    def settings(self, settings: Any) -> Any:
        return settings.model_copy(update={"egress_allow": "127.0.0.1/32"})

    @pytest.mark.parametrize(
        ("provider", "vendor"),
        [
            ("openai_realtime", OpenAiVoiceModelServer),
            ("gemini_live", GeminiLiveServer),
            ("xai_voice", XaiVoiceServer),
            ("nova_sonic", NovaSonicServer),
        ],
    )
    async def test_a_realtime_model_is_asked_for_a_session(
        self, client: AsyncClient, org: OrgFixture, provider: str, vendor: type[VoiceModelServer]
    ) -> None:
        async with vendor().running() as server:
            service = {"provider": provider, "base_url": server.base_url}
            if provider == "nova_sonic":
                service["access_key_id"] = ACCESS_KEY_ID
            for key, code in ((server.api_key, None), ("sk-wrong", "realtime_unauthorized")):
                body = {"realtime": {**service, "api_key": key}}
                answer = (await client.post(f"{V2}/check", json=body, headers=org.owner_headers)).json()
                assert (answer["ok"], answer["realtime"]["code"]) == (code is None, code)
            assert server.responses == 0
