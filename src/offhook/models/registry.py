"""Which models a call uses: the workflow's choice over the settings', with the offline ones as the last resort."""

from collections.abc import Mapping
from typing import Any, Final

from offhook.models.errors import UnknownModel
from offhook.models.ports import CallModels, Llm, Stt, Tts
from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.models.providers.builtin.speech_program import SpeechProgram
from offhook.models.providers.builtin.stt import BuiltinStt
from offhook.models.providers.builtin.tts import DEFAULT_VOICE, BuiltinTts, is_voice
from offhook.models.providers.openai_compatible.endpoints import close_endpoints
from offhook.models.providers.openai_compatible.llm import OpenAiCompatibleLlm
from offhook.settings import Settings

LLM_PROVIDERS: Final = ("builtin", "openai")
TTS_PROVIDERS: Final = ("builtin",)
STT_PROVIDERS: Final = ("builtin",)


class ModelRegistry:
    """One instance of each model a process. Nothing is started before the first call (or :meth:`warm`)."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._speech = SpeechProgram()
        self._builtin_llm = BuiltinLlm()
        self._builtin_stt = BuiltinStt(self._speech, processes=settings.stt_processes)
        self._voices: dict[tuple[str, float], BuiltinTts] = {}
        self._llms: dict[tuple[str, float], OpenAiCompatibleLlm] = {}

    def for_call(self, configurations: Mapping[str, Any]) -> CallModels:
        """The models of one call; UnknownModel (422) names what is allowed.

        ``configurations["models"]`` may hold ``{llm: {provider, model, temperature}, tts: {provider, voice_id, speed},
        stt: {provider, language}}``; addresses and keys come from the settings only.
        """
        chosen = _part(configurations, "models")
        return CallModels(
            llm=self._llm(_part(chosen, "llm")),
            tts=(self._tts(_part(chosen, "tts")),),
            stt=(self._stt(_part(chosen, "stt")),),
            language=str(_part(chosen, "stt").get("language") or self._settings.language),
        )

    def effective(self) -> dict[str, dict[str, str]]:
        """What a call uses that chooses nothing itself."""
        settings = self._settings
        return {
            "llm": {"provider": settings.llm_provider, "model": settings.llm_model},
            "tts": {"provider": settings.tts_provider, "voice_id": settings.tts_voice},
            "stt": {"provider": settings.stt_provider, "language": settings.language},
        }

    def _llm(self, choice: Mapping[str, Any]) -> tuple[Llm, ...]:
        provider = _provider(choice, self._settings.llm_provider, LLM_PROVIDERS, "llm")
        if provider == "builtin":
            return (self._builtin_llm,)
        model = choice.get("model") or self._settings.llm_model
        temperature = choice.get("temperature", self._settings.llm_temperature)
        if not isinstance(model, str) or isinstance(temperature, bool) or not isinstance(temperature, int | float):
            raise UnknownModel("models.llm needs a model (text) and a temperature (number).")
        key = (model, float(temperature))
        if key not in self._llms:
            secret = self._settings.llm_api_key
            self._llms[key] = OpenAiCompatibleLlm(
                model=model,
                base_url=self._settings.llm_base_url,
                api_key=secret.get_secret_value() if secret else "",
                temperature=float(temperature),
            )
        return (self._llms[key], self._builtin_llm)

    def _tts(self, choice: Mapping[str, Any]) -> Tts:
        _provider(choice, self._settings.tts_provider, TTS_PROVIDERS, "tts")
        voice = choice.get("voice_id") or self._settings.tts_voice or DEFAULT_VOICE
        speed = choice.get("speed", 1.0)
        if not isinstance(voice, str) or not is_voice(voice):
            raise UnknownModel(f"models.tts.voice_id {voice!r} is not an espeak-ng voice such as en-us or en-gb+f3.")
        if isinstance(speed, bool) or not isinstance(speed, int | float) or not 0.5 <= speed <= 2:
            raise UnknownModel("models.tts.speed is a number from 0.5 to 2.")
        key = (voice, float(speed))
        if key not in self._voices:
            self._voices[key] = BuiltinTts(self._speech, voice=voice, speed=float(speed))
        return self._voices[key]

    def _stt(self, choice: Mapping[str, Any]) -> Stt:
        _provider(choice, self._settings.stt_provider, STT_PROVIDERS, "stt")
        return self._builtin_stt

    async def warm(self) -> None:
        """Start what calls will need, so that the first one does not wait for it."""
        await self._speech.start()
        await self._builtin_stt.warm()

    async def close(self) -> None:
        await self._builtin_stt.close()
        await self._speech.close()
        await close_endpoints()


def _part(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = value.get(name)
    return part if isinstance(part, Mapping) else {}


def _provider(choice: Mapping[str, Any], default: str, allowed: tuple[str, ...], kind: str) -> str:
    provider = choice.get("provider") or default
    if provider not in allowed:
        raise UnknownModel(f"models.{kind}.provider is {provider!r}; allowed: {', '.join(allowed)}.")
    return str(provider)
