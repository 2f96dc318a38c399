"""The model of one conversation whose answers come from elsewhere: a vendor, or a recording."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator

from offhook.models.ports import LlmEvent, LlmRequest, ModelError, ModelRef
from offhook.scenarios.answers.questions import AGENT, AnswerProvider, GivenAnswer, Question
from offhook.scenarios.answers.requests import describe_request, hash_request
from offhook.scenarios.engine.outside_models import AnswerRefused, Helper, HelperAnswer, ModelTrouble

HELPER = "helper"


class AnsweredLlm:
    """Implements OutsideModels. Each piece of an answer comes as late on virtual time as it came from the vendor.

    A caller who interrupts leaves the rest of an answer unheard; the vendor has generated all of it.
    """

    def __init__(self, source: AnswerProvider, ref: ModelRef, asked: str = AGENT) -> None:
        self.model_ref = ref
        self.trouble: ModelTrouble | None = None
        self._source = source
        self._asked = asked
        self._seen: Counter[str] = Counter()
        self._step = ""

    async def stream(self, request: LlmRequest) -> AsyncGenerator[LlmEvent, None]:
        if request.hint is not None:
            self._step = request.hint.name
        loop = asyncio.get_running_loop()
        asked_at = loop.time()
        try:
            given = self._ask(self._asked, "", request)
        except AnswerRefused as refused:
            raise ModelError(refused.code, str(refused), retryable=False) from None
        for piece in given.answer.pieces:
            await asyncio.sleep(max(0.0, asked_at + piece.at_s - loop.time()))
            yield piece.event

    def report_trouble(self, code: str, message: str) -> None:
        self.trouble = self.trouble or ModelTrouble(code, message)

    def ask_helper(self, helper: Helper, model: str | None, request: LlmRequest) -> HelperAnswer:
        given = self._ask(HELPER, model or "", request, of=f"the {helper}")
        return HelperAnswer(given.answer.text, given.model, given.is_recorded)

    def _ask(self, asked: str, model: str, request: LlmRequest, *, of: str = "") -> GivenAnswer:
        if self.trouble is not None:
            # what follows rests on an answer that never came
            raise AnswerRefused(self.trouble.code, self.trouble.message)
        plain = describe_request(request)
        key = hash_request({"asked": asked, "model": model}, plain)
        occurrence = self._seen[key]
        self._seen[key] += 1
        try:
            return self._source.answer_question(Question(asked, occurrence, plain, model))
        except AnswerRefused as refused:
            where = of or (f"the step “{self._step}”" if self._step else "the agent")
            self.trouble = ModelTrouble(refused.code, f"{where}: {refused}")
            raise AnswerRefused(refused.code, self.trouble.message) from None
