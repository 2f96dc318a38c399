"""Buys numbers for organizations with the platform's own carrier account, and returns them."""

from dataclasses import asdict
from datetime import timedelta
from typing import Any, Final

import structlog
from pydantic import TypeAdapter
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.errors import DomainError
from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.json_values import JsonObject
from offhook.kit.phone_numbers import parse_phone_number
from offhook.orgs import Caller, as_begun, hold_access, write_audit_entry
from offhook.orgs.idempotency import run_idempotent
from offhook.settings import Settings
from offhook.telephony.accounts import purchase_repository as purchases
from offhook.telephony.accounts import repository
from offhook.telephony.accounts.account_numbers import AccountNumbers
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.accounts.managed_configurations import add_managed_configuration
from offhook.telephony.accounts.number_offers import (
    ConnectedNumber,
    NumberSearch,
    PurchaseRequest,
    choose_number,
    search_numbers,
)
from offhook.telephony.accounts.number_trade import NumberTrade
from offhook.telephony.accounts.service import AccountHooks
from offhook.telephony.accounts.sub_accounts import SubAccounts
from offhook.telephony.errors import (
    CarrierUnavailable,
    NoNumberForSale,
    NumberNotBought,
    NumberNotFound,
    NumberNotManaged,
    TooManyNumbers,
)
from offhook.telephony.ports import AvailableNumber, CarrierAccount, CarrierFailed, CarrierRegistry
from offhook.telephony.tables import NumberPurchase, PhoneNumber, TelephonyConfiguration
from offhook.usage import service as usage
from offhook.workflows import service as workflows

# Failure codes of carrier clients for a number that is already taken.
NOT_FOR_SALE_CODES: Final = frozenset({"number_not_for_sale", "number_taken"})
# No purchase takes this long: an older one lost its process or its carrier's response.
PURCHASE_TIMEOUT: Final = timedelta(seconds=60)
log = structlog.get_logger(__name__)


_CONNECTED_NUMBER: Final = TypeAdapter(ConnectedNumber)


class ManagedNumbers:
    """Buys numbers and returns them. Each purchase is recorded before the carrier is asked. A failure after the
    charge is completed if possible, else the number is returned: at once, or by the job
    ``telephony.settle_purchases`` when the process died or the carrier was unavailable. A number whose buyer got an
    error is always returned."""

    def __init__(
        self,
        db: Database,
        carriers: CarrierRegistry,
        accounts: CarrierAccounts,
        numbers: AccountNumbers,
        sub_accounts: SubAccounts,
        hooks: AccountHooks,
        clock: Clock,
        settings: Settings,
    ) -> None:
        self.sub_accounts = sub_accounts
        self._settings = settings
        self._db = db
        self._carriers = carriers
        self._accounts = accounts
        self._trade = NumberTrade(carriers, accounts)
        self._numbers = numbers
        self._hooks = hooks
        self._clock = clock

    async def search_for_sale(self, organization_id: int, country: str, area_code: str | None) -> list[AvailableNumber]:
        """Searches for numbers on sale. Raises CarrierUnavailable (502)."""
        account = self._accounts.platform_account(organization_id)
        return await search_numbers(self._trade.catalog, account, NumberSearch(country, area_code))

    def is_simulated(self, organization_id: int) -> bool:
        """Returns whether the numbers on sale belong to a simulated carrier, so that no real phone reaches them."""
        return self._carriers.is_simulated(self._accounts.platform_account(organization_id).provider)

    async def quick_connect(self, caller: Caller, request: PurchaseRequest) -> ConnectedNumber:
        """Buys a number, charges it and assigns it to the organization. Raises WorkflowNotFound (404), OutOfCredit and
        DailySpendLimitReached (402), NoNumberForSale, TooManyNumbers and SubAccountPending (409), NumberNotBought or
        SubAccountNotCreated (502), and then leaves no number and no charge behind."""
        account = self._accounts.platform_account(caller.organization_id)
        if request.workflow_id is not None:
            async with self._db.transaction() as session:
                await workflows.get_workflow(session, caller.organization_id, request.workflow_id)
        wanted, cents = await choose_number(
            self._trade.catalog,
            account,
            NumberSearch(request.country, request.area_code, request.phone_number),
            0 if self.is_simulated(caller.organization_id) else self._settings.number_cents,
        )
        purchase = await self._record_purchase(caller, request, account.provider, wanted, cents)
        caller = as_begun(caller)
        try:
            account = await self.sub_accounts.account_for_purchase(caller, purchase)
        except DomainError as error:
            await self._close_purchase(purchase, "failed", error.message)
            raise
        await self._buy_number(account, purchase)
        try:
            number = await self._assign_number(caller, request, purchase)
        except BaseException:
            await self._undo_purchase(account, purchase)
            raise
        await self._route_number(number)
        return _describe_number(request, number)

    async def quick_connect_once(
        self, caller: Caller, request: PurchaseRequest, idempotency_key: str | None, body: JsonObject
    ) -> ConnectedNumber:
        """Buys a number like :meth:`quick_connect`, once per idempotency key. ``body`` is the request's body."""

        async def buy_and_connect() -> JsonObject:
            return asdict(await self.quick_connect(caller, request))

        answer = await run_idempotent(
            self._db,
            organization_id=caller.organization_id,
            scope="quick-connect",
            key=idempotency_key,
            body=body,
            action=buy_and_connect,
        )
        return _CONNECTED_NUMBER.validate_python(answer)

    async def release_number(self, caller: Caller, number_id: int) -> None:
        """Releases a number. Raises NumberNotFound (404), NumberNotManaged (409), 409 while a campaign uses it, and
        CarrierUnavailable (502)."""
        async with self._db.transaction() as session:
            await hold_access(session, caller)
            number = await repository.find_number(session, caller.organization_id, number_id)
            if number is None:
                raise NumberNotFound
            if not number.is_managed:
                raise NumberNotManaged
            await self._hooks.check_removal(session, caller.organization_id, number.telephony_configuration_id)
            account = await self._accounts.managed_account(
                session, caller.organization_id, number.telephony_configuration_id
            )
        try:
            await self._trade.release_number(account, number.address_normalized, number.carrier_id)
        except CarrierFailed as failure:
            raise CarrierUnavailable(f"The carrier did not take the number back: {failure.message}") from None
        async with self._db.transaction() as session:
            row = await repository.find_number(session, caller.organization_id, number_id)
            if row is not None:
                await session.delete(row)
            data = {"number": number.address_normalized}
            await write_audit_entry(
                session, as_begun(caller), "phone_number.released", f"phone_number:{number_id}", data
            )

    async def settle_purchases(self, _: JsonObject) -> None:
        """Runs the job that completes abandoned purchases which are still wanted and returns the other numbers."""
        async with self._db.transaction() as session:
            left = await purchases.list_unfinished(session, self._clock.now() - PURCHASE_TIMEOUT)
        for purchase in left:
            async with self._db.transaction() as session:
                account = await self._accounts.managed_account(
                    session, purchase.organization_id, purchase.telephony_configuration_id
                )
            if account.provider == purchase.provider and not await self._finish_purchase(account, purchase):
                await self._undo_purchase(account, purchase)

    async def _finish_purchase(self, account: CarrierAccount, purchase: NumberPurchase) -> bool:
        """Returns False when the purchase has to be undone; otherwise the number was assigned or the carrier is
        unavailable."""
        stored: dict[str, Any] = dict(purchase.request)
        if not isinstance(stored.get("wish"), dict) or stored.get("is_given_up"):
            return False
        caller = Caller(purchase.organization_id, stored.get("user_id"), stored.get("key_id"), "admin", False)
        request = PurchaseRequest(**stored["wish"])
        try:
            purchase.carrier_id = await self._claim_bought(account, purchase)
            if purchase.carrier_id is None:
                return False
            async with self._db.transaction() as session:
                if await purchases.was_repeated(session, purchase):
                    return False
                if request.workflow_id is not None:
                    await workflows.get_workflow(session, caller.organization_id, request.workflow_id)
            number = await self._assign_number(caller, request, purchase)
        except CarrierFailed as failure:
            await _note_failure(self._db, purchase, failure)
            return True
        except DomainError as error:
            log.info("purchase_completion_failed", purchase_id=purchase.id, code=error.code)
            return False
        log.warning("purchase_finished", purchase_id=purchase.id, number_id=number.id)
        await self._route_number(number)
        return True

    # helpers

    async def _record_purchase(
        self, caller: Caller, request: PurchaseRequest, provider: str, number: str, cents: int
    ) -> NumberPurchase:
        """Records and charges the purchase in one transaction. Raises TooManyNumbers (409) and 402 without credit."""
        async with self._db.transaction() as session:
            await hold_access(session, caller)
            await usage.charge_credit(session, caller.organization_id, cents, f"Number {number}")
            limit = self._settings.org_number_limit
            if await purchases.count_numbers(session, caller.organization_id) >= limit:
                raise TooManyNumbers(f"Your organization has reached its limit of {limit} numbers. Release one first.")
            purchase = NumberPurchase(
                organization_id=caller.organization_id,
                provider=provider,
                phone_number=number,
                charged_cents=cents,
                country=parse_phone_number(number).country or request.country,
                request={"wish": asdict(request), "user_id": caller.user_id, "key_id": caller.key_id},
            )
            session.add(purchase)
            await session.flush()
            await session.refresh(purchase)
        return purchase

    async def _buy_number(self, account: CarrierAccount, purchase: NumberPurchase) -> None:
        try:
            carrier_id = await self._trade.buy_number(account, purchase.phone_number, purchase.country)
        except CarrierFailed as failure:
            if failure.is_fate_unknown:
                purchase.carrier_id = await self._find_bought_id(account, purchase)
                if purchase.carrier_id is not None:
                    return
                await self._undo_purchase(account, purchase)
            else:
                await self._close_purchase(purchase, "failed", failure.message)
            if failure.code in NOT_FOR_SALE_CODES:
                raise NoNumberForSale(failure.message) from None
            raise NumberNotBought(f"The number was not purchased: {failure.message}") from None
        async with self._db.transaction() as session:
            await purchases.change_state(session, purchase, {"buying"}, "bought", carrier_id=carrier_id)
        purchase.carrier_id = carrier_id

    async def _find_bought_id(self, account: CarrierAccount, purchase: NumberPurchase) -> str | None:
        """Returns the carrier's id of a number whose purchase got no response, if the carrier says that we own it."""
        try:
            return await self._claim_bought(account, purchase)
        except CarrierFailed:
            return None

    async def _claim_bought(self, account: CarrierAccount, purchase: NumberPurchase) -> str | None:
        """Returns the carrier's id of the number; None for one that is assigned, which another purchase has bought."""
        async with self._db.transaction() as session:
            if await purchases.is_assigned(session, purchase.phone_number):
                return None
        return await self._trade.claim_owned(account, purchase.phone_number)

    async def _assign_number(self, caller: Caller, request: PurchaseRequest, purchase: NumberPurchase) -> PhoneNumber:
        """Assigns the number to the organization in one transaction. Raises NumberNotBought when it is already
        assigned or the purchase was settled elsewhere."""
        async with self._db.transaction() as session:
            await purchases.lock_number(session, purchase.phone_number)
            if await purchases.is_assigned(session, purchase.phone_number):
                raise NumberNotBought
            if not await purchases.change_state(
                session, purchase, {"buying", "bought"}, "done", carrier_id=purchase.carrier_id
            ):
                raise NumberNotBought
            configuration = await self._configuration_of(session, purchase)
            is_primary = request.mode == "new"
            if is_primary:
                # Of two purchases at once, the later one is primary.
                await repository.lock_configurations(session, caller.organization_id)
                await repository.unset_primary(session, caller.organization_id)
            number = PhoneNumber(
                organization_id=caller.organization_id,
                telephony_configuration_id=configuration.id,
                address=purchase.phone_number,
                address_normalized=purchase.phone_number,
                address_type=repository.PSTN,
                country_code=purchase.country,
                label=request.label,
                inbound_workflow_id=request.workflow_id,
                is_managed=True,
                is_primary=is_primary,
                existing_number=request.existing_number,
                carrier_id=purchase.carrier_id,
            )
            session.add(number)
            await session.flush()
            await session.refresh(number)
            data = {"number": purchase.phone_number, "mode": request.mode}
            await write_audit_entry(session, caller, "phone_number.bought", f"phone_number:{number.id}", data)
        return number

    async def _configuration_of(self, session: AsyncSession, purchase: NumberPurchase) -> TelephonyConfiguration:
        """Returns the row of the account that the number was bought in. The platform's own is created by the
        organization's first number."""
        if purchase.telephony_configuration_id is not None:
            return await repository.get_configuration(
                session, purchase.organization_id, purchase.telephony_configuration_id
            )
        found = await repository.find_managed(session, purchase.organization_id)
        if found is not None:
            return found
        return await add_managed_configuration(
            session,
            purchase.organization_id,
            provider=purchase.provider,
            verified_at=self._clock.now(),
            account_reference=self._accounts.platform_reference,
        )

    async def _route_number(self, number: PhoneNumber) -> None:
        """Routes the number's calls to us. A failure is retried when the number is saved."""
        async with self._db.transaction() as session:
            row = await repository.find_configuration(
                session, number.organization_id, number.telephony_configuration_id
            )
            account = await self._accounts.open_account(session, row) if row is not None else None
        if account is not None:
            await self._numbers.route_number(account, number.address_normalized)

    async def _undo_purchase(self, account: CarrierAccount, purchase: NumberPurchase) -> None:
        """Returns the number to the carrier if it reports that we own it, and gives up the purchase. The job retries
        failures."""
        async with self._db.transaction() as session:
            await purchases.mark_given_up(session, purchase)
        try:
            carrier_id = await self._trade.find_owned(account, purchase.phone_number)
            async with self._db.transaction() as session:
                # never return a number of another organization or of an earlier purchase
                is_taken = await purchases.is_assigned(session, purchase.phone_number)
            if carrier_id is not None and not is_taken:
                await self._trade.release_number(account, purchase.phone_number, carrier_id)
        except CarrierFailed as failure:
            await _note_failure(self._db, purchase, failure)
            return
        await self._close_purchase(purchase, "released" if carrier_id is not None else "failed", None)

    async def _close_purchase(self, purchase: NumberPurchase, state: str, error: str | None) -> None:
        async with self._db.transaction() as session:
            is_closed = await purchases.change_state(
                session, purchase, {"buying", "bought"}, state, error=error[:500] if error else None
            )
            if is_closed:
                cents, charged_at = purchase.charged_cents, purchase.created_at
                note = f"Number {purchase.phone_number} was not bought"
                await usage.refund_credit(session, purchase.organization_id, cents, note, charged_at=charged_at)


async def _note_failure(db: Database, purchase: NumberPurchase, failure: CarrierFailed) -> None:
    """Leaves the purchase to the job, which retries it."""
    log.warning("purchase_settlement_failed", purchase_id=purchase.id, code=failure.code)
    async with db.transaction() as session:
        await purchases.note_attempt(session, purchase, failure.message[:500])


def _describe_number(request: PurchaseRequest, number: PhoneNumber) -> ConnectedNumber:
    is_forward = request.mode == "forward"
    bought = number.address_normalized
    existing = request.existing_number or "your number"
    return ConnectedNumber(
        phone_number_id=number.id,
        phone_number=bought,
        mode=request.mode,
        status="active",
        is_primary=number.is_primary,
        forward_to=bought if is_forward else None,
        instructions=(
            f"Forward the calls of {existing} to {bought}: with most carriers, dial *72 and then this number, or **21*"
            f"{bought}# on a mobile phone; otherwise ask your carrier for call forwarding."
            if is_forward
            else None
        ),
        workflow_id=number.inbound_workflow_id,
    )
