"""Reads, changes and upgrades an organization's model configuration; keys are sealed at rest."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.crypto import Keyring, SecretUnreadable
from offhook.kit.egress import EgressClient, EgressTimeout, HostNotFound
from offhook.kit.json_values import JsonObject
from offhook.models import repository
from offhook.models.configuration import configuration_formats, embeddings
from offhook.models.configuration.agent_languages import agent_languages, models_in
from offhook.models.configuration.resolution import ResolvedModels, require_offered
from offhook.models.errors import AddressUnknown, KeyMissing
from offhook.models.registry import ModelRegistry
from offhook.models.vendors import ModelChoice
from offhook.orgs import Caller, write_audit_entry

CURRENT_VERSION: Final = 2
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class StoredConfiguration:
    """An organization's stored configuration with its keys: ``configuration`` has the format of ``version``."""

    version: int
    configuration: dict[str, Any]

    @property
    def services(self) -> JsonObject:
        """Returns the configuration in the format of version 2."""
        return (
            self.configuration
            if self.version == CURRENT_VERSION
            else configuration_formats.upgrade_flat(self.configuration)
        )

    @property
    def source(self) -> Literal["organization", "default"]:
        return "organization" if self.services else "default"


@dataclass(frozen=True, slots=True)
class MigrationPreview:
    current_version: int
    changes: list[JsonObject]
    services: JsonObject


# The fields of a service that only users who configure models may send.
ADMIN_ONLY_FIELDS: Final = frozenset({"api_key", "base_url"})
NOTHING_STORED: Final = StoredConfiguration(CURRENT_VERSION, {})
ChangeHook = Callable[[AsyncSession, int], Awaitable[None]]


class ModelConfigurationStore:
    """Reads, validates and stores model configurations. Never asks a vendor."""

    def __init__(self, registry: ModelRegistry, keyring: Keyring, egress: EgressClient) -> None:
        self._registry = registry
        self._keyring = keyring
        self.egress = egress
        # each gets the organization's id in the transaction of every change
        self.on_change: list[ChangeHook] = []

    async def load_configuration(
        self, session: AsyncSession, organization_id: int, *, for_update: bool = False
    ) -> StoredConfiguration:
        """Returns the configuration with keys; omits and logs keys that no key of this installation opens."""
        row = await repository.find_configuration(session, organization_id, for_update=for_update)
        if row is None:
            return NOTHING_STORED
        keys: dict[str, str] = {}
        if row.sealed_keys is not None:
            try:
                keys = json.loads(self._keyring.open(row.sealed_keys, _seal_context(organization_id)))
            except SecretUnreadable:
                log.warning("model_keys_unreadable", organization_id=organization_id)
        if row.version == CURRENT_VERSION:
            return StoredConfiguration(CURRENT_VERSION, configuration_formats.with_keys(row.configuration, keys))
        return StoredConfiguration(row.version, {**row.configuration, **keys})

    def resolve_models(self, services: Mapping[str, Any]) -> ResolvedModels:
        """Returns the models for calls of an organization with these services. Raises UnknownModel (422)."""
        return self._registry.chooser.resolve(services, {})

    async def replace_configuration(
        self, session: AsyncSession, caller: Caller, sent: Mapping[str, Any], *, action: str = "models.configured"
    ) -> StoredConfiguration:
        """Replaces the configuration; see :func:`configuration_formats.keep_keys` for keys that are not sent.

        Raises UnknownModel, KeyMasked, KeyMissing (422).
        """
        before = await self.load_configuration(session, caller.organization_id, for_update=True)
        services = self.complete_services(sent, before.services)
        await self._save_configuration(session, caller, StoredConfiguration(CURRENT_VERSION, services))
        await write_audit_entry(session, caller, action, "model_configuration", _audit_data(before.services, services))
        return StoredConfiguration(CURRENT_VERSION, services)

    def complete_services(self, sent: Mapping[str, Any], stored: Mapping[str, Any]) -> JsonObject:
        """Returns ``sent`` with stored keys. Raises UnknownModel, KeyMasked, KeyMissing (422) when it is unusable."""
        services = configuration_formats.keep_keys(sent, stored)
        for choice in self.resolve_models(services).every_choice():
            self.check_choice(choice)
        embeddings.resolve_embedding_choice(services)
        return services

    def resolve_voice(self, service: Mapping[str, Any], stored: Mapping[str, Any]) -> ModelChoice:
        """Returns the voice that ``service`` selects, as in a workflow: with the stored key and address of its
        provider.

        A service with its own key or address is used unchanged. Raises UnknownModel, KeyMasked, KeyMissing (422).
        """
        if ADMIN_ONLY_FIELDS.isdisjoint(service):
            chosen = self._registry.chooser.resolve(stored, {"tts": service})
        else:
            chosen = self.resolve_models(configuration_formats.keep_keys({**stored, "tts": dict(service)}, stored))
        choice = chosen.by_kind["tts"][0]
        self.check_choice(choice)
        return choice

    def check_choice(self, choice: ModelChoice) -> None:
        """Raises UnknownModel, KeyMissing (422) for a choice that its vendor would refuse."""
        vendor = self._registry.catalog.find_vendor(choice.kind, choice.provider)
        require_offered(vendor, choice)
        if vendor.needs_key and not choice.api_key and choice.base_url is None:
            raise KeyMissing(f"{vendor.title} requires an API key.", field=f"models.{choice.kind}.api_key")
        if vendor.needs_access_key_id and choice.api_key and not choice.access_key_id:
            raise KeyMissing(
                f"{vendor.title} requires the ID of the access key.", field=f"models.{choice.kind}.access_key_id"
            )

    async def check_override(
        self, session: AsyncSession, organization_id: int, configurations: Mapping[str, Any] | None
    ) -> None:
        """Raises UnknownModel (422) unless the organization's calls can use a workflow's own choice (``models``)."""
        override = (configurations or {}).get("models")
        override = override if isinstance(override, Mapping) else {}
        languages = agent_languages(configurations or {})
        by_language: list[Mapping[str, Any]] = [models_in(tag, override, entry) for tag, entry in languages.items()]
        if not (override or by_language):
            return
        stored = await self.load_configuration(session, organization_id)
        for own in by_language or [override]:
            chosen = self._registry.chooser.resolve(stored.services, own)
            for kind, choices in chosen.by_kind.items():
                # The organization's own choices are not this workflow's fault.
                for choice in choices if kind in own else ():
                    require_offered(self._registry.catalog.find_vendor(kind, choice.provider), choice)
            if chosen.realtime is not None and ("realtime" in own or "is_realtime" in own):
                self.check_choice(chosen.realtime)

    async def check_addresses(self, services: Mapping[str, Any]) -> None:
        """Resolves the services' addresses; call it before the transaction begins, lookups may take seconds.

        Raises AddressRefused, UrlInvalid, AddressUnknown (422) for addresses that are blocked for calls.
        """
        for place, service in configuration_formats.iter_services(dict(services)):
            if not service.get("base_url"):
                continue
            try:
                await self.egress.check_url(service["base_url"])
            except HostNotFound as error:
                raise AddressUnknown(f"{place}.base_url: {error.message}") from error
            except EgressTimeout:
                log.info("model_address_unchecked", place=place)

    async def preview_migration(
        self, session: AsyncSession, organization_id: int, *, for_update: bool = False
    ) -> MigrationPreview:
        """Previews :meth:`migrate`; empty at version 2. Raises UnknownModel (422) when the migration is impossible."""
        stored = await self.load_configuration(session, organization_id, for_update=for_update)
        if stored.version == CURRENT_VERSION:
            return MigrationPreview(CURRENT_VERSION, [], stored.services)
        self.resolve_models(stored.services)
        return MigrationPreview(
            stored.version, configuration_formats.migration_changes(stored.configuration), stored.services
        )

    async def migrate(self, session: AsyncSession, caller: Caller) -> StoredConfiguration:
        """Upgrades to version 2 in the caller's transaction; repeating it does nothing. Raises UnknownModel (422)."""
        preview = await self.preview_migration(session, caller.organization_id, for_update=True)
        migrated = StoredConfiguration(CURRENT_VERSION, preview.services)
        if preview.current_version != CURRENT_VERSION:
            await self._save_configuration(session, caller, migrated)
            data = {"from": preview.current_version, "to": CURRENT_VERSION, "changes": len(preview.changes)}
            await write_audit_entry(session, caller, "models.migrated", "model_configuration", data)
        return migrated

    async def put_flat(self, session: AsyncSession, caller: Caller, flat: Mapping[str, Any]) -> StoredConfiguration:
        """Stores flat keys (version 1) unchanged, for ``offhook import``. Raises UnknownModel (422)."""
        stored = StoredConfiguration(1, dict(flat))
        self.complete_services(stored.services, {})
        await self._save_configuration(session, caller, stored)
        await write_audit_entry(
            session, caller, "models.imported", "model_configuration", {"version": 1, "keys": sorted(flat)}
        )
        return stored

    async def _save_configuration(self, session: AsyncSession, caller: Caller, stored: StoredConfiguration) -> None:
        if stored.version == CURRENT_VERSION:
            configuration, keys = configuration_formats.without_keys(stored.configuration)
        else:
            keys = {
                name: value
                for name, value in stored.configuration.items()
                if configuration_formats.FLAT_KEY_PATTERN.search(name)
            }
            configuration = {name: value for name, value in stored.configuration.items() if name not in keys}
        sealed = None
        if keys:
            sealed = self._keyring.seal(json.dumps(keys).encode(), _seal_context(caller.organization_id))
        await repository.upsert_configuration(
            session,
            caller.organization_id,
            version=stored.version,
            configuration=configuration,
            sealed_keys=sealed,
            updated_by=caller.user_id,
        )
        for hook in self.on_change:
            await hook(session, caller.organization_id)


def describe_choice(choice: ModelChoice) -> JsonObject:
    """Describes a choice for display."""
    shown: JsonObject = {"provider": choice.provider, "model": choice.model, "has_key": bool(choice.api_key)}
    if choice.is_guarded:  # the operator's own addresses are not shown
        shown["base_url"] = choice.base_url
    if choice.kind == "llm":
        return {**shown, "temperature": choice.temperature, "max_tokens": choice.max_tokens}
    if choice.kind == "tts":
        return {**shown, "voice_id": choice.voice_id, "speed": choice.speed}
    if choice.kind == "realtime":
        return {**shown, "voice_id": choice.voice_id}
    return {**shown, "language": choice.language}


def _audit_data(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, object]:
    """Returns the change without keys: the current services, and which of them gained or lost a key."""
    shown, new = configuration_formats.without_keys(after)
    _, old = configuration_formats.without_keys(before)
    return {"configuration": shown, "keys_changed": sorted(p for p in {*new, *old} if new.get(p) != old.get(p))}


def _seal_context(organization_id: int) -> bytes:
    return f"models:{organization_id}".encode()
