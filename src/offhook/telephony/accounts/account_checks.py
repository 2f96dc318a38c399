"""Questions to a carrier about an account: whether it accepts the credentials, and whether it owns a number."""

from collections.abc import Mapping
from typing import Any

from offhook.telephony.accounts.public_urls import PublicAddress
from offhook.telephony.carrier_kit.number_formats import PSTN
from offhook.telephony.errors import (
    CarrierCheckFailed,
    CarrierUnavailable,
    ConfigurationInvalid,
    CredentialsRefused,
    NumberNotOwned,
)
from offhook.telephony.ports import CarrierAccount, CarrierFailed, CarrierSpec


async def verify_credentials(spec: CarrierSpec, account: CarrierAccount, address: PublicAddress) -> Mapping[str, Any]:
    """Returns the fields that the carrier adds to the account. Raises ConfigurationInvalid or CredentialsRefused (422),
    or CarrierCheckFailed (502)."""
    if spec.account.check is None:
        return {}
    try:
        return await spec.account.check.check_account(account, address.inbound_url if address.base else "")
    except CarrierFailed as failure:
        if failure.retryable:
            raise CarrierCheckFailed(
                f"The credentials could not be checked with the carrier: {failure.message}"
            ) from None
        if failure.code == "carrier_misconfigured":
            raise ConfigurationInvalid(failure.message) from None
        raise CredentialsRefused(f"The carrier rejected these credentials: {failure.message}") from None


async def require_ownership(spec: CarrierSpec, account: CarrierAccount, address: str, kind: str) -> str | None:
    """Returns the carrier's id of the account's number; None where the carrier has no list of them. Raises
    NumberNotOwned (400) or CarrierUnavailable (502)."""
    if spec.numbers.catalog is None or kind != PSTN:
        return None
    try:
        found = await spec.numbers.catalog.find_owned(account, address)
    except CarrierFailed as failure:
        raise CarrierUnavailable(failure.message) from None
    if found is None:
        raise NumberNotOwned
    return found
