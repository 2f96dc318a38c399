"""Errors raised for a choice of models."""

from offhook.errors import DomainError, UnprocessableRequest


class UnknownModel(UnprocessableRequest):
    """Unknown model provider."""

    code = "unknown_model"

    def __init__(self, field: str, problem: str) -> None:
        """Takes a ``field`` as in a configuration, e.g. ``models.llm.model``, and the rest of the sentence about it."""
        super().__init__(f"{field} {problem}", field=field)


class KeyMasked(UnprocessableRequest):
    """The masked key does not match the stored key. Send the full key."""

    code = "key_masked"


class KeyMissing(UnprocessableRequest):
    """This provider requires an API key."""

    code = "key_missing"


class AddressUnknown(UnprocessableRequest):
    """The host of this address cannot be resolved. Check the address."""

    code = "address_unknown"


class ModelFormatUnknown(UnprocessableRequest):
    """Unrecognized model configuration format."""

    code = "model_configuration_invalid"


class VoiceFailed(DomainError):
    """Text-to-speech failed."""

    code = "voice_failed"
    status = 502


class VoiceTimedOut(DomainError):
    """Text-to-speech timed out. Try again."""

    code = "voice_timed_out"
    status = 504
