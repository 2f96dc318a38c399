"""What a workflow may choose of models for itself (``workflow_configurations.models``); never a key or an address."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from offhook.kit.numbers import Number, Whole
from offhook.models.schemas import Name


class _Override(BaseModel):
    """Without ``provider`` the rest changes the organisation's own service."""

    model_config = ConfigDict(extra="forbid")

    provider: Name | None = None
    model: Name | None = None


class LlmOverride(_Override):
    temperature: Annotated[Number, Field(ge=0, le=2)] | None = None
    max_tokens: Annotated[Whole, Field(ge=1, le=200_000)] | None = None


class TtsOverride(_Override):
    voice_id: Name | None = None
    speed: Annotated[Number, Field(ge=0.25, le=4)] | None = None


class SttOverride(_Override):
    language: Annotated[str, Field(pattern=r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$", max_length=35)] | None = None


class LlmFallback(LlmOverride):
    provider: Name


class TtsFallback(TtsOverride):
    provider: Name


class SttFallback(SttOverride):
    provider: Name


class FallbackOverrides(BaseModel):
    model_config = ConfigDict(extra="forbid")

    llm: Annotated[list[LlmFallback], Field(max_length=5)] | None = None
    tts: Annotated[list[TtsFallback], Field(max_length=5)] | None = None
    stt: Annotated[list[SttFallback], Field(max_length=5)] | None = None


class WorkflowModels(BaseModel):
    """The shape; what it names is checked by ``ModelConfigurations.check_override``, which knows the organisation."""

    model_config = ConfigDict(extra="forbid")

    llm: LlmOverride | None = None
    tts: TtsOverride | None = None
    stt: SttOverride | None = None
    fallbacks: FallbackOverrides | None = None
