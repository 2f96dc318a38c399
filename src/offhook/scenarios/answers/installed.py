"""The models of the installation's settings, for agents that belong to no organization."""

from collections.abc import Mapping
from typing import Any, cast

from offhook.errors import DomainError
from offhook.models.ports import Llm
from offhook.models.registry import BUILTIN, ModelRegistry
from offhook.scenarios.answers.desk import parse_model_name
from offhook.scenarios.answers.play_answers import AskedModel
from offhook.scenarios.answers.questions import MODEL_FAILED, Question
from offhook.scenarios.engine.outside_models import AnswerRefused
from offhook.scenarios.errors import ModelRequired


class InstalledModels:
    """``configurations`` are those of the versions that are played, by who is asked."""

    def __init__(self, registry: ModelRegistry, configurations: Mapping[str, Mapping[str, Any]]) -> None:
        self._registry = registry
        self._configurations = configurations

    async def find_model(self, question: Question) -> AskedModel:
        """Raises ModelRequired, UnknownModel (422); for helpers AnswerRefused."""
        is_agent = question.asked in self._configurations
        try:
            choice = self._registry.choose_llm(
                self._configurations.get(question.asked, {}), {}, parse_model_name(question.model)
            )
            if choice.provider == BUILTIN:
                raise ModelRequired
        except DomainError as error:
            if is_agent:
                raise
            raise AnswerRefused(MODEL_FAILED, error.message) from None
        llm = cast(Llm, self._registry.port_for(choice))
        return AskedModel(choice.provider, choice.model, choice.temperature, choice.max_tokens, llm)

    async def close(self) -> None:
        await self._registry.close()
