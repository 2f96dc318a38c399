"""Where the answers of a play come from, as those see it who ask."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from offhook.kit.json_values import JsonObject
from offhook.models.ports import ModelRef
from offhook.scenarios.answers.recorded import RecordedAnswer

# Who is asked: the model of the version that is played, and of the one that it is compared with.
AGENT: Final = "agent"
PUBLISHED: Final = "published"
# What answers in a play.
BUILT_IN: Final = "built-in"
RECORDED: Final = "recorded"
LIVE: Final = "live"
# Codes of scenarios without an answer.
NOT_RECORDED: Final = "answer_not_recorded"
MODEL_FAILED: Final = "model_failed"
OVER_BUDGET: Final = "answers_over_budget"


@dataclass(frozen=True, slots=True)
class Question:
    """One request. ``asked`` is ``agent``, ``published``, or ``helper`` with the name of a model, empty for the
    organization's own. ``occurrence`` counts equal requests of one conversation from 0: a model may answer the second one
    differently."""

    asked: str
    occurrence: int
    request: JsonObject
    model: str = ""

    @property
    def model_key(self) -> str:
        """Returns the name under which a file of recorded answers says how this model was configured."""
        return f"{self.asked}:{self.model}" if self.model else self.asked

    def as_json(self) -> JsonObject:
        return {"asked": self.asked, "occurrence": self.occurrence, "request": self.request, "model": self.model}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "Question":
        return cls(plain["asked"], plain["occurrence"], plain["request"], plain["model"])


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """An answer with the model that gave it."""

    answer: RecordedAnswer
    model: ModelRef
    is_recorded: bool

    def as_json(self) -> JsonObject:
        return {
            "answer": self.answer.as_json(),
            "provider": self.model.provider,
            "model": self.model.model,
            "is_recorded": self.is_recorded,
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "GivenAnswer":
        model = ModelRef("llm", str(plain["provider"]), str(plain["model"]))
        return cls(RecordedAnswer.from_json(plain["answer"]), model, bool(plain["is_recorded"]))


class AnswerProvider(Protocol):
    """Gives answers to a play, whose virtual time stands still while they are asked."""

    def answer_question(self, question: Question) -> GivenAnswer:
        """Blocks until the answer is complete. Raises AnswerRefused."""
        ...
