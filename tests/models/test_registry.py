"""Which models a call gets: the workflow's choice, the settings', and the offline ones behind them."""

from collections.abc import AsyncIterator
from typing import Any, ClassVar

import pytest
from pydantic import SecretStr

from offhook.models.errors import UnknownModel
from offhook.models.ports import ModelRef
from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.models.providers.builtin.tts import BuiltinTts
from offhook.models.registry import ModelRegistry
from offhook.settings import Settings

BUILTIN = BuiltinLlm().model_ref


@pytest.fixture
async def registry() -> AsyncIterator[ModelRegistry]:
    registry = ModelRegistry(Settings())
    yield registry
    await registry.close()


def with_key() -> ModelRegistry:
    return ModelRegistry(Settings(llm_provider="openai", llm_model="gpt-4.1", llm_api_key=SecretStr("sk-test")))


class TestChoice:
    async def test_without_any_account_everything_is_offline(self, registry: ModelRegistry) -> None:
        models = registry.for_call({})
        assert [kind[0].model_ref.provider for kind in (models.llm, models.tts, models.stt)] == ["builtin"] * 3
        assert [len(kind) for kind in (models.llm, models.tts, models.stt)] == [1, 1, 1]
        assert models.language == "en-US"

    async def test_a_vendor_has_the_offline_agent_behind_it(self) -> None:
        registry = with_key()
        assert [llm.model_ref for llm in registry.for_call({}).llm] == [ModelRef("llm", "openai", "gpt-4.1"), BUILTIN]
        await registry.close()

    async def test_a_workflow_may_choose_another_model_or_none(self) -> None:
        registry = with_key()
        chosen = registry.for_call({"models": {"llm": {"provider": "openai", "model": "gpt-4.1-mini"}}})
        assert chosen.llm[0].model_ref.model == "gpt-4.1-mini"
        assert registry.for_call({"models": {"llm": {"provider": "builtin"}}}).llm[0].model_ref == BUILTIN
        await registry.close()

    async def test_voice_and_language(self, registry: ModelRegistry) -> None:
        models = registry.for_call(
            {"models": {"tts": {"voice_id": "en-gb+f3", "speed": 1.2}, "stt": {"language": "en-GB"}}}
        )
        (voice,) = models.tts
        assert isinstance(voice, BuiltinTts)
        assert voice.voice == "en-gb+f3"
        assert models.language == "en-GB"

    async def test_an_agent_of_two_languages_has_models_in_each(self) -> None:
        key = SecretStr("dg-test")
        registry = ModelRegistry(Settings(stt_provider="deepgram", stt_model="nova-3", stt_api_key=key))
        languages = [
            {"language": "en-GB"},
            {"language": "es-MX", "models": {"tts": {"voice_id": "es-419"}}},
        ]
        models = registry.for_call({"models": {"tts": {"voice_id": "en-gb+f3"}}, "languages": languages})
        spanish = models.by_language["es-MX"]

        assert (models.language, list(models.by_language)) == ("en-GB", ["en-GB", "es-MX"])
        assert [each.tts[0].voice for each in models.by_language.values() if isinstance(each.tts[0], BuiltinTts)] == [
            "en-gb+f3",
            "es-419",
        ]
        # the offline recognizer would hear Spanish as English
        assert [stt.model_ref.provider for stt in (*models.stt, *spanish.stt)] == ["deepgram", "deepgram"]
        await registry.close()

    async def test_one_language_is_what_calls_are_in(self, registry: ModelRegistry) -> None:
        models = registry.for_call({"languages": [{"language": "en-GB"}]})
        assert (models.language, models.by_language) == ("en-GB", {})
        assert models.stt == registry.for_call({"models": {"stt": {"language": "en-GB"}}}).stt

    async def test_a_language_that_the_recognizer_does_not_understand_is_refused(self, registry: ModelRegistry) -> None:
        stt = {"provider": "assemblyai"}
        with pytest.raises(UnknownModel, match="'ar' is not understood by assemblyai"):
            registry.for_call({"models": {"stt": stt}, "languages": [{"language": "en-US"}, {"language": "ar"}]})

    async def test_calls_share_their_models(self, registry: ModelRegistry) -> None:
        one, two = registry.for_call({}), registry.for_call({"models": {}})
        assert (one.llm[0], one.tts[0], one.stt[0]) == (two.llm[0], two.tts[0], two.stt[0])


class TestRealtime:
    SPOKEN: ClassVar[dict[str, Any]] = {"realtime": {"provider": "openai_realtime", "api_key": "sk-test"}}

    async def test_it_is_an_addition_to_the_cascade(self, registry: ModelRegistry) -> None:
        models = registry.for_call({}, self.SPOKEN)
        assert models.realtime is not None
        assert models.realtime.model_ref == ModelRef("realtime", "openai_realtime", "gpt-realtime-2")
        assert models.llm[0].model_ref == BUILTIN
        assert registry.for_call({}).realtime is None

    async def test_an_agent_may_choose_another_one_or_none(self, registry: ModelRegistry) -> None:
        chosen = registry.for_call({"models": {"realtime": {"model": "gpt-realtime-1.5"}}}, self.SPOKEN)
        assert chosen.realtime is not None
        assert chosen.realtime.model_ref.model == "gpt-realtime-1.5"
        assert registry.for_call({"models": {"is_realtime": False}}, self.SPOKEN).realtime is None
        kept = {**self.SPOKEN, "is_realtime": False}
        assert registry.for_call({}, kept).realtime is None
        assert registry.for_call({"models": {"is_realtime": True}}, kept).realtime is not None

    async def test_the_key_of_the_vendors_language_model_works_too(self) -> None:
        registry = with_key()
        assert registry.for_call({"models": {"realtime": {"provider": "openai_realtime"}}}).realtime is not None
        await registry.close()

    async def test_gemini_is_chosen_with_the_key_of_its_language_model(self, registry: ModelRegistry) -> None:
        organization = {"llm": {"provider": "google", "api_key": "AIza-test"}, "realtime": {"provider": "gemini_live"}}
        models = registry.for_call({}, organization)
        assert models.realtime is not None
        assert models.realtime.model_ref == ModelRef("realtime", "gemini_live", "gemini-3.8-live")

    async def test_xai_has_a_key_of_its_own(self, registry: ModelRegistry) -> None:
        chosen = {"provider": "xai_voice", "api_key": "xai-test", "voice_id": "rex"}
        models = registry.for_call({}, {"realtime": chosen})
        assert models.realtime is not None
        assert models.realtime.model_ref == ModelRef("realtime", "xai_voice", "grok-voice-think-fast-2.0")

    async def test_without_a_key_there_is_none(self, registry: ModelRegistry) -> None:
        assert registry.for_call({"models": {"realtime": {"provider": "openai_realtime"}}}).realtime is None


@pytest.mark.parametrize(
    ("chosen", "named"),
    [
        ({"realtime": {"provider": "nobody"}}, "allowed: openai_realtime"),
        ({"realtime": {"provider": "openai_realtime", "model": "gpt-99"}}, "gpt-realtime-2"),
        ({"realtime": {"provider": "openai_realtime", "voice_id": "../x"}}, "marin"),
        ({"is_realtime": True}, "models.realtime.provider"),
        ({"llm": {"provider": "nobody"}}, "allowed: builtin, openai"),
        ({"tts": {"provider": "nobody"}}, "allowed: builtin"),
        ({"stt": {"provider": "nobody"}}, "allowed: builtin"),
        ({"tts": {"voice_id": "../../etc/passwd"}}, "voice"),
        ({"tts": {"speed": 9}}, "0.5 to 2"),
        ({"tts": {"speed": True}}, "0.5 to 2"),
        ({"llm": {"provider": "openai", "temperature": "hot"}}, "temperature"),
        ({"llm": {"provider": "openai", "model": 4}}, "model"),
    ],
)
async def test_what_does_not_exist_is_refused_with_what_does(
    registry: ModelRegistry, chosen: dict[str, Any], named: str
) -> None:
    with pytest.raises(UnknownModel, match=named) as caught:
        registry.for_call({"models": chosen})
    assert caught.value.status == 422


@pytest.mark.parametrize("configurations", [{}, {"models": None}, {"models": []}, {"models": {"llm": "gpt"}}])
async def test_odd_configurations_fall_back_to_the_settings(
    registry: ModelRegistry, configurations: dict[str, Any]
) -> None:
    assert registry.for_call(configurations).llm[0].model_ref == BUILTIN
