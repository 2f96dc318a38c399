"""Buys and releases numbers at the platform's carrier, for the platform's account and for sub-accounts of it."""

from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.errors import CarrierUnavailable
from offhook.telephony.ports import CarrierAccount, CarrierFailed, CarrierRegistry, NumberCatalog, SubAccountNumbers


class NumberTrade:
    """Trades numbers with the credentials of an account. Where the carrier sells to the parent of sub-accounts only, the
    parent buys and releases their numbers, and a number that was bought is moved at once. Raises CarrierFailed."""

    def __init__(self, carriers: CarrierRegistry, accounts: CarrierAccounts) -> None:
        self._carriers = carriers
        self._accounts = accounts

    @property
    def catalog(self) -> NumberCatalog:
        """Returns the platform's catalog. Raises CarrierUnavailable (502)."""
        spec = self._carriers.find(self._accounts.platform_carrier)
        if spec is None or spec.numbers.catalog is None:
            raise CarrierUnavailable("The platform's carrier does not sell numbers.")
        return spec.numbers.catalog

    async def buy_number(self, account: CarrierAccount, number: str, country: str) -> str:
        """Buys the number and returns the carrier's id for it. Raises CarrierFailed, with ``is_fate_unknown`` also when it
        was bought and not moved."""
        carrier_id = await self.catalog.buy_number(self._trader_for(account), number, country)
        try:
            await self._move_number(account, number)
        except CarrierFailed as failure:
            raise CarrierFailed(
                failure.code, failure.message, retryable=failure.retryable, is_fate_unknown=True
            ) from None
        return carrier_id

    async def find_owned(self, account: CarrierAccount, number: str) -> str | None:
        """Returns the carrier's id of a number that the account owns or that its parent bought for it."""
        mover = self._mover_for(account)
        if mover is None:
            return await self.catalog.find_owned(account, number)
        return await mover.find_number(self._trader_for(account), account, number)

    async def claim_owned(self, account: CarrierAccount, number: str) -> str | None:
        """Returns what :meth:`find_owned` does, and moves the number if that was not done."""
        carrier_id = await self.find_owned(account, number)
        if carrier_id is not None:
            await self._move_number(account, number)
        return carrier_id

    async def release_number(self, account: CarrierAccount, number: str, carrier_id: str | None) -> None:
        await self.catalog.release_number(self._trader_for(account), number, carrier_id)

    # helpers

    def _mover_for(self, account: CarrierAccount) -> SubAccountNumbers | None:
        """Returns how the numbers of this account are moved; None for the platform's own account, which has no id, and
        where sub-accounts buy for themselves."""
        spec = self._carriers.find(account.provider)
        return None if spec is None or account.id is None else spec.account.sub_account_numbers

    def _trader_for(self, account: CarrierAccount) -> CarrierAccount:
        return account if self._mover_for(account) is None else self._accounts.platform_account(account.organization_id)

    async def _move_number(self, account: CarrierAccount, number: str) -> None:
        mover = self._mover_for(account)
        if mover is not None:
            await mover.move_number(self._trader_for(account), account, number)
