"""Manages the phone numbers of carrier accounts: the agent that answers each, and the default caller ID."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Database
from offhook.kit.json_values import JsonObject
from offhook.orgs import Caller, write_audit_entry
from offhook.telephony.accounts import repository
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.accounts.public_urls import PublicAddress, PublicAddressMissing
from offhook.telephony.accounts.service import AccountHooks
from offhook.telephony.carrier_kit.number_formats import PSTN, normalize_address
from offhook.telephony.errors import (
    CarrierUnavailable,
    NumberIsManaged,
    NumberNotFound,
    NumberNotOwned,
    NumberRoutedElsewhere,
    NumberTaken,
)
from offhook.telephony.ports import CarrierAccount, CarrierFailed, CarrierRegistry, CarrierSpec
from offhook.telephony.tables import PhoneNumber
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
    ) -> None:
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
        """Adds a number. Raises AddressInvalid (422), NumberTaken or NumberRoutedElsewhere (409); with ``verify``
        also NumberNotOwned (400) and CarrierUnavailable (502)."""
        address, kind, country = normalize_address(new.address, new.country_code)
        async with self._db.transaction() as session:
            row = await repository.get_configuration(session, caller.organization_id, configuration_id)
            account = await self._accounts.open_account(session, row)
        carrier_id = await self._require_owned(account, address, kind) if verify else None
        async with self._db.transaction() as session:
            row = await repository.get_configuration(session, caller.organization_id, configuration_id, is_locked=True)
            if new.inbound_workflow_id is not None:
                await workflows.get_workflow(session, caller.organization_id, new.inbound_workflow_id)
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
                carrier_id=carrier_id,
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
        is_default_caller_id and extra_metadata."""
        async with self._db.transaction() as session:
            row = await repository.get_configuration(session, caller.organization_id, configuration_id, is_locked=True)
            number = await self._get_row(session, caller.organization_id, configuration_id, number_id)
            if changes.get("inbound_workflow_id") is not None:
                await workflows.get_workflow(session, caller.organization_id, changes["inbound_workflow_id"])
            if changes.get("is_default_caller_id"):
                await repository.unset_default_caller(session, caller.organization_id, configuration_id)
            for name, value in changes.items():
                setattr(number, name, value)
            await session.flush()
            await session.refresh(number)
            await write_audit_entry(
                session, caller, "phone_number.updated", f"phone_number:{number.id}", {"fields": sorted(changes)}
            )
            account = await self._accounts.open_account(session, row)
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

    async def _sync_route(self, account: CarrierAccount, view: NumberView) -> NumberView:
        if view.row.address_type != PSTN:
            return view
        sync = await self.route_number(account, view.row.address_normalized)
        return NumberView(view.row, view.inbound_workflow_name, sync)

    async def _require_owned(self, account: CarrierAccount, address: str, kind: str) -> str | None:
        spec: CarrierSpec | None = self._carriers.find(account.provider)
        if spec is None or spec.numbers.catalog is None or kind != PSTN:
            return None
        try:
            found = await spec.numbers.catalog.find_owned(account, address)
        except CarrierFailed as failure:
            raise CarrierUnavailable(failure.message) from None
        if found is None:
            raise NumberNotOwned
        return found

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
