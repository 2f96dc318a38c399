"""Merges configured services, layer by layer, into the complete choices from which vendors build ports. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import SecretStr

from offhook.kit.json_values import JsonObject
from offhook.models.catalog import VendorCatalog
from offhook.models.configuration.turn_settings import DEFAULT_TURNS, TurnSettings
from offhook.models.errors import UnknownModel
from offhook.models.vendors import KINDS, AnyVendor, Kind, ModelChoice
from offhook.settings import Settings

# gpt-4.1-2025-04-14, claude-haiku-4-5-20251001: dated snapshots of a listed model.
_REGION: Final = re.compile(r"[a-z]{2}(-[a-z]+)+-[0-9]{1,2}")
_EDITION_SUFFIX: Final = re.compile(r"-\d{4}-?\d{2}-?\d{2}$")
_MAX_LANGUAGE_CHARS: Final = 200
Services = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ResolvedModels:
    """The choices for one call by kind, best first, the caller's language, and a speech-to-speech model if one is on."""

    by_kind: Mapping[Kind, Sequence[ModelChoice]]
    language: str
    realtime: ModelChoice | None = None

    def every_choice(self) -> list[ModelChoice]:
        listed = [choice for choices in self.by_kind.values() for choice in choices]
        return listed if self.realtime is None else [*listed, self.realtime]


def services_from_settings(settings: Settings) -> dict[str, JsonObject]:
    """Returns the installation's settings in the shape of a configuration, keys included."""
    llm: JsonObject = {
        "provider": settings.llm_provider,
        "model": settings.llm_model,
        "temperature": settings.llm_temperature,
        "base_url": settings.llm_base_url,
        "api_key": _reveal_secret(settings.llm_api_key),
    }
    tts: JsonObject = {
        "provider": settings.tts_provider,
        "model": settings.tts_model,
        "voice_id": settings.tts_voice,
        "base_url": settings.tts_base_url,
        "api_key": _reveal_secret(settings.tts_api_key),
    }
    stt: JsonObject = {
        "provider": settings.stt_provider,
        "model": settings.stt_model,
        "language": settings.language,
        "base_url": settings.stt_base_url,
        "api_key": _reveal_secret(settings.stt_api_key),
    }
    return {kind: _without_none(part) for kind, part in (("llm", llm), ("tts", tts), ("stt", stt))}


class ModelResolver:
    """Completes configurations for the vendors of a process.

    ``organization`` and ``workflow`` have the shape ``{llm, tts, stt, realtime, is_realtime, fallbacks: {llm: […], …}}``;
    a missing entry and one that is not an object are ignored. A workflow that names another provider takes its key from the organization or
    the installation, whichever has one for that provider.
    """

    def __init__(self, catalog: VendorCatalog, settings: Settings) -> None:
        self._catalog = catalog
        self._settings = settings
        self._installed = services_from_settings(settings)

    def resolve(
        self,
        organization: Services,
        workflow: Services,
        *,
        spoken: Sequence[str] = (),
        turns: TurnSettings = DEFAULT_TURNS,
    ) -> ResolvedModels:
        """Returns the choices; raises UnknownModel (422), which says what is wrong and what is allowed.

        ``spoken``: the languages of an agent that speaks several. ``turns``: for recognizers that decide when one is over.
        """
        stt = self._merge_primary_service("stt", organization, workflow)
        language = stt.get("language") or self._settings.language
        if not isinstance(language, str) or len(language) > _MAX_LANGUAGE_CHARS:
            raise UnknownModel("models.stt.language", "must be a locale tag such as en-US.")
        by_kind = {kind: tuple(self._choices_of_kind(kind, organization, workflow, language)) for kind in KINDS}
        by_kind["stt"] = tuple(
            replace(choice, languages=tuple(spoken), turns=self._turns_for(choice, turns)) for choice in by_kind["stt"]
        )
        return ResolvedModels(by_kind, language, self._resolve_realtime(organization, workflow, language))

    def _turns_for(self, choice: ModelChoice, turns: TurnSettings) -> TurnSettings:
        """Returns the settings where they matter: recognizers without use for them are shared by all agents."""
        return turns if self._catalog.find_vendor("stt", choice.provider).detects_turns else DEFAULT_TURNS

    def _resolve_realtime(self, organization: Services, workflow: Services, language: str) -> ModelChoice | None:
        """Returns the speech-to-speech model; None where there is none, or it is switched off."""
        is_on = workflow.get("is_realtime")
        is_on = organization.get("is_realtime") if is_on is None else is_on
        service = self._merge_primary_service("realtime", organization, workflow)
        if is_on is False or (not service and is_on is None):
            return None
        return self._build_choice("realtime", self._with_key("realtime", service, organization), language)

    def _choices_of_kind(
        self, kind: Kind, organization: Services, workflow: Services, language: str
    ) -> Iterator[ModelChoice]:
        primary = self._merge_primary_service(kind, organization, workflow)
        listed = (
            _get_section(workflow, "fallbacks").get(kind) or _get_section(organization, "fallbacks").get(kind) or ()
        )
        fallbacks = [item for item in listed if isinstance(item, Mapping)] if isinstance(listed, list) else []
        for service in (primary, *fallbacks):
            yield self._build_choice(kind, self._with_key(kind, service, organization), language)

    def _merge_primary_service(self, kind: Kind, organization: Services, workflow: Services) -> JsonObject:
        service: JsonObject = dict(self._installed.get(kind, {}))
        for layer in (_get_section(organization, kind), _get_section(workflow, kind)):
            provider = layer.get("provider")
            if provider and provider != service.get("provider"):
                service = dict(layer)
                continue
            # A key is never combined with an address that it was not given for.
            if "base_url" in layer and layer["base_url"] != service.get("base_url"):
                service.pop("api_key", None)
            service = {**service, **layer}
        return service

    def _with_key(self, kind: Kind, service: Mapping[str, Any], organization: Services) -> JsonObject:
        """Returns the service with the key, and that key's address, of another entry of its provider."""
        found = dict(service)
        if found.get("api_key") or found.get("base_url"):
            return found
        vendor = self._catalog.find_vendor(kind, found.get("provider"))
        for at, entry in self._all_services(organization):
            if entry.get("provider") not in (vendor.provider, vendor.key_provider) or not entry.get("api_key"):
                continue
            if at == kind:
                return {**found, "api_key": entry["api_key"], **_without_none({"base_url": entry.get("base_url")})}
            if not entry.get("base_url"):
                return {**found, "api_key": entry["api_key"]}
        return found

    def _all_services(self, organization: Services) -> Iterator[tuple[Kind, Mapping[str, Any]]]:
        for services in (organization, self._installed):
            for kind in KINDS:
                yield kind, _get_section(services, kind)
                fallbacks = _get_section(services, "fallbacks").get(kind)
                for item in fallbacks if isinstance(fallbacks, list) else ():
                    if isinstance(item, Mapping):
                        yield kind, item

    def _build_choice(self, kind: Kind, service: Mapping[str, Any], language: str) -> ModelChoice:
        vendor = self._catalog.find_vendor(kind, service.get("provider"))
        base_url = _text_option(kind, service, "base_url") or None
        if base_url is not None and not vendor.takes_base_url:
            raise UnknownModel(f"models.{kind}.base_url", f"cannot be set for {vendor.provider}.")
        choice = ModelChoice(
            kind=kind,
            provider=vendor.provider,
            model=self._resolve_model_name(vendor, service, base_url),
            api_key=_text_option(kind, service, "api_key"),
            base_url=base_url,
            is_own_network=base_url is not None and base_url == self._installed.get(kind, {}).get("base_url"),
            language=language,
        )
        return _APPLY_OPTIONS[kind](vendor, service, choice)

    def _resolve_model_name(self, vendor: AnyVendor, service: Mapping[str, Any], base_url: str | None) -> str:
        listed = [info.id for info in vendor.models]
        model = _text_option(vendor.kind, service, "model") or next(iter(listed), "")
        if not model:
            raise UnknownModel(f"models.{vendor.kind}.model", f"{vendor.title} has nothing to choose yet.")
        installed = self._installed.get(vendor.kind, {})
        is_installed = (vendor.provider, model) == (installed.get("provider"), installed.get("model"))
        if model in listed or _EDITION_SUFFIX.sub("", model) in listed:
            return model
        if is_installed or vendor.list_offers is not None or (vendor.takes_any_model and base_url is not None):
            return model
        raise UnknownModel(
            f"models.{vendor.kind}.model", f"{model!r:.80} is not one of {vendor.provider}'s: {', '.join(listed)}."
        )


def _apply_llm_options(vendor: AnyVendor, service: Mapping[str, Any], choice: ModelChoice) -> ModelChoice:
    low, high = vendor.temperatures
    temperature = _number_option("llm", service, "temperature", 0.3, low, high)
    max_tokens = service.get("max_tokens")
    if max_tokens is not None and (isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or max_tokens < 1):
        raise UnknownModel("models.llm.max_tokens", "must be a whole number of at least 1.")
    return replace(choice, temperature=temperature, max_tokens=max_tokens)


def _apply_tts_options(vendor: AnyVendor, service: Mapping[str, Any], choice: ModelChoice) -> ModelChoice:
    listed = [voice.id for voice in vendor.voices if not voice.models or choice.model in voice.models]
    voice = _text_option("tts", service, "voice_id") or (listed[0] if listed else "")
    is_accepted = vendor.accepts_voice is not None and vendor.accepts_voice(voice)
    if voice not in listed and not is_accepted and vendor.list_offers is None:
        raise UnknownModel(
            "models.tts.voice_id", f"{voice!r:.80} is not a voice of {vendor.provider}; known: {', '.join(listed)}."
        )
    if vendor.speeds is None:
        return replace(choice, voice_id=voice)
    return replace(choice, voice_id=voice, speed=_number_option("tts", service, "speed", 1.0, *vendor.speeds))


def _apply_realtime_options(vendor: AnyVendor, service: Mapping[str, Any], choice: ModelChoice) -> ModelChoice:
    listed = [voice.id for voice in vendor.voices]
    voice = _text_option("realtime", service, "voice_id") or listed[0]
    if voice not in listed:
        raise UnknownModel(
            "models.realtime.voice_id",
            f"{voice!r:.80} is not a voice of {vendor.provider}; known: {', '.join(listed)}.",
        )
    choice = replace(choice, voice_id=voice)
    if not vendor.needs_access_key_id:
        return choice
    region = _text_option("realtime", service, "region") or vendor.regions[0]
    # part of the address that the key is used at
    if _REGION.fullmatch(region) is None:
        raise UnknownModel("models.realtime.region", f"{region!r:.80} is not a region such as {vendor.regions[0]}.")
    return replace(choice, access_key_id=_text_option("realtime", service, "access_key_id"), region=region)


def _check_stt_language(vendor: AnyVendor, service: Mapping[str, Any], choice: ModelChoice) -> ModelChoice:
    languages = next((info.languages for info in vendor.models if info.id == choice.model), ()) or vendor.languages
    known = {language.partition("-")[0].lower() for language in languages}
    if known and choice.language.partition("-")[0].lower() not in known:
        allowed = ", ".join(languages)
        raise UnknownModel(
            "models.stt.language", f"{choice.language!r:.40} is not understood by {vendor.provider}: {allowed}."
        )
    return choice


_APPLY_OPTIONS: Final = {
    "llm": _apply_llm_options,
    "tts": _apply_tts_options,
    "stt": _check_stt_language,
    "realtime": _apply_realtime_options,
}


def require_offered(vendor: AnyVendor, choice: ModelChoice) -> None:
    """Raises UnknownModel (422) for a model or voice that its vendor does not have now; for a choice that is being saved."""
    if vendor.list_offers is None:
        return
    models = [info.id for info in vendor.models]
    if choice.model not in models:
        offered = ", ".join(models) or "none yet"
        raise UnknownModel(
            f"models.{choice.kind}.model", f"{choice.model!r:.80} is not installed; installed: {offered}."
        )
    voices = [voice.id for voice in vendor.voices if choice.model in voice.models]
    if choice.kind == "tts" and choice.voice_id not in voices:
        known = ", ".join(voices)
        raise UnknownModel(
            "models.tts.voice_id", f"{choice.voice_id!r:.80} is not a voice of {choice.model}; known: {known}."
        )


def _get_section(services: Services, name: str) -> Mapping[str, Any]:
    part = services.get(name)
    return part if isinstance(part, Mapping) else {}


def _text_option(kind: Kind, service: Mapping[str, Any], name: str) -> str:
    value = service.get(name) or ""
    if not isinstance(value, str) or "\0" in value:
        raise UnknownModel(f"models.{kind}.{name}", "must be text.")
    return value


def _number_option(kind: Kind, service: Mapping[str, Any], name: str, default: float, low: float, high: float) -> float:
    value = service.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise UnknownModel(f"models.{kind}.{name}", f"must be a number from {low:g} to {high:g}.")
    return float(value)


def _reveal_secret(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret is not None else None


def _without_none(values: Mapping[str, Any]) -> JsonObject:
    return {name: value for name, value in values.items() if value is not None}
