"""The keys of ``workflow_configurations``. Unknown keys are kept unchanged."""

from collections.abc import Callable
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, ConfigDict, Field, JsonValue, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from offhook.kit.audio_cleaner import is_cleaning_available
from offhook.kit.json_numbers import Number, WholeNumber
from offhook.kit.json_values import JsonObject
from offhook.kit.schema import Schema
from offhook.kit.word_lists import split_words
from offhook.models.configuration.agent_languages import MAX_LANGUAGES
from offhook.models.configuration.overrides import (
    RecognizerOverride,
    TtsOverride,
    WorkflowModels,
    parse_compatible_overrides,
)
from offhook.workflows.results.definitions import CallAnalysis

# As a context of validation: what was accepted once is shown, wherever this is.
STORED: Final = {"is_stored": True}
Flag = Annotated[bool, Field(strict=True)]


def _only_empty(why: str) -> Callable[[Any], Any]:
    """Accepts only an empty value: the setting means something elsewhere but nothing here, and the error says so."""

    def check_empty(value: Any) -> Any:
        if value not in (None, "", [], {}, False):
            raise ValueError(why)
        return value

    return check_empty


OwnModel = Annotated[
    JsonValue,
    AfterValidator(_only_empty("Voicemail detection uses the models of the workflow: set use_workflow_llm.")),
]
OwnFile = Annotated[
    JsonValue, AfterValidator(_only_empty("Upload the sound as a recording and name it in recording_id."))
]
Volume = Annotated[
    JsonValue, AfterValidator(_only_empty("Loudness is measured in dBFS here: set minimum_level_db, e.g. -45."))
]
Pbx = Annotated[JsonValue, AfterValidator(_only_empty("There is no external PBX here: leave this empty."))]


def _check_compatible_models(sent: JsonObject) -> JsonObject:
    parse_compatible_overrides(sent)
    return sent


ReferenceModels = Annotated[dict[str, JsonValue], AfterValidator(_check_compatible_models)]
RecordingId = Annotated[str, Field(max_length=64)]


class _OpenModel(Schema):
    """Base that keeps unknown keys; ``null`` means that the key is not set."""

    model_config = ConfigDict(extra="allow")


class AmbientNoise(_OpenModel):
    enabled: Flag | None = None
    volume: Annotated[Number, Field(ge=0, le=1)] | None = None
    sound: Literal["office", "cafe", "street"] | None = None
    recording_id: RecordingId | None = None
    storage_key: OwnFile = None


class ComfortNoise(_OpenModel):
    """Soft noise of an open line while the agent says nothing."""

    enabled: Flag | None = None
    level_db: Annotated[Number, Field(ge=-75, le=-45)] | None = None


class CallerAudioSettings(_OpenModel):
    """Processing of the caller's audio before it is recognized. Recordings keep the original audio."""

    noise_suppression: Literal["off", "low", "moderate", "high", "very_high"] | None = None
    auto_gain: Flag | None = None
    level_db: Annotated[WholeNumber, Field(ge=-31, le=-1)] | None = None

    @model_validator(mode="after")
    def _check_available(self, info: ValidationInfo) -> "CallerAudioSettings":
        is_wanted = bool(self.auto_gain) or self.noise_suppression not in (None, "off")
        if is_wanted and info.context is not STORED and not is_cleaning_available():
            raise PydanticCustomError(
                "noise_suppression_unavailable",
                "Noise suppression and automatic gain are not available on this server: their library supports only "
                "Linux with glibc on x86-64 and ARM64.",
            )
        return self


class AgentVolumeSettings(_OpenModel):
    """The loudness that all voices and recordings of the agent are adjusted to."""

    enabled: Flag | None = None
    level_db: Annotated[Number, Field(ge=-30, le=-14)] | None = None
    recordings: Flag | None = None


class VoicemailDetection(_OpenModel):
    enabled: Flag | None = None
    use_workflow_llm: Flag | None = None
    system_prompt: Annotated[str, Field(max_length=4000)] | None = None
    long_speech_timeout: Annotated[Number, Field(ge=2, le=30)] | None = None
    action: Literal["hang_up", "message", "continue"] | None = None
    message: Annotated[str, Field(max_length=2000)] | None = None
    message_recording_id: RecordingId | None = None
    provider: OwnModel = None
    model: OwnModel = None
    api_key: OwnModel = None

    @model_validator(mode="after")
    def _check_has_message(self) -> "VoicemailDetection":
        if self.action == "message" and not ((self.message or "").strip() or self.message_recording_id):
            raise ValueError("The action message requires a message or a message_recording_id.")
        return self


class CallRecordingSettings(_OpenModel):
    enabled: Flag | None = None


class DisclosureSentence(_OpenModel):
    """The sentence that every call begins with, played in full before the recording begins. A recording plays instead
    of the text if there is one."""

    text: Annotated[str, Field(max_length=1000)] | None = None
    recording_id: RecordingId | None = None


class VadConfiguration(_OpenModel):
    confidence: Annotated[Number, Field(ge=0.05, le=0.99)] | None = None
    start_seconds: Annotated[Number, Field(ge=0.06, le=2)] | None = None
    stop_seconds: Annotated[Number, Field(ge=0.1, le=2)] | None = None
    minimum_level_db: Annotated[Number, Field(ge=-90, le=0)] | None = None
    minimum_volume: Volume = None


MAX_INTERRUPTION_WORDS = 50
MAX_INTERRUPTION_WORD_LENGTH = 60


def _check_interruption_words(sent: str) -> str:
    words = split_words(sent)
    if len(words) > MAX_INTERRUPTION_WORDS:
        raise ValueError(f"At most {MAX_INTERRUPTION_WORDS} words or phrases can always interrupt.")
    for word in words:
        if len(word) > MAX_INTERRUPTION_WORD_LENGTH:
            raise ValueError(f"A word or phrase has at most {MAX_INTERRUPTION_WORD_LENGTH} characters: {word[:20]}…")
        if not any(map(str.isalnum, word)):
            raise ValueError(f"A word or phrase needs a letter or a digit: {word}")
    return sent


InterruptionWords = Annotated[str, Field(max_length=3100), AfterValidator(_check_interruption_words)]
Phrase = Annotated[str, Field(min_length=1, max_length=500)]


class Phrases(_OpenModel):
    """Phrases that the agent says without a model, in the agent's language."""

    filler: Phrase | None = None
    reprompt: Phrase | None = None
    reprompt_again: Phrase | None = None
    reprompt_choices: Phrase | None = None
    reprompt_keys: Phrase | None = None
    not_understood: Phrase | None = None
    apology: Phrase | None = None
    idle: Phrase | None = None
    idle_goodbye: Phrase | None = None
    resumed: Phrase | None = None
    time_warning: Phrase | None = None
    time_over: Phrase | None = None


class LanguageModels(Schema):
    """What a language changes of the agent's voice and recognizer; never a key or an address."""

    model_config = ConfigDict(extra="forbid")

    tts: TtsOverride | None = None
    stt: RecognizerOverride | None = None


FixedSentence = Annotated[str, Field(min_length=1, max_length=4000)]
MAX_TRANSLATIONS = 300


class AgentLanguage(_OpenModel):
    """A language that the agent speaks. ``translations`` maps the agent's fixed sentences to what is said instead."""

    language: Annotated[str, Field(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$", max_length=35)]
    models: LanguageModels | None = None
    phrases: Phrases | None = None
    translations: Annotated[dict[FixedSentence, FixedSentence], Field(max_length=MAX_TRANSLATIONS)] | None = None


def _check_languages(sent: list[AgentLanguage]) -> list[AgentLanguage]:
    codes = [each.language.partition("-")[0].lower() for each in sent]
    twice = next((code for code in codes if codes.count(code) > 1), None)
    if twice is not None:
        raise ValueError(f"The language {twice} is listed twice: callers' words do not tell its regions apart.")
    return sent


Languages = Annotated[list[AgentLanguage], Field(max_length=MAX_LANGUAGES), AfterValidator(_check_languages)]


class WorkflowConfigurations(_OpenModel):
    """Times are in seconds. Only fields that were sent are stored; defaults are applied on reading."""

    ambient_noise_configuration: AmbientNoise | None = None
    comfort_noise: ComfortNoise | None = None
    caller_audio: CallerAudioSettings | None = None
    agent_volume: AgentVolumeSettings | None = None
    max_call_duration: Annotated[WholeNumber, Field(ge=1, le=1200)] | None = None
    max_user_idle_timeout: Annotated[Number, Field(ge=1, le=600)] | None = None
    smart_turn_stop_secs: Annotated[Number, Field(ge=0.2, le=30)] | None = None
    turn_taking: Literal["eager", "balanced", "patient"] | None = None
    interruption_words: InterruptionWords | None = None
    turn_start_strategy: Literal["default", "min_words", "provisional_vad", "never"] | None = None
    turn_start_min_words: Annotated[WholeNumber, Field(ge=1, le=20)] | None = None
    provisional_vad_pause_secs: Annotated[Number, Field(ge=0.2, le=5)] | None = None
    turn_stop_strategy: Literal["default", "transcription", "turn_analyzer", "silence"] | None = None
    turn_detection: Literal["server_vad", "semantic_vad"] | None = None
    turn_stop_silence_secs: Annotated[Number, Field(ge=0.2, le=5)] | None = None
    dictionary: Annotated[str, Field(max_length=20_000)] | None = None
    context_compaction_enabled: Flag | None = None
    early_answers: Flag | None = None
    turn_detector: Flag | None = None
    do_not_keep: Flag | None = None
    call_recording: CallRecordingSettings | None = None
    disclosure: DisclosureSentence | None = None
    text_chat_inactivity_timeout_seconds: Annotated[WholeNumber, Field(ge=60, le=10_500)] | None = None
    voicemail_detection: VoicemailDetection | None = None
    vad_configuration: VadConfiguration | None = None
    phrases: Phrases | None = None
    languages: Languages | None = None
    call_analysis: CallAnalysis | None = None
    external_pbx_field_mappings: Pbx = None
    external_pbx_lead_headers: Pbx = None
    models: WorkflowModels | None = None
    model_overrides: ReferenceModels | None = None
    model_configuration_v2_override: ReferenceModels | None = None

    @model_validator(mode="after")
    def _merge_compatible_models(self) -> "WorkflowConfigurations":
        """Stores Dograh's names as ``models``, which calls read; ``models`` wins when both name a kind."""
        for sent in (self.model_overrides, self.model_configuration_v2_override):
            if sent:
                found = parse_compatible_overrides(sent).model_dump(exclude_none=True)
                own = self.models.model_dump(exclude_none=True) if self.models else {}
                self.models = WorkflowModels.model_validate(found | own)
        self.model_overrides = self.model_configuration_v2_override = None
        return self
