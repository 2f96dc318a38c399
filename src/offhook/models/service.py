"""The rules of an organization's model configuration: reading, changing, upgrading it, with keys sealed at rest."""

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
from offhook.models.configuration.resolution import ResolvedModels
from offhook.models.errors import AddressUnknown, KeyMissing
from offhook.models.registry import ModelRegistry
from offhook.models.vendors import ModelChoice
from offhook.orgs import Caller, write_audit_entry

CURRENT_VERSION: Final = 2
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class StoredConfiguration:
    """What an organization has stored, with its keys: ``configuration`` in the format of ``version``."""

    version: int
    configuration: dict[str, Any]

    @property
    def services(self) -> JsonObject:
        """In the format of version 2, whatever is stored."""
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


# What only those who configure may send of a service.
ADMIN_ONLY_FIELDS: Final = frozenset({"api_key", "base_url"})
NOTHING_STORED: Final = StoredConfiguration(CURRENT_VERSION, {})
ChangeHook = Callable[[AsyncSession, int], Awaitable[None]]


class ModelConfigurationStore:
    """Never asks a vendor."""

    def __init__(self, registry: ModelRegistry, keyring: Keyring, egress: EgressClient) -> None:
        self._registry = registry
        self._keyring = keyring
        self.egress = egress
        self._on_change: list[ChangeHook] = []

    def on_change(self, hook: ChangeHook) -> None:
        """``hook`` gets the organization's id in the transaction of every change."""
        self._on_change.append(hook)

    async def load_configuration(
        self, session: AsyncSession, organization_id: int, *, for_update: bool = False
    ) -> StoredConfiguration:
        """With the keys; those that no key of this installation opens are left out and logged."""
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
        """What calls of an organization with these services use. UnknownModel (422)."""
        return self._registry.chooser.resolve(services, {})

    async def replace_configuration(
        self, session: AsyncSession, caller: Caller, sent: Mapping[str, Any], *, action: str = "models.configured"
    ) -> StoredConfiguration:
        """Replace the configuration; see :func:`formats.keep_keys` for keys that are not sent.

        UnknownModel, KeyMasked, KeyMissing (422).
        """
        before = await self.load_configuration(session, caller.organization_id, for_update=True)
        services = self.complete_services(sent, before.services)
        await self._save_configuration(session, caller, StoredConfiguration(CURRENT_VERSION, services))
        await write_audit_entry(session, caller, action, "model_configuration", _audit_data(before.services, services))
        return StoredConfiguration(CURRENT_VERSION, services)

    def complete_services(self, sent: Mapping[str, Any], stored: Mapping[str, Any]) -> JsonObject:
        """``sent`` with its stored keys, when it can be used. UnknownModel, KeyMasked, KeyMissing (422)."""
        services = configuration_formats.keep_keys(sent, stored)
        for choices in self.resolve_models(services).by_kind.values():
            for choice in choices:
                self._check_key(choice)
        embeddings.resolve_embedding_choice(services)
        return services

    def resolve_voice(self, service: Mapping[str, Any], stored: Mapping[str, Any]) -> ModelChoice:
        """The voice that ``service`` asks for, as a workflow would: with the stored key and address of its provider.

        One with a key or an address of its own is taken as it is. UnknownModel, KeyMasked, KeyMissing (422).
        """
        if ADMIN_ONLY_FIELDS.isdisjoint(service):
            chosen = self._registry.chooser.resolve(stored, {"tts": service})
        else:
            chosen = self.resolve_models(configuration_formats.keep_keys({**stored, "tts": dict(service)}, stored))
        choice = chosen.by_kind["tts"][0]
        self._check_key(choice)
        return choice

    def _check_key(self, choice: ModelChoice) -> None:
        vendor = self._registry.catalog.find_vendor(choice.kind, choice.provider)
        if vendor.needs_key and not choice.api_key and choice.base_url is None:
            raise KeyMissing(f"{vendor.title} needs an api_key (models.{choice.kind}).")

    async def check_override(
        self, session: AsyncSession, organization_id: int, configurations: Mapping[str, Any] | None
    ) -> None:
        """Returns whether calls of the organization could use a workflow's own choice (``models``). UnknownModel (422)."""
        override = (configurations or {}).get("models")
        if isinstance(override, Mapping) and override:
            stored = await self.load_configuration(session, organization_id)
            self._registry.chooser.resolve(stored.services, override)

    async def check_addresses(self, services: Mapping[str, Any]) -> None:
        """Look the services' addresses up; ask before the transaction begins, names may take seconds.

        AddressRefused, UrlInvalid, AddressUnknown (422) for what calls would not be let through to.
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
        """What :meth:`migrate` would do; nothing at version 2. UnknownModel (422) when it cannot."""
        stored = await self.load_configuration(session, organization_id, for_update=for_update)
        if stored.version == CURRENT_VERSION:
            return MigrationPreview(CURRENT_VERSION, [], stored.services)
        self.resolve_models(stored.services)
        return MigrationPreview(
            stored.version, configuration_formats.migration_changes(stored.configuration), stored.services
        )

    async def migrate(self, session: AsyncSession, caller: Caller) -> StoredConfiguration:
        """To version 2, in the caller's transaction; a second time does nothing. UnknownModel (422)."""
        preview = await self.preview_migration(session, caller.organization_id, for_update=True)
        migrated = StoredConfiguration(CURRENT_VERSION, preview.services)
        if preview.current_version != CURRENT_VERSION:
            await self._save_configuration(session, caller, migrated)
            data = {"from": preview.current_version, "to": CURRENT_VERSION, "changes": len(preview.changes)}
            await write_audit_entry(session, caller, "models.migrated", "model_configuration", data)
        return migrated

    async def put_flat(self, session: AsyncSession, caller: Caller, flat: Mapping[str, Any]) -> StoredConfiguration:
        """Store flat keys (version 1) as they are, for ``offhook import``. UnknownModel (422)."""
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
        for hook in self._on_change:
            await hook(session, caller.organization_id)


def describe_choice(choice: ModelChoice) -> JsonObject:
    """A choice as it may be shown."""
    shown: JsonObject = {"provider": choice.provider, "model": choice.model, "has_key": bool(choice.api_key)}
    if choice.is_guarded:  # the operator's own addresses are not shown
        shown["base_url"] = choice.base_url
    if choice.kind == "llm":
        return {**shown, "temperature": choice.temperature, "max_tokens": choice.max_tokens}
    if choice.kind == "tts":
        return {**shown, "voice_id": choice.voice_id, "speed": choice.speed}
    return {**shown, "language": choice.language}


def _audit_data(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, object]:
    """What changed, without any key: the services as they are now, and whose keys are new or gone."""
    shown, new = configuration_formats.without_keys(after)
    _, old = configuration_formats.without_keys(before)
    return {"configuration": shown, "keys_changed": sorted(p for p in {*new, *old} if new.get(p) != old.get(p))}


def _seal_context(organization_id: int) -> bytes:
    return f"models:{organization_id}".encode()
