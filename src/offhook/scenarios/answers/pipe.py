"""The end of a playing process that has no network: it asks the process that started it, and waits."""

import json
from typing import TextIO

from offhook.scenarios.answers.questions import MODEL_FAILED, GivenAnswer, Question
from offhook.scenarios.engine.outside_models import AnswerRefused


class PipedAnswers:
    """Implements AnswerProvider with a line of JSON for each question, and one for each answer."""

    def __init__(self, questions: TextIO, answers: TextIO) -> None:
        self._questions = questions
        self._answers = answers

    def answer_question(self, question: Question) -> GivenAnswer:
        self._questions.write(json.dumps({"ask": question.as_json()}) + "\n")
        self._questions.flush()
        line = self._answers.readline()
        if not line:
            raise AnswerRefused(MODEL_FAILED, "the process that asks the models is gone.")
        reply = json.loads(line)
        if "refused" in reply:
            raise AnswerRefused(reply["refused"]["code"], reply["refused"]["message"])
        return GivenAnswer.from_json(reply["answer"])
