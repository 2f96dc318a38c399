"""Responses with recorded answers."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from offhook.kit.schema import Schema
from offhook.scenarios.answers.files import FORMAT
from offhook.scenarios.answers.store import AnswerCount


class RecordedAnswersResponse(Schema):
    """What is recorded for an agent's scenarios."""

    count: int
    size_bytes: int
    recorded_at: datetime | None = Field(description="When the newest answer was recorded")

    @classmethod
    def from_count(cls, found: AnswerCount) -> "RecordedAnswersResponse":
        return cls(count=found.count, size_bytes=found.size_bytes, recorded_at=found.recorded_at)


class RecordedAnswersFile(Schema):
    """A file of recorded answers, as `offhook test --cassette` reads it."""

    format: Literal["offhook-recorded-answers/1"] = FORMAT
    models: dict[str, Any] = Field(description="How the models were configured that answered, without keys")
    answers: list[Any] = Field(description="Answers by the hash of their request, in pieces with their times")
