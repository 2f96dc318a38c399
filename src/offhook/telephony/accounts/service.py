"""Manages an organization's carrier accounts: their fields, their secrets, and the check with the carrier."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, count
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.json_values import JsonObject
from offhook.orgs import Caller, write_audit_entry
from offhook.telephony.accounts import repository
from offhook.telephony.accounts.account_checks import verify_credentials
from offhook.telephony.accounts.config_fields import field_problem, mask_secret, read_fields
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.accounts.public_urls import PublicAddress
from offhook.telephony.errors import (
    ConfigurationInvalid,
    ConfigurationNameTaken,
    ManagedConfiguration,
    ProviderChange,
)
from offhook.telephony.ports import CarrierAccount, CarrierRegistry, CarrierSpec
from offhook.telephony.tables import TelephonyConfiguration

# Raises a Conflict (409) while the account, given by organization and id, is in use and cannot be removed.
RemovalCheck = Callable[[AsyncSession, int, int], Awaitable[None]]


class AccountHooks:
    """Lets the domains above refuse the removal of an account that is in use."""

    def __init__(self) -> None:
        self.checks: list[RemovalCheck] = []

    async def check_removal(self, session: AsyncSession, organization_id: int, configuration_id: int) -> None:
        for check in self.checks:
            await check(session, organization_id, configuration_id)


@dataclass(frozen=True, slots=True)
class ConfigurationView:
    """An account as the API shows it. ``credentials``: every field, secrets masked."""

    id: int
    name: str
    provider: str
    is_default_outbound: bool
    is_managed: bool
    inactive_since: datetime | None
    inactive_reason: str | None
    created_at: datetime
    updated_at: datetime
    phone_number_count: int
    outbound_blocked_reason: str | None
    credentials: JsonObject = field(repr=False)
    connectivity: str = "api"

    @property
    def inactive(self) -> bool:
        return self.inactive_since is not None

    @property
    def is_ready_for_outbound(self) -> bool:
        return self.outbound_blocked_reason is None


@dataclass(frozen=True, slots=True)
class _CheckedFields:
    config: JsonObject
    secrets: dict[str, str] = field(repr=False)
    reference: str | None
    is_verified: bool = False


class CarrierConfigurations:
    """Manages carrier accounts and records every change in the audit log. Raises ConfigurationNotFound (404) for
    another organization's."""

    def __init__(
        self,
        db: Database,
        carriers: CarrierRegistry,
        accounts: CarrierAccounts,
        address: PublicAddress,
        hooks: AccountHooks,
        clock: Clock,
    ) -> None:
        self._clock = clock
        self._db = db
        self._carriers = carriers
        self._accounts = accounts
        self._address = address
        self._hooks = hooks

    def list_configurable(self) -> list[CarrierSpec]:
        """Returns the carriers that an organization can have accounts with, by name."""
        return [spec for spec in self._carriers.specs if spec.account.config is not None]

    async def list_configurations(self, organization_id: int) -> list[ConfigurationView]:
        """Returns the accounts, oldest first. Carriers that need no account of their own are always included."""
        async with self._db.transaction() as session:
            rows = await repository.list_configurations(session, organization_id)
            if self._missing_built_in(rows):
                await repository.lock_configurations(session, organization_id)
                rows = await repository.list_configurations(session, organization_id)
                names = {row.name for row in rows}
                for spec in self._missing_built_in(rows):
                    assert spec.account.config is not None
                    title = spec.account.config.display_name
                    numbered = (f"{title} {number}" for number in count(2))
                    name = next(name for name in chain([title], numbered) if name not in names)
                    session.add(TelephonyConfiguration(organization_id=organization_id, name=name, provider=spec.name))
                await session.flush()
                rows = await repository.list_configurations(session, organization_id)
            counts = await repository.number_counts(session, organization_id)
            return [self._build_view(row, *counts.get(row.id, (0, 0))) for row in rows]

    def _missing_built_in(self, rows: Sequence[TelephonyConfiguration]) -> list[CarrierSpec]:
        present = {row.provider for row in rows}
        return [spec for spec in self.list_configurable() if spec.account.is_optional and spec.name not in present]

    async def get(self, organization_id: int, configuration_id: int) -> ConfigurationView:
        async with self._db.transaction() as session:
            return await self._load_view(
                session, await repository.get_configuration(session, organization_id, configuration_id)
            )

    async def create(
        self, caller: Caller, name: str, raw: Mapping[str, Any], *, is_default: bool, verify: bool
    ) -> ConfigurationView:
        """Creates an account. Raises ConfigurationInvalid (422), CredentialsRefused (422), CarrierCheckFailed (502)
        or ConfigurationNameTaken (409)."""
        provider = str(raw.get("provider") or "")
        spec = self._get_spec(provider)
        checked = await self._check_fields(spec, caller.organization_id, raw, {}, None, verify=verify)
        async with self._db.transaction() as session:
            row = TelephonyConfiguration(
                organization_id=caller.organization_id,
                name=name,
                provider=provider,
                config=checked.config,
                secrets=self._accounts.seal_secrets(caller.organization_id, checked.secrets),
                account_reference=checked.reference,
                verified_at=self._clock.now() if checked.is_verified else None,
                is_default_outbound=is_default,
            )
            if is_default:
                await repository.unset_default(session, caller.organization_id, None)
            session.add(row)
            await self._flush_unique_name(session)
            await session.refresh(row)
            await write_audit_entry(
                session, caller, "telephony_config.created", f"telephony_config:{row.id}", {"provider": provider}
            )
            return await self._load_view(session, row)

    async def update(
        self,
        caller: Caller,
        configuration_id: int,
        name: str | None,
        raw: Mapping[str, Any] | None,
        *,
        verify: bool,
    ) -> ConfigurationView:
        """Updates an account. ``raw`` replaces the fields; secrets that are missing or sent as their mask stay.
        Raises ProviderChange (400)."""
        async with self._db.transaction() as session:
            row = await repository.get_configuration(session, caller.organization_id, configuration_id)
            if row.is_managed:
                raise ManagedConfiguration
            stored, spec = self._accounts.open_secrets(row), self._get_spec(row.provider)
        checked = None
        if raw is not None:
            if raw.get("provider") is not None and raw["provider"] != row.provider:
                raise ProviderChange
            checked = await self._check_fields(spec, caller.organization_id, raw, stored, row.id, verify=verify)
        async with self._db.transaction() as session:
            row = await repository.get_configuration(session, caller.organization_id, configuration_id, is_locked=True)
            changed = {"name"} if name is not None and name != row.name else set[str]()
            if name is not None:
                row.name = name
            if checked is not None:
                changed |= _changed_fields(
                    {**row.config, **self._accounts.open_secrets(row)}, {**checked.config, **checked.secrets}
                )
            if checked is not None:
                row.config = checked.config
                row.secrets = self._accounts.seal_secrets(caller.organization_id, checked.secrets)
                if checked.is_verified:
                    row.verified_at = self._clock.now()
                elif row.account_reference != checked.reference:
                    row.verified_at = None
                row.account_reference = checked.reference
                row.inactive_since = row.inactive_reason = None
            await self._flush_unique_name(session)
            await session.refresh(row)
            action = "telephony_config.updated" if changed else "telephony_config.checked"
            data = {"fields": sorted(changed)} if changed else {}
            await write_audit_entry(session, caller, action, f"telephony_config:{row.id}", data)
            return await self._load_view(session, row)

    async def delete(self, caller: Caller, configuration_id: int) -> None:
        """Deletes the account and its numbers. Raises 409 while a running campaign uses it, and for the platform's
        own account."""
        async with self._db.transaction() as session:
            row = await repository.get_configuration(session, caller.organization_id, configuration_id, is_locked=True)
            if row.is_managed:
                raise ManagedConfiguration
            await self._hooks.check_removal(session, caller.organization_id, configuration_id)
            await session.delete(row)
            await write_audit_entry(
                session,
                caller,
                "telephony_config.deleted",
                f"telephony_config:{configuration_id}",
                {"provider": row.provider},
            )

    async def set_default(self, caller: Caller, configuration_id: int) -> ConfigurationView:
        async with self._db.transaction() as session:
            row = await repository.get_configuration(session, caller.organization_id, configuration_id, is_locked=True)
            await repository.unset_default(session, caller.organization_id, row.id)
            row.is_default_outbound = True
            await session.flush()
            await session.refresh(row)
            await write_audit_entry(session, caller, "telephony_config.made_default", f"telephony_config:{row.id}")
            return await self._load_view(session, row)

    async def reactivate(self, caller: Caller, configuration_id: int) -> ConfigurationView:
        """Reactivates an account that was switched off, if the carrier accepts its credentials."""
        async with self._db.transaction() as session:
            row = await repository.get_configuration(session, caller.organization_id, configuration_id)
            account = await self._accounts.open_account(session, row)
        if row.inactive_since is not None:
            await verify_credentials(self._get_spec(row.provider), account, self._address)
        async with self._db.transaction() as session:
            row = await repository.get_configuration(session, caller.organization_id, configuration_id, is_locked=True)
            row.inactive_since = row.inactive_reason = None
            await session.flush()
            await session.refresh(row)
            await write_audit_entry(session, caller, "telephony_config.reactivated", f"telephony_config:{row.id}")
            return await self._load_view(session, row)

    async def count_missing_fields(self, organization_id: int) -> dict[str, int]:
        """Returns ``<carrier>_missing_<field>_count`` for every field that a feature depends on."""
        found = {
            f"{spec.name}_missing_{one.name}_count": 0
            for spec in self.list_configurable()
            if spec.account.config is not None
            for one in spec.account.config.fields
            if one.is_missed
        }
        async with self._db.transaction() as session:
            rows = await repository.list_configurations(session, organization_id)
        for row in rows:
            spec = self._carriers.find(row.provider)
            if row.is_managed or spec is None or spec.account.config is None:
                continue
            config = self._accounts.open_config(row)
            for one in spec.account.config.fields:
                if one.is_missed and not config.get(one.name):
                    found[f"{spec.name}_missing_{one.name}_count"] += 1
        return found

    # helpers

    def _get_spec(self, provider: str) -> CarrierSpec:
        spec = self._carriers.find(provider)
        if spec is None or spec.account.config is None:
            known = ", ".join(one.name for one in self.list_configurable())
            raise ConfigurationInvalid(detail=[field_problem("provider", f"The provider must be one of: {known}.")])
        return spec

    async def _check_fields(
        self,
        spec: CarrierSpec,
        organization_id: int,
        raw: Mapping[str, Any],
        stored: Mapping[str, str],
        configuration_id: int | None,
        *,
        verify: bool,
    ) -> _CheckedFields:
        assert spec.account.config is not None
        if spec.account.config.validate is not None:
            return _CheckedFields(spec.account.config.validate(raw), {}, None)
        config, secrets = read_fields(spec.account.config, raw, stored)
        if verify and spec.account.check is not None:
            account = CarrierAccount(organization_id, spec.name, configuration_id, {**config, **secrets})
            config |= {
                name: value
                for name, value in (await verify_credentials(spec, account, self._address)).items()
                if name not in secrets
            }
        reference = config.get(spec.account.config.account_field) or secrets.get(spec.account.config.account_field)
        return _CheckedFields(
            config,
            secrets,
            spec.account.config.canonical_account(str(reference)) if reference else None,
            is_verified=verify,
        )

    async def _flush_unique_name(self, session: AsyncSession) -> None:
        try:
            await session.flush()
        except IntegrityError:
            raise ConfigurationNameTaken from None

    async def _load_view(self, session: AsyncSession, row: TelephonyConfiguration) -> ConfigurationView:
        counts = await repository.number_counts(session, row.organization_id)
        return self._build_view(row, *counts.get(row.id, (0, 0)))

    def _build_view(self, row: TelephonyConfiguration, count: int, can_call: int) -> ConfigurationView:
        secrets = {} if row.is_managed else self._accounts.open_secrets(row)
        return ConfigurationView(
            id=row.id,
            name=row.name,
            provider=row.provider,
            is_default_outbound=row.is_default_outbound,
            is_managed=row.is_managed,
            inactive_since=row.inactive_since,
            inactive_reason=row.inactive_reason,
            created_at=row.created_at,
            updated_at=row.updated_at,
            phone_number_count=count,
            outbound_blocked_reason=self._outbound_blocker(row, can_call),
            credentials={**row.config, **{name: mask_secret(value) for name, value in secrets.items()}},
        )

    def _outbound_blocker(self, row: TelephonyConfiguration, can_call: int) -> str | None:
        """Returns a stable code for the reason that this account cannot place calls."""
        spec = self._carriers.find(row.provider)
        if spec is None or spec.calls.dialer is None:
            return "carrier_cannot_dial"
        if row.inactive_since is not None:
            return "inactive"
        if not spec.is_in_process and self._address.base is None:
            return "public_url_missing"
        has_number = can_call or row.config.get("from_number") or spec.calls.default_caller_number
        return None if has_number else "no_phone_number"


def _changed_fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> set[str]:
    """Returns the names of the fields whose values differ."""
    return {name for name in {*before, *after} if before.get(name) != after.get(name)}
