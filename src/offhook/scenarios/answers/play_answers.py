"""Answers the questions of one play: from what is recorded, or by asking the models, under a budget."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final, Protocol

from offhook.errors import DomainError
from offhook.kit.json_values import JsonObject
from offhook.models.ports import Llm, ModelError, ModelRef
from offhook.models.prices.calculation import PricedUsage, PriceList
from offhook.scenarios.answers.questions import (
    MODEL_FAILED,
    NOT_RECORDED,
    OVER_BUDGET,
    RECORDED,
    GivenAnswer,
    Question,
)
from offhook.scenarios.answers.recorded import KeptAnswer, RecordedAnswer
from offhook.scenarios.answers.requests import hash_request, read_request
from offhook.scenarios.answers.vendors import ask_vendor
from offhook.scenarios.engine.outside_models import AnswerRefused
from offhook.voice.usage_counter import UsageCounter

# Of one play; a model without a known price is only limited by this.
MAX_REQUESTS: Final = 2000


@dataclass(frozen=True, slots=True)
class AskedModel:
    """A model with how it is configured to answer, and its port; None where it can only be found in recordings."""

    provider: str
    name: str
    temperature: float
    max_tokens: int | None
    llm: Llm | None = None

    @property
    def ref(self) -> ModelRef:
        return ModelRef("llm", self.provider, self.name)

    def describe_model(self) -> JsonObject:
        return {
            "provider": self.provider,
            "model": self.name,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
        }


class RecordedAnswers(Protocol):
    """Answers by the name of their request and their occurrence."""

    async def find_answer(self, name: str, occurrence: int) -> RecordedAnswer | None: ...

    async def keep_answer(self, kept: KeptAnswer) -> RecordedAnswer:
        """Keeps an answer, and returns the one that is kept: another play may have been first. Raises AnswerRefused."""
        ...


class AnswerBudget:
    """What a play may spend on answers. ``charge`` is asked before each request, and refuses with a DomainError."""

    def __init__(
        self, limit_cents: int, prices: PriceList | None = None, charge: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self.usage = UsageCounter()
        self.requests = 0
        self._limit_cents = limit_cents
        self._prices = prices or PriceList(())
        self._charge = charge

    @property
    def cost_cents(self) -> Decimal:
        """Returns what the answers have cost so far, as far as prices are known."""
        lines = self._prices.price_usage(self.usage.as_dict(), datetime.now(UTC).date())
        return sum((line.cost_cents for line in lines if isinstance(line, PricedUsage)), Decimal(0))

    async def begin_request(self) -> None:
        """Raises AnswerRefused when nothing may be spent any more."""
        if self.cost_cents >= self._limit_cents:
            raise AnswerRefused(
                OVER_BUDGET,
                f"The models' answers cost more than {self._limit_cents} cents, the budget of this run.",
            )
        if self.requests >= MAX_REQUESTS:
            raise AnswerRefused(OVER_BUDGET, f"A run is limited to {MAX_REQUESTS} model requests.")
        self.requests += 1
        if self._charge is not None:
            try:
                await self._charge()
            except DomainError as error:
                raise AnswerRefused(OVER_BUDGET, error.message) from None

    def count_answer(self, model: ModelRef, request: JsonObject, answer: RecordedAnswer) -> None:
        self.usage.add_units(model, "calls", 1)
        usage = answer.usage
        if usage is None:
            self.usage.add_llm_estimate(model, read_request(request), answer.text)
        else:
            self.usage.add_llm_usage(model, usage)


# Returns the model that a question is for. Raises AnswerRefused.
FindModel = Callable[[Question], Awaitable[AskedModel]]


class PlayAnswers:
    """One per play. ``records``: answers that are not recorded are asked for, and kept."""

    def __init__(
        self, mode: str, shelf: RecordedAnswers, find_model: FindModel, budget: AnswerBudget, *, records: bool = False
    ) -> None:
        self._mode = mode
        self._shelf = shelf
        self._find_model = find_model
        self._records = records
        self._models: dict[tuple[str, str], AskedModel] = {}
        self.budget = budget

    async def give_answer(self, question: Question) -> GivenAnswer:
        """Returns the answer to a question. Raises AnswerRefused."""
        model = await self.model_of(question)
        if self._mode != RECORDED:
            return GivenAnswer(await self._ask(model, question), model.ref, is_recorded=False)
        name = hash_request(model.describe_model(), question.request)
        found = await self._shelf.find_answer(name, question.occurrence)
        if found is None:
            if not self._records:
                raise AnswerRefused(
                    NOT_RECORDED,
                    f"no answer of {model.provider} {model.name} is recorded for this request. "
                    "Run the scenario with “record” to add it.",
                )
            answer = await self._ask(model, question)
            kept = KeptAnswer(name, question.occurrence, answer, question.model_key, model.describe_model())
            found = await self._shelf.keep_answer(kept)
        return GivenAnswer(found, model.ref, is_recorded=True)

    async def reply_to(self, plain: Any) -> JsonObject:
        """Returns ``{answer}`` or ``{refused}`` for a question as JSON."""
        try:
            return {"answer": (await self.give_answer(Question.from_json(plain))).as_json()}
        except AnswerRefused as refused:
            return {"refused": {"code": refused.code, "message": str(refused)}}

    async def model_of(self, question: Question) -> AskedModel:
        """Returns the model that a question is for. Raises AnswerRefused, and of versions what their models are found with."""
        key = question.asked, question.model
        if key not in self._models:
            self._models[key] = await self._find_model(question)
        return self._models[key]

    async def _ask(self, model: AskedModel, question: Question) -> RecordedAnswer:
        if model.llm is None:
            raise AnswerRefused(MODEL_FAILED, f"{model.provider} {model.name} cannot be used here.")
        await self.budget.begin_request()
        try:
            answer = await ask_vendor(model.llm, read_request(question.request))
        except ModelError as error:
            raise AnswerRefused(
                MODEL_FAILED, f"{model.provider} {model.name} did not answer: {error} ({error.code})"
            ) from None
        self.budget.count_answer(model.ref, question.request, answer)
        return answer
