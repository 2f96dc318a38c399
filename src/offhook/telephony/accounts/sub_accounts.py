"""Gives each organization a sub-account of the platform's carrier account, and closes it when it is no longer needed."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

import structlog

from offhook.errors import DomainError
from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.json_values import JsonObject
from offhook.orgs import Caller, write_audit_entry
from offhook.telephony.accounts import repository, superuser_queries
from offhook.telephony.accounts import sub_account_statements as statements
from offhook.telephony.accounts.config_fields import split_secrets
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.accounts.managed_configurations import add_managed_configuration
from offhook.telephony.accounts.service import AccountHooks
from offhook.telephony.errors import (
    CarrierCheckFailed,
    NumberNotBought,
    SubAccountNotCreated,
    SubAccountPending,
    SubAccountsRefused,
    SubAccountsUnsupported,
)
from offhook.telephony.ports import CarrierAccount, CarrierFailed, CarrierRegistry, SubAccount, SubAccountManager
from offhook.telephony.tables import CarrierSubAccount, NumberPurchase

# How long a purchase waits for the creation that another one has begun.
WAIT_S: Final = 30.0
POLL_S: Final = 0.2
# How often one attempt creates: a second time only when what the first one has created was closed.
CREATIONS: Final = 2
# Longer than the carrier takes to rate the last calls, whose bills are read with the sub-account's credentials.
CLOSE_AFTER: Final = timedelta(hours=2)
log = structlog.get_logger(__name__)


class SubAccounts:
    """The sub-accounts of the platform's account at its carrier. The operator turns them on. An organization's first
    purchase creates its sub-account: the name is recorded before the carrier is asked, so that a sub-account whose
    creation was interrupted is found by its name and not created again."""

    def __init__(
        self, db: Database, carriers: CarrierRegistry, accounts: CarrierAccounts, hooks: AccountHooks, clock: Clock
    ) -> None:
        self._db = db
        self._carriers = carriers
        self._accounts = accounts
        self._hooks = hooks
        self._clock = clock
        self.wait_s = WAIT_S

    @property
    def manager(self) -> SubAccountManager | None:
        """Returns the manager of the platform's carrier, None where it has no sub-accounts."""
        spec = self._carriers.find(self._accounts.platform_carrier)
        return None if spec is None else spec.account.sub_accounts

    @property
    def provider(self) -> str:
        return self._accounts.platform_carrier

    @property
    def parent_reference(self) -> str:
        """Returns the reference of the platform's account; empty where it has none."""
        return self._accounts.platform_reference or ""

    async def is_on(self) -> bool:
        async with self._db.transaction() as session:
            provider, reference = self.provider, self.parent_reference
            return await superuser_queries.uses_sub_accounts(session, provider, reference)

    async def switch(self, caller: Caller, *, is_on: bool) -> None:
        """Turns sub-accounts on or off for purchases to come. Raises SubAccountsUnsupported and SubAccountsRefused
        (409), and CarrierCheckFailed (502)."""
        provider, reference = self.provider, self.parent_reference
        if is_on:
            await self._check_parent(caller.organization_id)
        async with self._db.transaction() as session:
            await superuser_queries.set_uses_sub_accounts(session, provider, reference, is_on=is_on)
            data = {"account_reference": reference, "uses_sub_accounts": is_on}
            await write_audit_entry(session, caller, "managed_carrier.updated", f"managed_carrier:{provider}", data)

    async def account_for_purchase(self, caller: Caller, purchase: NumberPurchase) -> CarrierAccount:
        """Returns the account that the purchase is made with: the platform's own, or the organization's sub-account, which
        is then noted on the purchase. Raises SubAccountNotCreated (502) and SubAccountPending (409)."""
        if not await self.is_on():
            return self._accounts.platform_account(caller.organization_id)
        if self.manager is None:
            raise SubAccountNotCreated("The platform's carrier has no sub-accounts. Ask the operator.")
        try:
            async with asyncio.timeout(self.wait_s):
                while True:
                    account = await self._attach(caller, purchase)
                    if account is not None:
                        return account
                    if not await self._create_next(caller, self.manager):
                        await asyncio.sleep(POLL_S)
        except TimeoutError:
            raise SubAccountPending from None

    async def close_empty(self, _: JsonObject) -> None:
        """Runs the job ``telephony.close_sub_accounts``: closes sub-accounts that have had no numbers for a while, and
        those whose closing failed."""
        now = self._clock.now()
        async with self._db.transaction() as session:
            await superuser_queries.note_emptied(session, now)
            rows = await superuser_queries.list_closable(session, now - CLOSE_AFTER)
        for row in rows:
            await self._close(row)

    async def close_all(self, organization_id: int) -> bool:
        """Closes the sub-accounts of an organization that is deleted. Returns False while one is left."""
        async with self._db.transaction() as session:
            rows = await statements.list_open(session, organization_id)
        closed = [await self._close(row) for row in rows]
        return all(closed)

    # helpers

    async def _check_parent(self, organization_id: int) -> None:
        if self.manager is None:
            raise SubAccountsUnsupported
        try:
            await self.manager.check_parent(self._accounts.platform_account(organization_id))
        except CarrierFailed as failure:
            if failure.retryable:
                raise CarrierCheckFailed(f"The carrier could not be asked: {failure.message}") from None
            raise SubAccountsRefused(f"The carrier does not allow sub-accounts: {failure.message}") from None

    async def _attach(self, caller: Caller, purchase: NumberPurchase) -> CarrierAccount | None:
        """Notes the organization's sub-account on the purchase, so that it is not closed in the meantime. Returns None
        while there is none."""
        async with self._db.transaction() as session:
            row = await statements.lock_current(session, caller.organization_id, self.provider, self.parent_reference)
            if row is None or row.state != statements.ACTIVE or row.telephony_configuration_id is None:
                return None
            if not await statements.attach_purchase(session, purchase, row):
                raise NumberNotBought
            purchase.telephony_configuration_id = row.telephony_configuration_id
            configuration = await repository.get_configuration(
                session, caller.organization_id, row.telephony_configuration_id
            )
            return await self._accounts.open_account(session, configuration)

    async def _create_next(self, caller: Caller, manager: SubAccountManager) -> bool:
        """Creates the sub-account unless another process is doing so. Returns whether it tried."""
        claimed = await self._claim(caller.organization_id)
        if claimed is None:
            return False
        row, parent = claimed, self._accounts.platform_account(caller.organization_id)
        try:
            found = await _find_or_create(manager, parent, row.name, lambda: self._renew(row))
        except CarrierFailed as failure:
            if not await self._note_failure(row, failure):
                return True
            raise SubAccountNotCreated(f"The sub-account was not created: {failure.message}") from None
        if not await self._record(caller, row, found):
            log.warning("sub_account_created_twice", sub_account_id=row.id, reference=found.reference)
            await self._close_stray(manager, parent, row, found)
        return True

    async def _claim(self, organization_id: int) -> CarrierSubAccount | None:
        """Returns the sub-account that this process is to create; None while another one creates it or it is active."""
        provider, parent_reference = self.provider, self.parent_reference
        now = self._clock.now()
        async with self._db.transaction() as session:
            row = await statements.lock_current(session, organization_id, provider, parent_reference)
            if row is None:
                values = {
                    "provider": provider,
                    "parent_reference": parent_reference,
                    # Unguessable, because another installation may have the same parent and the same numbers.
                    "name": f"offhook-{organization_id}-{secrets.token_hex(8)}",
                }
                await statements.add_sub_account(session, organization_id, **values)
                row = await statements.lock_current(session, organization_id, provider, parent_reference)
            if row is None or row.state != statements.CREATING:
                return None
            if row.claimed_at is not None and row.claimed_at > now - statements.CLAIM_TIMEOUT:
                return None
            row.claimed_at, row.error = now, None
        return row

    async def _renew(self, row: CarrierSubAccount) -> bool:
        """Renews the claim. Returns False if another process has taken over."""
        assert row.claimed_at is not None
        now = self._clock.now()
        async with self._db.transaction() as session:
            locked = await statements.lock_claimed(session, row.organization_id, row.id, row.claimed_at)
            if locked is not None:
                locked.claimed_at = now
        if locked is not None:
            row.claimed_at = now
        return locked is not None

    async def _note_failure(self, row: CarrierSubAccount, failure: CarrierFailed) -> bool:
        """Ends the claim, unless the carrier may still create the sub-account: then the next attempt has to wait. Returns
        False when another process had taken over."""
        log.warning("sub_account_not_created", sub_account_id=row.id, code=failure.code)
        assert row.claimed_at is not None
        async with self._db.transaction() as session:
            locked = await statements.lock_claimed(session, row.organization_id, row.id, row.claimed_at)
            if locked is not None:
                locked.error = failure.message[:500]
                if not failure.is_fate_unknown:
                    locked.claimed_at = None
        return locked is not None

    async def _record(self, caller: Caller, row: CarrierSubAccount, found: SubAccount) -> bool:
        """Records the sub-account with its credentials. Returns False when the claim was lost."""
        assert row.claimed_at is not None
        spec = self._carriers.find(row.provider)
        assert spec is not None
        assert spec.account.config is not None
        config, own_secrets = split_secrets(spec.account.config, found.fields)
        webhook_name = found.fields[spec.account.config.account_field]
        async with self._db.transaction() as session:
            locked = await statements.lock_claimed(session, row.organization_id, row.id, row.claimed_at)
            if locked is None:
                return False
            configuration = await add_managed_configuration(
                session,
                row.organization_id,
                provider=row.provider,
                account_reference=spec.account.config.canonical_account(webhook_name),
                verified_at=self._clock.now(),
                parent_reference=row.parent_reference,
                config=config,
                secrets=self._accounts.seal_secrets(row.organization_id, own_secrets),
            )
            locked.state, locked.claimed_at = statements.ACTIVE, None
            locked.account_reference = found.reference
            locked.telephony_configuration_id = configuration.id
            data = {"provider": row.provider, "account_reference": found.reference}
            target = f"carrier_sub_account:{row.id}"
            await write_audit_entry(session, caller, "carrier_sub_account.created", target, data)
        return True

    async def _close_stray(
        self, manager: SubAccountManager, parent: CarrierAccount, row: CarrierSubAccount, found: SubAccount
    ) -> None:
        """Closes a sub-account that was created after another process had taken over, unless that one found it."""
        async with self._db.transaction() as session:
            recorded = await statements.lock_sub_account(session, row.organization_id, row.id)
            if recorded is None or recorded.state == statements.CREATING:
                return
            if recorded.account_reference == found.reference:
                return
        try:
            await manager.close_sub_account(parent, found.reference)
        except CarrierFailed as failure:
            log.error("stray_sub_account_not_closed", reference=found.reference, code=failure.code)

    async def _close(self, row: CarrierSubAccount) -> bool:
        """Closes a sub-account without numbers. Returns False while it is in use or the carrier does not close it."""
        if not await self._begin_closing(row):
            return False
        is_ours = (row.provider, row.parent_reference) == (self.provider, self.parent_reference)
        if is_ours and self.manager is not None:
            parent = self._accounts.platform_account(row.organization_id)
            try:
                reference = row.account_reference
                if reference is None:
                    found = await self.manager.find_sub_account(parent, row.name)
                    reference = None if found is None else found.reference
                if reference is not None:
                    await self.manager.close_sub_account(parent, reference)
            except CarrierFailed as failure:
                log.warning("sub_account_not_closed", sub_account_id=row.id, code=failure.code)
                async with self._db.transaction() as session:
                    locked = await statements.lock_sub_account(session, row.organization_id, row.id)
                    if locked is not None:
                        locked.error = failure.message[:500]
                return False
        else:
            log.warning("sub_account_of_other_parent", sub_account_id=row.id, reference=row.account_reference)
        await self._record_closed(row, is_closed_at_carrier=is_ours)
        return True

    async def _begin_closing(self, row: CarrierSubAccount) -> bool:
        async with self._db.transaction() as session:
            locked = await statements.lock_sub_account(session, row.organization_id, row.id)
            if locked is None:
                return False
            is_claimed = (
                locked.state == statements.CREATING
                and locked.claimed_at is not None
                and locked.claimed_at > self._clock.now() - statements.CLAIM_TIMEOUT
            )
            if is_claimed or await statements.is_in_use(session, locked):
                return False
            if locked.telephony_configuration_id is not None:
                try:
                    await self._hooks.check_removal(session, row.organization_id, locked.telephony_configuration_id)
                except DomainError:
                    return False
            locked.state = statements.CLOSING
            row.account_reference = locked.account_reference
        return True

    async def _record_closed(self, row: CarrierSubAccount, *, is_closed_at_carrier: bool) -> None:
        """Deletes the account with its credentials and keeps the record of the sub-account."""
        caller = Caller.system(row.organization_id)
        async with self._db.transaction() as session:
            locked = await statements.lock_sub_account(session, row.organization_id, row.id)
            if locked is None or locked.state != statements.CLOSING:
                return
            locked.state, locked.closed_at, locked.error = statements.CLOSED, self._clock.now(), None
            if locked.telephony_configuration_id is not None:
                configuration = await repository.find_configuration(
                    session, row.organization_id, locked.telephony_configuration_id
                )
                if configuration is not None:
                    await session.delete(configuration)
            data = {"account_reference": row.account_reference, "is_closed_at_carrier": is_closed_at_carrier}
            target = f"carrier_sub_account:{row.id}"
            await write_audit_entry(session, caller, "carrier_sub_account.closed", target, data)


async def _find_or_create(
    manager: SubAccountManager, parent: CarrierAccount, name: str, renew: Callable[[], Awaitable[bool]]
) -> SubAccount:
    """Returns the sub-account of this name, a new one unless it is found. One that is found without its keys is closed
    while the claim is ours, so that never the sub-account of a process that has taken over is. Raises CarrierFailed, with
    ``is_fate_unknown`` when one may still be created."""
    unanswered: CarrierFailed | None = None
    closed: set[str] = set()
    for _ in range(CREATIONS):
        closed_before = len(closed)
        while (found := await manager.find_sub_account(parent, name)) is not None:
            if found.fields:
                return found
            if found.reference in closed or not await renew():
                raise CarrierFailed("interrupted", "An earlier sub-account could not be closed.", retryable=True)
            await manager.close_sub_account(parent, found.reference)
            closed.add(found.reference)
        if unanswered is not None and len(closed) == closed_before:
            break
        try:
            return await manager.create_sub_account(parent, name)
        except CarrierFailed as failure:
            if not failure.is_fate_unknown:
                raise
            unanswered = failure
    assert unanswered is not None
    raise unanswered
