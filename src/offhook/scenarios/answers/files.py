"""Recorded answers as a file of JSON, for plays without a server."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from offhook.kit.json_values import JsonObject
from offhook.scenarios.answers.play_answers import AskedModel
from offhook.scenarios.answers.questions import AGENT, MODEL_FAILED, Question
from offhook.scenarios.answers.recorded import KeptAnswer, RecordedAnswer
from offhook.scenarios.engine.outside_models import AnswerRefused
from offhook.scenarios.errors import AnswersFileInvalid

FORMAT: Final = "offhook-recorded-answers/1"
MAX_FILE_BYTES: Final = 64 * 1024 * 1024


class AnswersFile:
    """Implements RecordedAnswers in memory. ``models`` has for each who was asked how its model was configured: without
    keys and addresses, so that the file can be kept beside the scenarios."""

    def __init__(self) -> None:
        self.models: dict[str, JsonObject] = {}
        self._answers: dict[tuple[str, int], RecordedAnswer] = {}

    async def find_answer(self, name: str, occurrence: int) -> RecordedAnswer | None:
        return self._answers.get((name, occurrence))

    async def keep_answer(self, kept: KeptAnswer) -> RecordedAnswer:
        self.models[kept.asked] = kept.model
        return self._answers.setdefault((kept.name, kept.occurrence), kept.answer)

    async def find_model(self, question: Question) -> AskedModel:
        """Returns the model that was asked when the file was recorded."""
        name = question.model_key
        if name not in self.models:
            who = (
                "the agent's model"
                if question.asked == AGENT
                else f"the model {question.model or 'of callers and judges'}"
            )
            raise AnswerRefused(MODEL_FAILED, f"the file of recorded answers does not say which one {who} was.")
        return read_model(self.models[name])

    def as_json(self) -> JsonObject:
        models: JsonObject = dict(sorted(self.models.items()))
        answers: list[Any] = [
            {"request": name, "occurrence": occurrence, **answer.as_json()}
            for (name, occurrence), answer in sorted(self._answers.items())
        ]
        return {"format": FORMAT, "models": models, "answers": answers}

    @classmethod
    def from_json(cls, plain: Any) -> "AnswersFile":
        """Raises AnswersFileInvalid (422)."""
        file = cls()
        try:
            if plain["format"] != FORMAT:
                raise AnswersFileInvalid
            file.models = {str(name): read_model(model).describe_model() for name, model in plain["models"].items()}
            for entry in plain["answers"]:
                key = str(entry["request"]), int(entry["occurrence"])
                file._answers[key] = RecordedAnswer.from_json(entry)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise AnswersFileInvalid from error
        return file

    @classmethod
    def read_file(cls, path: Path) -> "AnswersFile":
        """Raises OSError and AnswersFileInvalid (422)."""
        data = path.read_bytes()
        if len(data) > MAX_FILE_BYTES:
            raise AnswersFileInvalid
        try:
            return cls.from_json(json.loads(data))
        except (ValueError, RecursionError) as error:
            raise AnswersFileInvalid from error

    def write_file(self, path: Path) -> None:
        """Replaces the file at once. Raises OSError."""
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        draft.write_text(json.dumps(self.as_json(), ensure_ascii=False, indent=1) + "\n", "utf-8")
        draft.replace(path)


def read_model(plain: Mapping[str, Any]) -> AskedModel:
    tokens = plain["max_tokens"]
    return AskedModel(
        str(plain["provider"]),
        str(plain["model"]),
        float(plain["temperature"]),
        int(tokens) if tokens is not None else None,
    )
