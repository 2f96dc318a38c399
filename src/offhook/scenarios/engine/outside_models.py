"""What a scenario asks of models other than the built-in one: of the agent's, of a caller's and of a judge's."""

from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from offhook.models.ports import Llm, LlmRequest, ModelRef

# Who is asked beside the agent.
Helper = Literal["caller", "judge"]


@dataclass(frozen=True, slots=True)
class ModelTrouble:
    """Why a conversation could not be held as it should: an answer that is not recorded, a vendor that failed."""

    code: str
    message: str


class AnswerRefused(Exception):
    """There is no answer. ``code`` is that of the fault that the scenario gets."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class HelperAnswer:
    """What a helper wrote, and which model it was."""

    text: str
    model: ModelRef
    is_recorded: bool


@runtime_checkable
class OutsideModels(Llm, Protocol):
    """The agent's model in one conversation, and the way to the models of its caller and judge."""

    @property
    def trouble(self) -> ModelTrouble | None:
        """Returns the first thing that went wrong in this conversation."""
        ...

    def report_trouble(self, code: str, message: str) -> None:
        """Notes that this conversation cannot be held as it should."""
        ...

    def ask_helper(self, helper: Helper, model: str | None, request: LlmRequest) -> HelperAnswer:
        """Waits for a whole answer, which takes no virtual time. ``model`` None: the organization's own. Raises
        AnswerRefused."""
        ...
