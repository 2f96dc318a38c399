"""The call settings that a workflow may change, with their defaults (``workflow_configurations``)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Literal, cast, get_args

from offhook.kit.audio_cleaner import CleaningConfig
from offhook.kit.word_lists import split_words
from offhook.models.configuration.agent_languages import agent_languages
from offhook.voice.dialog.phrases import PHRASE_NAMES, CannedPhrases, phrases_for
from offhook.voice.input.dictionary import EMPTY_DICTIONARY, SpeechDictionary, parse_dictionary
from offhook.voice.input.interruption_rules import TurnTaking
from offhook.voice.output.ambience import AmbienceConfig
from offhook.voice.output.voice_level import DEFAULT_LEVEL_DB, DEFAULT_VOLUME, AgentVolume
from offhook.voice.safety.voicemail_detector import VoicemailAction, VoicemailConfig

# By the names of WebRTC's levels, which take 6, 12, 18 and 21 dB of a steady noise.
SUPPRESSION_LEVELS: Final = {"low": 1, "moderate": 2, "high": 3, "very_high": 4}
TurnStart = Literal["default", "min_words", "provisional_vad", "never"]
TurnStop = Literal["default", "transcription", "silence", "turn_analyzer"]


@dataclass(frozen=True, slots=True)
class DisclosureConfig:
    """The sentence that a call begins with: a text with variables, or the id of its recording."""

    text: str = ""
    recording_id: str | None = None


@dataclass(frozen=True, slots=True)
class SpokenLanguage:
    """A language of an agent: its author's own phrases, and the fixed sentences of the agent in it."""

    phrases: Mapping[str, str] = field(default_factory=dict)
    translations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CallConfig:
    """Times are seconds, levels dBFS. ``from_configurations`` ignores unknown settings and wrong types.

    The workflow domain rejects wrong values when they are saved; here they fall back to the default, because a live
    call must not fail because of a setting.
    """

    max_duration_s: float = 300.0
    duration_warning_s: float = 20.0
    idle_timeout_s: float = 10.0
    idle_prompts: int = 2
    turn_start: TurnStart = "default"
    turn_start_min_words: int = 3
    provisional_pause_s: float = 1.5
    turn_stop: TurnStop = "default"
    # 0.7 s of silence: pauses within a sentence on the phone seldom exceed 0.5 s
    turn_stop_silence_s: float = 0.7
    smart_turn_stop_s: float = 2.0
    vad_start_probability: float = 0.5
    vad_stop_probability: float = 0.35
    turn_taking: TurnTaking = "balanced"
    interruption_words: tuple[str, ...] = ()
    # None: as the way of turn-taking has it
    interrupt_after_s: float | None = None
    interrupt_min_level_db: float | None = None
    vad_stop_after_s: float = 0.3
    filler_after_s: float = 1.8
    retry_after_s: float = 4.5
    give_up_after_s: float = 9.0
    deaf_after_s: float = 1.6
    max_unheard_turns: int = 4
    disclosure: DisclosureConfig | None = None
    ambience: AmbienceConfig | None = None
    # of what the caller says; None: as it comes
    cleaning: CleaningConfig | None = None
    volume: AgentVolume = DEFAULT_VOLUME
    dictionary: SpeechDictionary = EMPTY_DICTIONARY
    is_compaction_on: bool = False
    has_early_answers: bool = False
    # where the process has one
    has_turn_detector: bool = False
    voicemail: VoicemailConfig = field(default_factory=VoicemailConfig)
    # What the author wrote instead of the phrases that there are in the call's language.
    own_phrases: Mapping[str, str] = field(default_factory=dict)
    # of an agent that speaks several, the one that calls begin in first
    languages: Mapping[str, SpokenLanguage] = field(default_factory=dict)

    def phrases_in(self, language: str) -> CannedPhrases:
        """Returns what a call in a language says without asking a model."""
        spoken = self.languages.get(language)
        is_first = spoken is None or language == next(iter(self.languages))
        own = self.own_phrases if is_first else {}
        return phrases_for(language).with_own({**own, **(spoken.phrases if spoken is not None else {})})

    def translations_in(self, language: str) -> Mapping[str, str]:
        """Returns what is said in a language instead of the agent's fixed sentences."""
        spoken = self.languages.get(language)
        return spoken.translations if spoken is not None else {}

    @classmethod
    def from_configurations(cls, configurations: Mapping[str, Any]) -> "CallConfig":
        number = partial(_clamped_number, configurations)
        vad_section = _config_section(configurations, "vad_configuration")
        vad = partial(_clamped_number, vad_section)
        has_level = vad_section.get("minimum_level_db") is not None
        phrases = _config_section(configurations, "phrases")
        start = configurations.get("turn_start_strategy")
        stop = configurations.get("turn_stop_strategy")
        taking = configurations.get("turn_taking")
        confidence = vad("confidence", 0.5, 0.05, 0.99)
        return cls(
            max_duration_s=number("max_call_duration", 300, 1, 1200),
            idle_timeout_s=number("max_user_idle_timeout", 10, 1, 600),
            turn_start=cast(TurnStart, start) if start in get_args(TurnStart) else "default",
            turn_start_min_words=int(number("turn_start_min_words", 3, 1, 20)),
            provisional_pause_s=number("provisional_vad_pause_secs", 1.5, 0.2, 5),
            turn_stop=cast(TurnStop, stop) if stop in get_args(TurnStop) else "default",
            turn_taking=cast(TurnTaking, taking) if taking in get_args(TurnTaking) else "balanced",
            interruption_words=split_words(_stripped_text(configurations, "interruption_words")),
            turn_stop_silence_s=number("turn_stop_silence_secs", 0.7, 0.2, 5),
            smart_turn_stop_s=number("smart_turn_stop_secs", 2, 0.2, 30),
            vad_start_probability=confidence,
            vad_stop_probability=min(0.35, confidence * 0.7),
            interrupt_after_s=vad("start_seconds", 0.12, 0.06, 2) if vad_section.get("start_seconds") else None,
            interrupt_min_level_db=vad("minimum_level_db", 0, -90, 0) if has_level else None,
            vad_stop_after_s=vad("stop_seconds", 0.3, 0.1, 2),
            disclosure=_parse_disclosure(_config_section(configurations, "disclosure")),
            ambience=_parse_ambience(_config_section(configurations, "ambient_noise_configuration"))
            or _parse_comfort_noise(_config_section(configurations, "comfort_noise")),
            cleaning=_parse_cleaning(_config_section(configurations, "caller_audio")),
            volume=_parse_volume(_config_section(configurations, "agent_volume")),
            dictionary=parse_dictionary(configurations.get("dictionary")),
            is_compaction_on=configurations.get("context_compaction_enabled") is True,
            has_early_answers=configurations.get("early_answers") is True,
            has_turn_detector=configurations.get("turn_detector") is True,
            voicemail=_parse_voicemail(_config_section(configurations, "voicemail_detection")),
            own_phrases=_parse_phrases(phrases),
            languages={
                tag: SpokenLanguage(
                    _parse_phrases(_config_section(entry, "phrases")),
                    _parse_translations(_config_section(entry, "translations")),
                )
                for tag, entry in agent_languages(configurations).items()
            },
        )


def is_recording_on(configurations: Mapping[str, Any]) -> bool:
    """Returns whether the calls of an agent are recorded."""
    return _config_section(configurations, "call_recording").get("enabled") is not False


def _config_section(configurations: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    part = configurations.get(key)
    return part if isinstance(part, Mapping) else {}


def _clamped_number(values: Mapping[str, Any], key: str, default: float, low: float, high: float) -> float:
    value = values.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return default
    return min(max(float(value), low), high)


def _stripped_text(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    return value.strip() if isinstance(value, str) else ""


def _parse_phrases(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: text for name in PHRASE_NAMES if (text := _stripped_text(values, name))}


def _parse_translations(values: Mapping[str, Any]) -> dict[str, str]:
    return {text.strip(): said for text in values if (said := _stripped_text(values, text))}


def _parse_ambience(values: Mapping[str, Any]) -> AmbienceConfig | None:
    volume = _clamped_number(values, "volume", 0.3, 0, 1)
    if values.get("enabled") is not True or not volume:
        return None
    return AmbienceConfig(
        volume, _stripped_text(values, "sound") or "office", _stripped_text(values, "recording_id") or None
    )


def _parse_comfort_noise(values: Mapping[str, Any]) -> AmbienceConfig | None:
    if values.get("enabled") is not True:
        return None
    return AmbienceConfig.comfort_noise(_clamped_number(values, "level_db", -60, -75, -45))


def _parse_cleaning(values: Mapping[str, Any]) -> CleaningConfig | None:
    suppression = SUPPRESSION_LEVELS.get(_stripped_text(values, "noise_suppression"), 0)
    has_gain = values.get("auto_gain") is True
    if not suppression and not has_gain:
        return None
    return CleaningConfig(suppression, round(_clamped_number(values, "level_db", -3, -31, -1)) if has_gain else None)


def _parse_volume(values: Mapping[str, Any]) -> AgentVolume:
    level = _clamped_number(values, "level_db", DEFAULT_LEVEL_DB, -30, -14)
    return AgentVolume(None if values.get("enabled") is False else level, values.get("recordings") is not False)


def _parse_disclosure(values: Mapping[str, Any]) -> DisclosureConfig | None:
    text, recording = _stripped_text(values, "text"), _stripped_text(values, "recording_id")
    return DisclosureConfig(text, recording or None) if text or recording else None


def _parse_voicemail(values: Mapping[str, Any]) -> VoicemailConfig:
    message, recording = _stripped_text(values, "message"), _stripped_text(values, "message_recording_id")
    action = values.get("action")
    if action not in get_args(VoicemailAction) or (action == "message" and not (message or recording)):
        action = "hang_up"
    return VoicemailConfig(
        is_on=values.get("enabled") is not False,
        action=cast(VoicemailAction, action),
        message=message,
        recording_id=recording or None,
        long_speech_s=_clamped_number(values, "long_speech_timeout", 8, 2, 30),
        asks_model=values.get("use_workflow_llm") is True,
        instruction=_stripped_text(values, "system_prompt"),
    )
