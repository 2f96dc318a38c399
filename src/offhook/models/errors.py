"""What can be wrong with a choice of models."""

from offhook.errors import DomainError, UnprocessableRequest


class UnknownModel(UnprocessableRequest):
    """There is no such model provider."""

    code = "unknown_model"

    def __init__(self, field: str, problem: str) -> None:
        """``field`` as in a configuration, ``models.llm.model``; ``problem`` goes on from it to a sentence."""
        self.field = field
        super().__init__(f"{field} {problem}")


class KeyMasked(UnprocessableRequest):
    """A masked key was sent that is not the mask of the stored one."""

    code = "key_masked"


class KeyMissing(UnprocessableRequest):
    """This provider needs an API key."""

    code = "key_missing"


class AddressUnknown(UnprocessableRequest):
    """The host of this address is not known."""

    code = "address_unknown"


class ModelFormatUnknown(UnprocessableRequest):
    """This is no model configuration."""

    code = "model_configuration_invalid"


class VoiceFailed(DomainError):
    """The vendor of this voice could not speak."""

    code = "voice_failed"
    status = 502


class VoiceTimedOut(DomainError):
    """The vendor of this voice took too long to speak: try again."""

    code = "voice_timed_out"
    status = 504
