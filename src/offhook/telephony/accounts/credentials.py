"""Finds the carrier account that carries a call and decrypts its secrets."""

import json
from dataclasses import replace

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.crypto import Keyring, SecretUnreadable
from offhook.kit.json_values import JsonObject
from offhook.runs import Run
from offhook.settings import Settings, SettingsError
from offhook.telephony.accounts import repository
from offhook.telephony.accounts.config_fields import shared_fields
from offhook.telephony.errors import AccountUnreadable, ConfigurationNotFound, PhoneNumberNotFound
from offhook.telephony.ports import CarrierAccount, CarrierRegistry
from offhook.telephony.tables import TelephonyConfiguration


class CarrierAccounts:
    """The carrier accounts of organizations. Decrypted secrets exist only inside a CarrierAccount."""

    def __init__(self, keyring: Keyring, settings: Settings, carriers: CarrierRegistry) -> None:
        self._keyring = keyring
        self._carriers = carriers
        self._platform_carrier = settings.platform_carrier
        self._platform_config = _platform_config(settings)

    @property
    def platform_carrier(self) -> str:
        """Returns the carrier whose numbers quick-connect buys."""
        return self._platform_carrier or self._carriers.built_in.name

    def require_platform_catalog(self) -> None:
        """Raises SettingsError unless the platform's carrier sells numbers."""
        sellers = [spec.name for spec in self._carriers.specs if spec.numbers.catalog is not None]
        if self.platform_carrier not in sellers:
            raise SettingsError(f"OFFHOOK_PLATFORM_CARRIER must be one of: {', '.join(sellers)}.")

    async def account_for(
        self,
        session: AsyncSession,
        organization_id: int,
        *,
        configuration_id: int | None = None,
        provider: str | None = None,
    ) -> CarrierAccount:
        """Returns the account that places a call: the given one, else the default, else the built-in carrier's.

        ``provider`` limits the choice to one carrier (for a run that was created for it). Raises ConfigurationNotFound
        (404).
        """
        if configuration_id is not None:
            named = await repository.get_configuration(session, organization_id, configuration_id)
            if provider is not None and named.provider != provider:
                raise ConfigurationNotFound
            return await self.open_account(session, named)
        row = await repository.default_for_dialing(session, organization_id)
        if row is None or (provider is not None and row.provider != provider):
            row = await repository.oldest_of(session, organization_id, provider or self._carriers.built_in.name)
        if row is not None:
            return await self.open_account(session, row)
        spec = self._carriers.built_in if provider is None else self._carriers.find(provider)
        if spec is not None and spec.account.is_optional:
            return CarrierAccount(organization_id, spec.name)
        raise ConfigurationNotFound(f"Your organization has no account at {provider}.")

    async def account_of_run(self, session: AsyncSession, run: Run) -> CarrierAccount:
        """Returns the account that carries, or will carry, this run. Raises ConfigurationNotFound (404) when it was
        deleted."""
        configured = run.initial_context.get("telephony_configuration_id")
        named = configured if isinstance(configured, int) and not isinstance(configured, bool) else None
        return await self.account_for(session, run.organization_id, configuration_id=named or None, provider=run.mode)

    async def account_to_dial_from(
        self,
        session: AsyncSession,
        organization_id: int,
        number_id: int | None,
        *,
        configuration_id: int | None,
        provider: str | None,
    ) -> CarrierAccount:
        """Returns what :meth:`account_for` does; with a number, the account that has it, and the number as the caller ID.
        Raises PhoneNumberNotFound (404), also when the number is not one of ``configuration_id``."""
        if number_id is None:
            return await self.account_for(
                session, organization_id, configuration_id=configuration_id, provider=provider
            )
        number = await repository.find_number(session, organization_id, number_id)
        if configuration_id is None:
            if number is None:
                raise PhoneNumberNotFound
            configuration_id = number.telephony_configuration_id
        account = await self.account_for(session, organization_id, configuration_id=configuration_id, provider=provider)
        if number is None or number.telephony_configuration_id != account.id or not number.is_active:
            raise PhoneNumberNotFound
        if number.address_type != repository.PSTN:
            raise PhoneNumberNotFound("Calls can only come from a telephone number.")
        return replace(account, caller_number=number.address_normalized)

    async def open_account(self, session: AsyncSession, row: TelephonyConfiguration) -> CarrierAccount:
        facts = await repository.number_facts(session, row.organization_id, row.id)
        return CarrierAccount(
            row.organization_id,
            row.provider,
            row.id,
            self.open_config(row),
            facts.default,
            facts.active,
            row.is_managed,
        )

    def platform_account(self, organization_id: int) -> CarrierAccount:
        """Returns the installation's own account, acting for an organization."""
        return CarrierAccount(
            organization_id, self.platform_carrier, None, dict(self._platform_config), is_managed=True
        )

    async def managed_account(
        self, session: AsyncSession, organization_id: int, configuration_id: int | None
    ) -> CarrierAccount:
        """Returns the sub-account behind a managed account, or the platform's own account."""
        if configuration_id is not None:
            row = await repository.find_configuration(session, organization_id, configuration_id)
            if row is not None and row.parent_reference is not None:
                return await self.open_account(session, row)
        return self.platform_account(organization_id)

    @property
    def platform_reference(self) -> str | None:
        """Returns the reference of the platform's own account, None where it has none."""
        spec = self._carriers.find(self.platform_carrier)
        if spec is None or spec.account.config is None:
            return None
        reference = self._platform_config.get(spec.account.config.account_field)
        return spec.account.config.canonical_account(str(reference)) if reference else None

    def open_config(self, row: TelephonyConfiguration) -> JsonObject:
        """Returns all stored fields of the account with its secrets decrypted. Raises AccountUnreadable (409)."""
        if not row.is_managed:
            return {**row.config, **self.open_secrets(row)}
        if row.parent_reference is None:
            return {**row.config, **self._platform_config}
        return {**self._shared_config(row), **row.config, **self.open_secrets(row)}

    def _shared_config(self, row: TelephonyConfiguration) -> JsonObject:
        """Returns what applies to a sub-account of the platform's own account."""
        spec = self._carriers.find(row.provider)
        if row.provider != self.platform_carrier or spec is None or spec.account.config is None:
            return {}
        return shared_fields(spec.account.config, self._platform_config)

    def open_secrets(self, row: TelephonyConfiguration) -> dict[str, str]:
        if row.secrets is None:
            return {}
        try:
            opened: dict[str, str] = json.loads(self._keyring.open(row.secrets, _associated_data(row.organization_id)))
        except SecretUnreadable as error:
            raise AccountUnreadable from error
        return opened

    def seal_secrets(self, organization_id: int, secrets: dict[str, str]) -> bytes | None:
        if not secrets:
            return None
        return self._keyring.seal(json.dumps(secrets).encode(), _associated_data(organization_id))


def _associated_data(organization_id: int) -> bytes:
    return f"telephony:{organization_id}".encode()


def _platform_config(settings: Settings) -> JsonObject:
    if settings.platform_carrier_account is None:
        return {}
    try:
        config = json.loads(settings.platform_carrier_account.get_secret_value())
    except ValueError:
        config = None
    if not isinstance(config, dict):
        raise SettingsError("OFFHOOK_PLATFORM_CARRIER_ACCOUNT is not a JSON object with the fields of an account.")
    return config
