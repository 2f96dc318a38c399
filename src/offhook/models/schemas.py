"""Request bodies and answers of the model configuration."""

from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    ConfigDict,
    Discriminator,
    Field,
    JsonValue,
    Tag,
    model_validator,
)

from offhook.kit.json_numbers import Number, WholeNumber
from offhook.kit.schema import Schema
from offhook.models.configuration.voice_previews import DEFAULT_SENTENCE, MAX_TEXT_CHARS

Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]*$")]


def _web_address(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None or parts.fragment:
        raise ValueError("base_url must be a URL such as https://models.example.com/v1")
    _ = parts.port  # raises ValueError for an invalid port
    return value.rstrip("/")


Key = Annotated[str, Field(max_length=1000, pattern=r"^[\x21-\x7e]*$")]
Address = Annotated[str, Field(max_length=500), AfterValidator(_web_address)]


class _StrictModel(Schema):
    model_config = ConfigDict(extra="forbid")


class _ServiceBase(_StrictModel):
    """``api_key`` is write-only: answers hold its mask, and sending the mask back (or nothing) keeps the key.

    ``has_key``, which answers show beside a service, is ignored."""

    provider: Name
    model: Name | None = None
    api_key: Key | None = Field(default=None, repr=False)
    base_url: Address | None = None

    @model_validator(mode="before")
    @classmethod
    def _ignore_read_only(cls, sent: Any) -> Any:
        return {name: value for name, value in sent.items() if name != "has_key"} if isinstance(sent, dict) else sent


class LlmService(_ServiceBase):
    temperature: Annotated[Number, Field(ge=0, le=2)] | None = None
    max_tokens: Annotated[WholeNumber, Field(ge=1, le=200_000)] | None = None


class TtsService(_ServiceBase):
    voice_id: Name | None = None
    speed: Annotated[Number, Field(ge=0.25, le=4)] | None = None


class SttService(_ServiceBase):
    language: Annotated[str, Field(pattern=r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$", max_length=35)] | None = None


class RealtimeService(_ServiceBase):
    """A model that hears the caller and speaks itself; ``llm``, ``tts`` and ``stt`` do the rest, and take over from it.

    Amazon's has a key in two parts: ``access_key_id``, and its secret as ``api_key``; ``region`` is where it runs."""

    voice_id: Name | None = None
    access_key_id: Annotated[str, Field(max_length=128, pattern=r"^\w*$")] | None = None
    region: Annotated[str, Field(max_length=32, pattern=r"^([a-z]{2}(-[a-z]+)+-[0-9]{1,2})?$")] | None = None


class EmbeddingsService(_ServiceBase):
    """The model that embeds documents. After a change documents are embedded again; searches use the old vectors until then."""


class Fallbacks(_StrictModel):
    """Services that take over when the one before fails in a call, best first."""

    llm: Annotated[list[LlmService], Field(max_length=5)] | None = None
    tts: Annotated[list[TtsService], Field(max_length=5)] | None = None
    stt: Annotated[list[SttService], Field(max_length=5)] | None = None


class OrganizationAIModelConfigurationV2(_StrictModel):
    """Omitted services use the installation's defaults. The response of a GET is accepted too; its ``configuration``
    counts."""

    version: Literal[2] = 2
    llm: LlmService | None = None
    tts: TtsService | None = None
    stt: SttService | None = None
    realtime: RealtimeService | None = None
    is_realtime: bool | None = Field(default=None, description="false: the realtime model is kept but not used")
    embeddings: EmbeddingsService | None = None
    fallbacks: Fallbacks | None = None

    @model_validator(mode="before")
    @classmethod
    def _accept_answer(cls, sent: Any) -> Any:
        is_answer = isinstance(sent, dict) and "effective" in sent and isinstance(sent.get("configuration"), dict)
        return sent["configuration"] if is_answer else sent

    def to_services(self) -> dict[str, Any]:
        """Plain JSON of what was sent; ``api_key`` stays where it was sent as null."""
        result: dict[str, Any] = _without_null(self.model_dump(mode="json", exclude_unset=True, exclude={"version"}))
        return result


class ByokPipeline(Schema):
    """Services in the alternative shape: ``voice`` is ``voice_id`` elsewhere, and unknown fields are ignored."""

    llm: dict[str, JsonValue]
    tts: dict[str, JsonValue]
    stt: dict[str, JsonValue]
    embeddings: dict[str, JsonValue] | None = None


class ByokRealtime(Schema):
    """A realtime model with its language model. The installation's voice says fixed sentences."""

    realtime: dict[str, JsonValue]
    llm: dict[str, JsonValue]
    embeddings: dict[str, JsonValue] | None = None


class Byok(Schema):
    mode: Literal["pipeline", "realtime"]
    pipeline: ByokPipeline | None = None
    realtime: ByokRealtime | None = None

    @model_validator(mode="after")
    def _check_branch(self) -> Self:
        if getattr(self, self.mode) is None:
            raise ValueError(f"byok.{self.mode} is required in mode {self.mode}")
        return self


class ByokConfiguration(Schema):
    """The alternative shape: your own keys in a pipeline, or for a realtime model. The hosted mode is not supported."""

    version: Literal[2] = 2
    mode: Literal["byok"]
    byok: Byok

    @model_validator(mode="after")
    def _check_convertible(self) -> Self:
        self.to_native()
        return self

    def to_native(self) -> OrganizationAIModelConfigurationV2:
        """The body in our shape."""
        shape: dict[str, Any] = {}
        sections = self.byok.pipeline if self.byok.mode == "pipeline" else self.byok.realtime
        services: dict[str, type[_ServiceBase]] = {
            "llm": LlmService,
            "tts": TtsService,
            "stt": SttService,
            "realtime": RealtimeService,
        }
        for kind, service in services.items():
            if getattr(sections, kind, None) is None:
                continue
            sent = dict(getattr(sections, kind))
            if kind in ("tts", "realtime") and "voice" in sent:
                sent.setdefault("voice_id", sent["voice"])
            if isinstance(keys := sent.get("api_key"), list):
                sent["api_key"] = keys[0] if keys else None
            shape[kind] = {name: value for name, value in sent.items() if name in service.model_fields}
        return OrganizationAIModelConfigurationV2.model_validate(shape)


def _shape_of(body: Any) -> str:
    is_other = isinstance(body, ByokConfiguration) or (isinstance(body, dict) and ("mode" in body or "byok" in body))
    return "byok" if is_other else "services"


ModelConfigurationBody = Annotated[
    Annotated[OrganizationAIModelConfigurationV2, Tag("services")] | Annotated[ByokConfiguration, Tag("byok")],
    Discriminator(_shape_of),
]


class EffectiveService(Schema):
    """What calls use. ``has_key``: a key is configured for it, by the organization or by the operator."""

    provider: str
    model: str
    has_key: bool
    base_url: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    voice_id: str | None = None
    speed: float | None = None
    language: str | None = None


class EffectiveEmbeddings(Schema):
    provider: str
    model: str
    has_key: bool
    base_url: str | None = None


class EffectiveModels(Schema):
    """The first of each kind; ``fallbacks`` take over in this order, the offline ones last."""

    llm: EffectiveService
    tts: EffectiveService
    stt: EffectiveService
    realtime: EffectiveService | None = None
    is_realtime: bool = False
    embeddings: EffectiveEmbeddings
    fallbacks: dict[Literal["llm", "tts", "stt"], list[EffectiveService]]


class ModelConfigurationResponse(Schema):
    """``configuration`` is what the organization has set, keys masked; ``effective`` is what calls use."""

    version: Literal[2] = 2
    configuration: dict[str, JsonValue]
    effective: EffectiveModels
    source: Literal["organization", "default"]


class ModelResponse(Schema):
    id: str
    context_tokens: int | None


class VoiceResponse(Schema):
    id: str
    title: str
    languages: list[str]


class ProviderResponse(Schema):
    """What can be chosen of a vendor. ``takes_any_model``: with a ``base_url``, any model name is accepted.

    ``needs_access_key_id``: the key has two parts, ``access_key_id`` and its secret as ``api_key``."""

    provider: str
    title: str
    models: list[ModelResponse]
    voices: list[VoiceResponse]
    takes_other_voices: bool
    languages: list[str]
    speed_range: tuple[float, float] | None
    needs_key: bool
    takes_base_url: bool
    takes_any_model: bool
    needs_access_key_id: bool
    regions: list[str]


class LocalServerResponse(Schema):
    """A model server that answers on this machine, and the service that uses it."""

    title: str
    kind: Literal["llm", "tts", "stt"]
    base_url: str
    models: list[str]
    service: dict[str, JsonValue]


class ModelDefaultsResponse(Schema):
    """The installation's defaults, all available choices, and what was found on this machine."""

    version: Literal[2] = 2
    configuration: dict[str, JsonValue] = Field(description="The installation's default")
    effective: EffectiveModels
    providers: dict[Literal["llm", "tts", "stt", "realtime"], list[ProviderResponse]]
    default_providers: dict[Literal["llm", "tts", "stt", "embeddings"], str]
    embeddings: dict[str, list[str]]
    local_servers: list[LocalServerResponse]


class ChangeResponse(Schema):
    model_config = ConfigDict(populate_by_name=True)

    path: str
    from_: JsonValue = Field(alias="from")
    to: JsonValue


class MigrationPreviewResponse(Schema):
    current_version: int
    target_version: Literal[2] = 2
    changes: list[ChangeResponse]
    configuration: dict[str, JsonValue]


class CheckResponse(Schema):
    """One service, checked with its vendor just now. ``code`` and ``message`` are null when it works."""

    provider: str
    model: str
    ok: bool
    code: str | None = None
    message: str | None = None
    latency_ms: int


class ModelCheckResponse(Schema):
    ok: bool
    llm: CheckResponse
    tts: CheckResponse
    stt: CheckResponse
    realtime: CheckResponse | None = None
    fallbacks: dict[Literal["llm", "tts", "stt"], list[CheckResponse]]


def _require_speakable(text: str) -> str:
    if not any(char.isalnum() for char in text):
        raise ValueError("text must not be blank")
    return text


class VoicePreviewRequest(_StrictModel):
    """A voice as it would be configured; omitted fields use the organization's settings."""

    tts: TtsService
    text: Annotated[
        str,
        Field(min_length=1, max_length=MAX_TEXT_CHARS, pattern=r"^[^\x00-\x1f]*$"),
        AfterValidator(_require_speakable),
    ] = DEFAULT_SENTENCE

    def voice_service(self) -> dict[str, Any]:
        sent: dict[str, Any] = _without_null(self.tts.model_dump(mode="json", exclude_unset=True))
        return sent


def _without_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_null(v) for k, v in value.items() if v is not None or k == "api_key"}
    return [_without_null(item) for item in value] if isinstance(value, list) else value
