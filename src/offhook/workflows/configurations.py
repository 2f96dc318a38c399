"""What ``workflow_configurations`` may hold. Keys that are not named here are kept as they are."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

HEADER_NAME = r"^[A-Za-z][A-Za-z0-9_]{0,63}$"


def _no_boolean(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("Input should be a number, not true or false")
    return value


Whole = Annotated[int, BeforeValidator(_no_boolean)]
Number = Annotated[float, BeforeValidator(_no_boolean)]
Flag = Annotated[bool, Field(strict=True)]


class _Open(BaseModel):
    """Unknown keys are kept; ``null`` means that the key is not set."""

    model_config = ConfigDict(extra="allow")


class AmbientNoise(_Open):
    enabled: Flag | None = None
    volume: Annotated[Number, Field(ge=0, le=1)] | None = None


class VoicemailDetection(_Open):
    enabled: Flag | None = None
    use_workflow_llm: Flag | None = None
    action: Literal["hang_up", "message"] | None = None
    message: Annotated[str, Field(max_length=2000)] | None = None


class FieldMapping(BaseModel):
    context_path: str = Field(min_length=1, max_length=255)
    destination_field: str = Field(pattern=HEADER_NAME)


class WorkflowConfigurations(_Open):
    """Times are seconds. Only what was sent is stored; defaults belong to those who read it."""

    ambient_noise_configuration: AmbientNoise | None = None
    max_call_duration: Annotated[Whole, Field(ge=1, le=1200)] | None = None
    max_user_idle_timeout: Annotated[Number, Field(ge=1, le=600)] | None = None
    smart_turn_stop_secs: Annotated[Number, Field(gt=0, le=30)] | None = None
    turn_start_strategy: Literal["default", "min_words", "provisional_vad", "never"] | None = None
    turn_start_min_words: Annotated[Whole, Field(ge=1, le=20)] | None = None
    provisional_vad_pause_secs: Annotated[Number, Field(gt=0, le=30)] | None = None
    turn_stop_strategy: Literal["default", "transcription", "turn_analyzer", "silence"] | None = None
    turn_stop_silence_secs: Annotated[Number, Field(ge=0.2, le=5)] | None = None
    dictionary: Annotated[str, Field(max_length=20_000)] | None = None
    context_compaction_enabled: Flag | None = None
    text_chat_inactivity_timeout_seconds: Annotated[Whole, Field(ge=60, le=10_500)] | None = None
    voicemail_detection: VoicemailDetection | None = None
    external_pbx_field_mappings: Annotated[list[FieldMapping], Field(max_length=100)] | None = None
    external_pbx_lead_headers: (
        Annotated[list[Annotated[str, Field(pattern=HEADER_NAME)]], Field(max_length=50)] | None
    ) = None
    models: dict[str, JsonValue] | None = None
    model_overrides: dict[str, JsonValue] | None = None
    model_configuration_v2_override: dict[str, JsonValue] | None = None

    def stored(self) -> dict[str, Any]:
        """What was sent, checked and without ``null``."""
        return self.model_dump(mode="json", exclude_unset=True, exclude_none=True)
