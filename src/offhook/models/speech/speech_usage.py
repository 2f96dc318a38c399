"""The usage of speech-to-speech models."""

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class SpeechUsage:
    """The tokens of one response by modality; cached ones are not part of the other input.

    A vendor that charges for time has ``seconds`` of audio, sent and received, and ``messages`` of text instead;
    ``responses`` is 0 for what belongs to none.
    """

    text_input_tokens: int = 0
    text_cached_tokens: int = 0
    text_output_tokens: int = 0
    audio_input_tokens: int = 0
    audio_cached_tokens: int = 0
    audio_output_tokens: int = 0
    seconds: float = 0.0
    messages: int = 0
    responses: int = 1

    def counts(self) -> dict[str, float]:
        """Returns what is charged by name, without zeros."""
        values: dict[str, float] = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value and name != "responses"}
