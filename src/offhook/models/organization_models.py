"""The models for an organization's calls: its stored configuration below the workflow's choice."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import structlog

from offhook.kit.database.database import Database
from offhook.models.errors import UnknownModel
from offhook.models.ports import CallModels, Llm
from offhook.models.prices import BillingPolicy
from offhook.models.registry import ModelRegistry
from offhook.models.service import ModelConfigurationStore

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ChosenLlm:
    """A language model with how it was configured to answer."""

    llm: Llm
    temperature: float
    max_tokens: int | None


class OrganizationModels:
    """Implements ``ModelSource``."""

    def __init__(
        self,
        registry: ModelRegistry,
        configurations: ModelConfigurationStore,
        db: Database,
        billing: Callable[[], BillingPolicy],
    ) -> None:
        self._billing = billing
        self._registry = registry
        self._configurations = configurations
        self._db = db

    def for_call(self, configurations: Mapping[str, Any]) -> CallModels:
        return self._registry.for_call(configurations)

    async def for_request(self, organization_id: int, note: str) -> CallModels:
        """Returns the models for one request outside of a conversation and charges it. Raises a DomainError (402) when
        it cannot be paid."""
        async with self._db.transaction() as session:
            await self._billing().charge_request(session, organization_id, note)
        return await self.for_organization(organization_id, {})

    async def for_organization(self, organization_id: int, configurations: Mapping[str, Any]) -> CallModels:
        """Returns the models of a call.

        Configurations are checked when they are saved. If one no longer fits (a model was withdrawn), the call still
        proceeds: first without the workflow's choice, then without the organization's.
        """
        async with self._db.transaction() as session:
            stored = await self._configurations.load_configuration(session, organization_id)
        try:
            return self._registry.for_call(configurations, stored.services)
        except UnknownModel as error:
            log.warning("model_configuration_unusable", organization_id=organization_id, reason=error.message)
        try:
            return self._registry.for_call({}, stored.services)
        except UnknownModel:
            return self._registry.for_call({})

    async def find_llm(
        self,
        organization_id: int,
        configurations: Mapping[str, Any],
        wanted: Mapping[str, str] | None = None,
        *,
        needs_key: bool = True,
    ) -> ChosenLlm:
        """Returns the first language model of an agent's calls, or ``wanted`` (provider and model) with the organization's
        key; no other one takes its place. Without ``needs_key`` it may be one that cannot be asked. Raises UnknownModel, KeyMissing (422)."""
        async with self._db.transaction() as session:
            stored = await self._configurations.load_configuration(session, organization_id)
        choice = self._registry.choose_llm(configurations, stored.services, wanted)
        if needs_key:
            self._configurations.check_choice(choice)
        return ChosenLlm(cast(Llm, self._registry.port_for(choice)), choice.temperature, choice.max_tokens)
