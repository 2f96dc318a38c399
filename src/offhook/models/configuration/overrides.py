"""The models that a workflow may choose for itself (``workflow_configurations.models``); never a key or an address."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import ConfigDict, Field, ValidationError

from offhook.kit.json_numbers import Number, WholeNumber
from offhook.kit.schema import Schema
from offhook.models.schemas import Name


class _ServiceOverride(Schema):
    """A partial service. Without ``provider`` it changes the organization's own service."""

    model_config = ConfigDict(extra="forbid")

    provider: Name | None = None
    model: Name | None = None


class LlmOverride(_ServiceOverride):
    temperature: Annotated[Number, Field(ge=0, le=2)] | None = None
    max_tokens: Annotated[WholeNumber, Field(ge=1, le=200_000)] | None = None


class TtsOverride(_ServiceOverride):
    voice_id: Name | None = None
    speed: Annotated[Number, Field(ge=0.25, le=4)] | None = None


class RecognizerOverride(_ServiceOverride):
    """A recognizer for a language that is set elsewhere."""


class SttOverride(_ServiceOverride):
    language: Annotated[str, Field(pattern=r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$", max_length=35)] | None = None


class RealtimeOverride(_ServiceOverride):
    voice_id: Name | None = None


class LlmFallback(LlmOverride):
    provider: Name


class TtsFallback(TtsOverride):
    provider: Name


class SttFallback(SttOverride):
    provider: Name


class FallbackOverrides(Schema):
    model_config = ConfigDict(extra="forbid")

    llm: Annotated[list[LlmFallback], Field(max_length=5)] | None = None
    tts: Annotated[list[TtsFallback], Field(max_length=5)] | None = None
    stt: Annotated[list[SttFallback], Field(max_length=5)] | None = None


class WorkflowModels(Schema):
    """An agent's choice of models. ``ModelConfigurationStore.check_override`` checks it against the organization."""

    model_config = ConfigDict(extra="forbid")

    llm: LlmOverride | None = None
    tts: TtsOverride | None = None
    stt: SttOverride | None = None
    realtime: RealtimeOverride | None = None
    is_realtime: bool | None = Field(default=None, description="false: this agent uses the cascade")
    fallbacks: FallbackOverrides | None = None


_KINDS: dict[str, type[_ServiceOverride]] = {
    "llm": LlmOverride,
    "tts": TtsOverride,
    "stt": SttOverride,
    "realtime": RealtimeOverride,
}


def parse_compatible_overrides(sent: Mapping[str, Any]) -> WorkflowModels:
    """Converts the overrides that Dograh's clients send to our shape.

    Accepts ``model_overrides`` (services by kind) and ``model_configuration_v2_override`` (a whole configuration).
    ``voice`` becomes ``voice_id``; fields that no service of ours has are dropped. Raises ValueError for keys,
    addresses and modes that are not offered here.
    """
    services: Any = sent
    if "mode" in sent or "byok" in sent or "dograh" in sent:
        byok = sent.get("byok")
        mode = byok.get("mode", "pipeline") if isinstance(byok, Mapping) else ""
        services = byok.get(mode) if isinstance(byok, Mapping) and mode in ("pipeline", "realtime") else None
        if not isinstance(services, Mapping):
            raise ValueError("your own keys are supported in a pipeline or with a realtime model (byok.mode)")
    shape: dict[str, Any] = {}
    if isinstance(services.get("is_realtime"), bool):
        shape["is_realtime"] = services["is_realtime"]
    for kind, model in _KINDS.items():
        service = services.get(kind)
        if service is None:
            continue
        if not isinstance(service, Mapping):
            raise ValueError(f"{kind} must be an object with provider, model, …")
        if service.get("api_key") or service.get("base_url"):
            raise ValueError(f"{kind}: keys and addresses belong to the organization's model configuration")
        is_voice = kind in ("tts", "realtime") and "voice" in service
        named = {"voice_id": service["voice"], **service} if is_voice else service
        shape[kind] = {name: value for name, value in named.items() if name in model.model_fields}
    try:
        return WorkflowModels.model_validate(shape)
    except ValidationError as error:
        problem = error.errors(include_input=False, include_url=False)[0]
        raise ValueError(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}") from None
