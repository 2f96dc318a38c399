"""Manages the phone numbers of carrier accounts: the agent that answers each, and the default caller ID."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.json_values import JsonObject
from offhook.orgs import Caller, write_audit_entry
from offhook.telephony.accounts import repository
from offhook.telephony.accounts.account_checks import require_ownership, verify_credentials
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.accounts.public_urls import PublicAddress, PublicAddressMissing
from offhook.telephony.accounts.service import AccountHooks
from offhook.telephony.carrier_kit.number_formats import PSTN, normalize_address
from offhook.telephony.errors import (
    AccountChanged,
    ManagedConfiguration,
    NumberIsManaged,
    NumberNotFound,
    NumberRoutedElsewhere,
    NumberTaken,
)
from offhook.telephony.ports import CarrierAccount, CarrierFailed, CarrierRegistry
from offhook.telephony.tables import PhoneNumber, TelephonyConfiguration
from offhook.workflows import service as workflows

SYNC_TIMEOUT_S: Final = 8.0


@dataclass(frozen=True, slots=True)
class ProviderSync:
    """The result of asking the carrier to route a number's calls to us."""

    ok: bool
    message: str


@dataclass(frozen=True, slots=True)
class NumberView:
    row: PhoneNumber
    inbound_workflow_name: str | None
    provider_sync: ProviderSync | None = None


@dataclass(frozen=True, slots=True)
class NewNumber:
    address: str
    country_code: str | None = None
    label: str | None = None
    inbound_workflow_id: int | None = None
    is_active: bool = True
    is_default_caller_id: bool = False
    extra_metadata: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class _Proof:
    """What the carrier said of a number. ``is_of_account``: it also accepts the account's credentials."""

    carrier_id: str | None = None
    is_of_account: bool = False


class AccountNumbers:
    """Manages the numbers of an organization's carrier accounts and records every change in the audit log. Raises
    ConfigurationNotFound and NumberNotFound (404) for another organization's."""

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

    async def list_numbers(self, organization_id: int, configuration_id: int) -> list[NumberView]:
        async with self._db.transaction() as session:
            await repository.get_configuration(session, organization_id, configuration_id)
            rows = await repository.list_numbers(session, organization_id, configuration_id)
            ids = {row.inbound_workflow_id for row in rows if row.inbound_workflow_id is not None}
            names = await workflows.names_of(session, organization_id, ids)
            return [NumberView(row, names.get(row.inbound_workflow_id or 0)) for row in rows]

    async def get(self, organization_id: int, configuration_id: int, number_id: int) -> NumberView:
        async with self._db.transaction() as session:
            return await self._build_view(
                session, await self._get_row(session, organization_id, configuration_id, number_id)
            )

    async def add(self, caller: Caller, configuration_id: int, new: NewNumber, *, verify: bool) -> NumberView:
        """Adds a number of the organization's own account. Raises AddressInvalid (422), ManagedConfiguration,
        NumberTaken or NumberRoutedElsewhere (409); with ``verify`` or an agent also NumberNotOwned (400),
        CredentialsRefused (422), CarrierCheckFailed and CarrierUnavailable (502)."""
        address, kind, country = normalize_address(new.address, new.country_code)
        async with self._db.transaction() as session:
            row = await repository.get_configuration(session, caller.organization_id, configuration_id)
            if row.is_managed:
                raise ManagedConfiguration
            await self._require_agent(session, caller, new.inbound_workflow_id)
            account = await self._accounts.open_account(session, row)
        is_claimed = new.inbound_workflow_id is not None
        proof = await self._prove(row, account, address, kind) if verify or is_claimed else _Proof()
        async with self._db.transaction() as session:
            row = await self._lock_unchanged(session, row, proof)
            await self._require_agent(session, caller, new.inbound_workflow_id)
            if await repository.is_routed_elsewhere(session, row, address):
                raise NumberRoutedElsewhere
            if new.is_default_caller_id:
                await repository.unset_default_caller(session, caller.organization_id, configuration_id)
            number = PhoneNumber(
                organization_id=caller.organization_id,
                telephony_configuration_id=configuration_id,
                address=new.address.strip(),
                address_normalized=address,
                address_type=kind,
                country_code=(new.country_code or country or "").upper() or None,
                label=new.label,
                inbound_workflow_id=new.inbound_workflow_id,
                is_active=new.is_active,
                is_default_caller_id=new.is_default_caller_id,
                extra_metadata=new.extra_metadata or {},
                carrier_id=proof.carrier_id,
            )
            session.add(number)
            try:
                await session.flush()
            except IntegrityError:
                raise NumberTaken from None
            await session.refresh(number)
            await write_audit_entry(
                session, caller, "phone_number.created", f"phone_number:{number.id}", {"number": address}
            )
            view = await self._build_view(session, number)
        return await self._sync_route(account, view) if new.inbound_workflow_id is not None else view

    async def update(
        self, caller: Caller, configuration_id: int, number_id: int, changes: Mapping[str, Any]
    ) -> NumberView:
        """Applies ``changes`` of label, country_code, inbound_workflow_id (None clears it), is_active,
        is_default_caller_id and extra_metadata. An agent is given only to a number that the carrier says is the
        account's. Raises as :meth:`add`."""
        async with self._db.transaction() as session:
            row = await repository.get_configuration(session, caller.organization_id, configuration_id)
            number = await self._get_row(session, caller.organization_id, configuration_id, number_id)
            await self._require_agent(session, caller, changes.get("inbound_workflow_id"))
            account = await self._accounts.open_account(session, row)
        is_claimed = changes.get("inbound_workflow_id") is not None and not number.is_managed
        proof = _Proof()
        if is_claimed:
            proof = await self._prove(row, account, number.address_normalized, number.address_type)
        async with self._db.transaction() as session:
            row = await self._lock_unchanged(session, row, proof)
            number = await self._get_row(session, caller.organization_id, configuration_id, number_id)
            if is_claimed and await repository.is_routed_elsewhere(session, row, number.address_normalized):
                raise NumberRoutedElsewhere
            if proof.carrier_id is not None:
                number.carrier_id = proof.carrier_id
            await self._require_agent(session, caller, changes.get("inbound_workflow_id"))
            if changes.get("is_default_caller_id"):
                await repository.unset_default_caller(session, caller.organization_id, configuration_id)
            for name, value in changes.items():
                setattr(number, name, value)
            await session.flush()
            await session.refresh(number)
            await write_audit_entry(
                session, caller, "phone_number.updated", f"phone_number:{number.id}", {"fields": sorted(changes)}
            )
            view = await self._build_view(session, number)
        return await self._sync_route(account, view) if changes.get("inbound_workflow_id") is not None else view

    async def remove(self, caller: Caller, configuration_id: int, number_id: int) -> None:
        """Removes a number. Raises NumberIsManaged (409), because a managed number has to be released instead, and
        409 while a campaign uses the account."""
        async with self._db.transaction() as session:
            number = await self._get_row(session, caller.organization_id, configuration_id, number_id)
            if number.is_managed:
                raise NumberIsManaged
            await self._hooks.check_removal(session, caller.organization_id, configuration_id)
            await session.delete(number)
            await write_audit_entry(
                session,
                caller,
                "phone_number.deleted",
                f"phone_number:{number_id}",
                {"number": number.address_normalized},
            )

    async def route_number(self, account: CarrierAccount, address: str) -> ProviderSync | None:
        """Routes calls to this number to us. Returns None where the carrier's addresses are set by hand."""
        spec = self._carriers.find(account.provider)
        if spec is None or spec.numbers.routing is None:
            return None
        try:
            async with asyncio.timeout(SYNC_TIMEOUT_S):
                await spec.numbers.routing.route_number(account, address, self._address.inbound_url)
        except PublicAddressMissing as error:
            return ProviderSync(False, error.message)
        except CarrierFailed as failure:
            return ProviderSync(False, failure.message)
        except TimeoutError:
            return ProviderSync(False, "The carrier took too long to answer.")
        return ProviderSync(True, "Calls to this number are routed here.")

    # helpers

    async def _require_agent(self, session: AsyncSession, caller: Caller, workflow_id: int | None) -> None:
        """Raises WorkflowNotFound (404) for an agent of another organization."""
        if workflow_id is not None:
            await workflows.get_workflow(session, caller.organization_id, workflow_id)

    async def _sync_route(self, account: CarrierAccount, view: NumberView) -> NumberView:
        if view.row.address_type != PSTN:
            return view
        sync = await self.route_number(account, view.row.address_normalized)
        return NumberView(view.row, view.inbound_workflow_name, sync)

    async def _prove(self, row: TelephonyConfiguration, account: CarrierAccount, address: str, kind: str) -> _Proof:
        """Asks the carrier for the account, unless it was verified before, and for the number. Simulated networks have
        nothing to prove."""
        spec = self._carriers.find(account.provider)
        if spec is None or spec.is_in_process:
            return _Proof()
        if row.verified_at is None:
            await verify_credentials(spec, account, self._address)
        return _Proof(await require_ownership(spec, account, address, kind), is_of_account=True)

    async def _lock_unchanged(
        self, session: AsyncSession, seen: TelephonyConfiguration, proof: _Proof
    ) -> TelephonyConfiguration:
        """Locks the account. Raises AccountChanged (409) when it has another name at the carrier than the one that was
        proved."""
        row = await repository.get_configuration(session, seen.organization_id, seen.id, is_locked=True)
        if proof.is_of_account:
            if row.account_reference != seen.account_reference:
                raise AccountChanged
            if row.verified_at is None:
                row.verified_at = self._clock.now()
        return row

    async def _get_row(
        self, session: AsyncSession, organization_id: int, configuration_id: int, number_id: int
    ) -> PhoneNumber:
        row = await repository.find_number(session, organization_id, number_id, configuration_id=configuration_id)
        if row is None:
            raise NumberNotFound
        return row

    async def _build_view(self, session: AsyncSession, row: PhoneNumber) -> NumberView:
        ids = {row.inbound_workflow_id} if row.inbound_workflow_id is not None else set()
        names = await workflows.names_of(session, row.organization_id, ids)
        return NumberView(row, names.get(row.inbound_workflow_id or 0))
