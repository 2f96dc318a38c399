"""Opens the answers of plays: the agent's model, those of callers and judges, what is recorded, and who pays."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from offhook.errors import DomainError
from offhook.kit.database.database import Database
from offhook.models import prices
from offhook.models.organization_models import ChosenLlm
from offhook.models.prices import BillingPolicy
from offhook.scenarios.answers.play_answers import AnswerBudget, AskedModel, PlayAnswers, RecordedAnswers
from offhook.scenarios.answers.questions import MODEL_FAILED, RECORDED, Question
from offhook.scenarios.answers.store import AnswerStore
from offhook.scenarios.engine.outside_models import AnswerRefused
from offhook.scenarios.errors import ModelRequired
from offhook.voice.usage_counter import UsageCounter

BUILT_IN_PROVIDER = "builtin"
NOTE = "Answer in a scenario"


class LlmFinder(Protocol):
    """Finds language models with the keys of organizations."""

    async def find_llm(
        self,
        organization_id: int,
        configurations: Mapping[str, Any],
        wanted: Mapping[str, str] | None = None,
        *,
        needs_key: bool = True,
    ) -> ChosenLlm:
        """Returns the first language model of an agent, or ``wanted``. Raises UnknownModel, KeyMissing (422)."""
        ...


@dataclass(frozen=True, slots=True)
class WantedAnswers:
    """``configurations`` are those of the versions that are played, by ``agent`` and ``published``. ``usage``: what an earlier
    attempt has used of the budget."""

    organization_id: int
    workflow_id: int
    mode: str
    records: bool
    budget_cents: int
    configurations: Mapping[str, Mapping[str, Any]]
    usage: Mapping[str, Any] | None = None


class AnswerDesk:
    """One per process."""

    def __init__(
        self, db: Database, store: AnswerStore, models: LlmFinder, billing: Callable[[], BillingPolicy]
    ) -> None:
        self._db = db
        self.store = store
        self._models = models
        self._billing = billing

    async def find_model(
        self, organization_id: int, configurations: Mapping[str, Any], name: str = "", *, needs_key: bool = True
    ) -> AskedModel:
        """Returns an agent's model, or the one with this name (provider/model). ``needs_key``: it will be asked. Raises ModelRequired, UnknownModel,
        KeyMissing (422)."""
        chosen = await self._models.find_llm(
            organization_id, configurations, parse_model_name(name), needs_key=needs_key
        )
        ref = chosen.llm.model_ref
        if ref.provider == BUILT_IN_PROVIDER:
            raise ModelRequired
        return AskedModel(ref.provider, ref.model, chosen.temperature, chosen.max_tokens, chosen.llm)

    async def open_play(
        self, wanted: WantedAnswers, shelf: RecordedAnswers | None = None
    ) -> tuple[PlayAnswers, Mapping[str, AskedModel]]:
        """Returns the answers of a play, and the models of its versions; ``shelf`` takes the place of what is recorded for
        the agent. Raises as :meth:`find_model`."""
        needs_key = wanted.mode != RECORDED or wanted.records
        agents = {
            asked: await self.find_model(wanted.organization_id, configurations, needs_key=needs_key)
            for asked, configurations in wanted.configurations.items()
        }

        async def find_model(question: Question) -> AskedModel:
            if question.asked in agents:
                return agents[question.asked]
            try:
                return await self.find_model(wanted.organization_id, {}, question.model, needs_key=needs_key)
            except DomainError as error:
                raise AnswerRefused(MODEL_FAILED, error.message) from None

        async def charge_answer() -> None:
            async with self._db.transaction() as session:
                await self._billing().charge_request(session, wanted.organization_id, NOTE)

        async with self._db.transaction() as session:
            price_list = await prices.price_list(session, wanted.organization_id)
        budget = AnswerBudget(wanted.budget_cents, price_list, charge_answer)
        budget.usage = UsageCounter(wanted.usage)
        shelf = shelf or self.store.of_agent(wanted.organization_id, wanted.workflow_id)
        return PlayAnswers(wanted.mode, shelf, find_model, budget, records=wanted.records), agents


def parse_model_name(name: str) -> dict[str, str] | None:
    """Returns the provider and model of ``provider/model``; None for no name."""
    provider, _, model = name.partition("/")
    return {"provider": provider, **({"model": model} if model else {})} if name else None
