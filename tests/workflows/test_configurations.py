"""Workflow configurations: a wrong value is refused by name, everything else is kept."""

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from httpx2 import AsyncClient

from offhook.root import Root, remember_settings
from offhook.workflows import configurations
from tests.fixtures_orgs import OrgFixture
from tests.quick import first_quick
from tests.workflows.conftest import Editor

WRONG: list[tuple[str, Any]] = [
    ("max_call_duration", 0),
    ("max_call_duration", 1201),
    ("max_call_duration", "long"),
    ("max_call_duration", True),
    ("max_user_idle_timeout", -1),
    ("smart_turn_stop_secs", 0),
    ("turn_start_strategy", "shout"),
    ("turn_start_min_words", 0),
    ("provisional_vad_pause_secs", -2),
    ("turn_taking", "rude"),
    ("interruption_words", ["stop"]),
    ("interruption_words", "stop, ?!"),
    ("interruption_words", "a" * 61),
    ("interruption_words", ",".join(f"word {number}" for number in range(51))),
    ("turn_stop_strategy", "clap"),
    ("turn_stop_silence_secs", 9),
    ("dictionary", ["x"]),
    ("context_compaction_enabled", "yes"),
    ("early_answers", "auto"),
    ("turn_detection", "none"),
    ("turn_detector", "on"),
    ("text_chat_inactivity_timeout_seconds", 59),
    ("text_chat_inactivity_timeout_seconds", 10501),
    ("ambient_noise_configuration", {"volume": 2}),
    ("ambient_noise_configuration", "loud"),
    ("voicemail_detection", {"enabled": "perhaps"}),
    ("voicemail_detection", {"action": "sing"}),
    ("external_pbx_field_mappings", [{"context_path": "", "destination_field": "a"}]),
    ("external_pbx_lead_headers", ["x_name"]),
    ("ambient_noise_configuration", {"sound": "disco"}),
    ("agent_volume", {"level_db": -60}),
    ("comfort_noise", {"level_db": -20}),
    ("comfort_noise", True),
    ("caller_audio", {"noise_suppression": 2}),
    ("caller_audio", {"noise_suppression": "maximum"}),
    ("caller_audio", {"auto_gain": True, "level_db": 0}),
    ("caller_audio", {"auto_gain": "yes"}),
    ("agent_volume", {"enabled": "loud"}),
    ("ambient_noise_configuration", {"storage_key": "ambient/1.wav"}),
    ("voicemail_detection", {"action": "message"}),
    ("voicemail_detection", {"action": "message", "message": " "}),
    ("voicemail_detection", {"long_speech_timeout": 1}),
    ("voicemail_detection", {"provider": "openai", "api_key": "sk-1"}),
    ("vad_configuration", {"confidence": 1.5}),
    ("vad_configuration", {"minimum_volume": 0.6}),
    ("phrases", {"idle": ""}),
    ("languages", ["es"]),
    ("languages", [{"language": "Spanish!"}]),
    ("languages", [{"language": "en-US"}, {"language": "en-GB"}]),
    ("languages", [{"language": code} for code in ("en", "es", "fr", "de", "pt", "ru", "hi")]),
    ("languages", [{"language": "en", "translations": {"Hello": ""}}]),
    ("languages", [{"language": "en", "models": {"stt": {"language": "es"}}}]),
    ("languages", [{"language": "en", "models": {"llm": {"provider": "openai"}}}]),
    ("models", []),
    ("model_overrides", "gpt"),
    ("model_overrides", {"llm": {"provider": "builtin", "api_key": "sk-1"}}),
    ("model_overrides", {"tts": {"provider": "builtin", "speed": 9}}),
    ("model_overrides", {"realtime": {"provider": "openai_realtime", "api_key": "sk-1"}}),
    ("model_configuration_v2_override", {"mode": "dograh", "dograh": {"api_key": "x"}}),
]


@pytest.mark.parametrize(("name", "value"), first_quick(WRONG, count=12))
async def test_a_wrong_value_is_named(editor: Editor, name: str, value: Any) -> None:
    workflow_id = (await editor.create())["id"]
    answer = await editor.put(f"/workflow/{workflow_id}", json={"workflow_configurations": {name: value}})
    assert answer.status_code == 422
    assert all(problem["loc"][:3] == ["body", "workflow_configurations", name] for problem in answer.json()["detail"])
    assert (await editor.fetch(workflow_id))["workflow_configurations"] == {}


async def test_right_values_and_further_keys_are_kept(editor: Editor) -> None:
    sent = {
        "max_call_duration": 1200,
        "max_user_idle_timeout": 7.5,
        "turn_taking": "patient",
        "interruption_words": "lawyer, human being\nagent",
        "turn_start_strategy": "min_words",
        "turn_start_min_words": 2,
        "turn_stop_strategy": "turn_analyzer",
        "comfort_noise": {"enabled": True, "level_db": -62},
        "agent_volume": {"enabled": True, "level_db": -23.5, "recordings": False},
        "ambient_noise_configuration": {"enabled": True, "volume": 0.3, "sound": "cafe", "note": "ours"},
        "voicemail_detection": {"enabled": True, "use_workflow_llm": False, "action": "continue"},
        "vad_configuration": {"confidence": 0.6, "start_seconds": 0.2, "minimum_level_db": -45},
        "phrases": {"idle": "Sind Sie noch da?"},
        "external_pbx_field_mappings": [],
        "models": {"llm": {"provider": "openai", "model": "gpt-4.1"}},
        "house_rule": {"deep": [1, None, "x"]},
    }
    workflow_id = (await editor.create())["id"]
    answer = await editor.put(f"/workflow/{workflow_id}", json={"workflow_configurations": sent})
    assert answer.json()["workflow_configurations"] == sent


class TestNoiseSuppression:
    WANTED: ClassVar = {"caller_audio": {"noise_suppression": "moderate", "auto_gain": True, "level_db": -9}}

    async def test_is_kept(self, editor: Editor, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(configurations, "is_cleaning_available", lambda: True)
        workflow_id = (await editor.create())["id"]
        answer = await editor.put(f"/workflow/{workflow_id}", json={"workflow_configurations": self.WANTED})
        assert answer.json()["workflow_configurations"] == self.WANTED

    async def test_that_this_server_cannot_do_is_refused(self, editor: Editor, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(configurations, "is_cleaning_available", lambda: False)
        path = f"/workflow/{(await editor.create())['id']}"
        for wanted in ({"noise_suppression": "low"}, {"auto_gain": True}):
            answer = await editor.put(path, json={"workflow_configurations": {"caller_audio": wanted}})
            assert answer.status_code == 422
            (problem,) = answer.json()["detail"]
            assert (problem["type"], problem["loc"][-1]) == ("noise_suppression_unavailable", "caller_audio")
        off = {"caller_audio": {"noise_suppression": "off", "auto_gain": False}}
        answer = await editor.put(path, json={"workflow_configurations": off})
        assert answer.json()["workflow_configurations"] == off

    async def test_that_another_server_could_do_can_be_exported(
        self, editor: Editor, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(configurations, "is_cleaning_available", lambda: True)
        workflow_id = (await editor.create())["id"]
        await editor.put(f"/workflow/{workflow_id}", json={"workflow_configurations": self.WANTED})
        monkeypatch.setattr(configurations, "is_cleaning_available", lambda: False)
        answer = await editor.get(f"/workflow/{workflow_id}/export")
        assert answer.json()["workflow_configurations"]["caller_audio"] == self.WANTED["caller_audio"]


class TestTurnDetector:
    ON: ClassVar = {"turn_detector": True}

    async def test_is_refused_where_the_installation_has_none(self, editor: Editor) -> None:
        path = f"/workflow/{(await editor.create())['id']}"
        for answer in (
            await editor.put(path, json={"workflow_configurations": self.ON}),
            await editor.post(f"{path}/create-draft", json={"workflow_configurations": self.ON}),
        ):
            assert answer.status_code == 422
            assert (answer.json()["code"], answer.json()["field"]) == ("turn_detector_unavailable", "turn_detector")
        off = {"turn_detector": False}
        answer = await editor.put(path, json={"workflow_configurations": off})
        assert answer.json()["workflow_configurations"] == off

    async def test_is_warned_of_where_the_installation_has_none_any_more(self, editor: Editor, root: Root) -> None:
        workflow_id = (await editor.create())["id"]
        remember_settings(
            replace(root, settings=root.settings.model_copy(update={"turn_detector_file": Path("a.onnx")}))
        )
        path = f"/workflow/{workflow_id}"
        await editor.put(path, json={"workflow_configurations": self.ON})
        assert (await editor.post(f"{path}/validate")).json()["warnings"] == []
        remember_settings(root)
        report = (await editor.post(f"{path}/validate")).json()
        assert (report["is_valid"], report["warnings"]) == (
            True,
            [
                {
                    "kind": "workflow",
                    "id": None,
                    "field": "workflow_configurations.turn_detector",
                    "code": "turn_detector_unavailable",
                    "message": "This server has no turn detector, so rules alone decide when a caller has finished.",
                }
            ],
        )
        assert (await editor.publish(workflow_id)).status_code == 200

    async def test_is_kept_where_it_has_one(self, editor: Editor, root: Root) -> None:
        remember_settings(
            replace(root, settings=root.settings.model_copy(update={"turn_detector_file": Path("a.onnx")}))
        )
        answer = await editor.put(
            f"/workflow/{(await editor.create())['id']}", json={"workflow_configurations": self.ON}
        )
        remember_settings(root)
        assert answer.json()["workflow_configurations"] == self.ON


async def test_null_means_not_set(editor: Editor) -> None:
    workflow_id = (await editor.create())["id"]
    body = {"workflow_configurations": {"max_call_duration": None, "dictionary": "x"}}
    answer = await editor.put(f"/workflow/{workflow_id}", json=body)
    assert answer.json()["workflow_configurations"] == {"dictionary": "x"}


class TestOwnModelsAtPublishing:
    """A workflow may choose among what its organization's models allow, when it is saved and when it is published."""

    OPENAI: ClassVar = {"provider": "openai", "model": "gpt-4.1", "api_key": "sk-live-0123456789abcd"}

    @pytest.fixture
    async def workflow_id(self, editor: Editor, client: AsyncClient, org: OrgFixture) -> int:
        """One whose draft wants another model of the organization's vendor."""
        await self.configure(client, org, {"llm": self.OPENAI})
        workflow_id: int = (await editor.create())["id"]
        wanted = {"models": {"llm": {"model": "gpt-4.1-mini"}}}
        saved = await editor.put(f"/workflow/{workflow_id}", json={"workflow_configurations": wanted})
        assert saved.status_code == 200, saved.text
        return workflow_id

    async def configure(self, client: AsyncClient, org: OrgFixture, body: dict[str, Any]) -> None:
        path = "/organizations/model-configurations/v2"
        answer = await client.put(path, json=body, headers=org.owner_headers)
        assert answer.status_code == 200, answer.text

    async def test_what_fits(self, editor: Editor, workflow_id: int) -> None:
        assert (await editor.publish(workflow_id)).status_code == 200

    async def test_what_fits_no_longer(
        self, editor: Editor, workflow_id: int, client: AsyncClient, org: OrgFixture
    ) -> None:
        await self.configure(client, org, {"llm": {"provider": "builtin"}})
        answer = await editor.publish(workflow_id)
        assert (answer.status_code, answer.json()["code"]) == (422, "workflow_invalid")
        (problem,) = answer.json()["detail"]["errors"]
        assert {key: problem[key] for key in ("kind", "id", "field", "code")} == {
            "kind": "workflow",
            "id": None,
            "field": "workflow_configurations.models.llm.model",
            "code": "unknown_model",
        }
        assert "gpt-4.1-mini" in problem["message"]
        report = (await editor.post(f"/workflow/{workflow_id}/validate")).json()
        assert (report["is_valid"], report["errors"]) == (False, [problem])
        assert await editor.versions(workflow_id) == [(1, "draft")]


class TestModelsInTheWordsOfTheReference:
    """They are what calls use, under our name."""

    @pytest.mark.parametrize(
        "sent",
        [
            {"model_overrides": {"tts": {"provider": "builtin", "voice": "en-gb", "region": "eu"}, "stt": None}},
            {
                "model_configuration_v2_override": {
                    "version": 2,
                    "mode": "byok",
                    "byok": {"mode": "pipeline", "pipeline": {"tts": {"provider": "builtin", "voice": "en-gb"}}},
                }
            },
        ],
        ids=["overrides", "configuration"],
    )
    async def test_are_applied(self, editor: Editor, sent: dict[str, Any]) -> None:
        workflow_id = (await editor.create())["id"]
        answer = await editor.put(f"/workflow/{workflow_id}", json={"workflow_configurations": sent})
        assert answer.status_code == 200, answer.text
        stored = answer.json()["workflow_configurations"]
        assert stored == {"models": {"tts": {"provider": "builtin", "voice_id": "en-gb"}}}

    async def test_our_own_words_win(self, editor: Editor) -> None:
        workflow_id = (await editor.create())["id"]
        sent = {
            "models": {"llm": {"temperature": 0.9}},
            "model_overrides": {"llm": {"temperature": 0.1}, "stt": {"language": "de-DE", "provider": "builtin"}},
        }
        answer = await editor.put(f"/workflow/{workflow_id}", json={"workflow_configurations": sent})
        assert answer.json()["workflow_configurations"]["models"] == {
            "llm": {"temperature": 0.9},
            "stt": {"language": "de-DE", "provider": "builtin"},
        }

    async def test_what_does_not_exist_is_refused(self, editor: Editor) -> None:
        workflow_id = (await editor.create())["id"]
        sent = {"model_overrides": {"llm": {"provider": "nobody"}}}
        answer = await editor.put(f"/workflow/{workflow_id}", json={"workflow_configurations": sent})
        assert answer.status_code == 422
