"""Interfaces of a carrier's phone numbers, and the fields of an account."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from offhook.kit.json_values import JsonObject
from offhook.telephony.ports.calls import CarrierAccount


@dataclass(frozen=True, slots=True)
class AvailableNumber:
    """A number on sale. ``number_type`` is local, mobile, national or toll_free; ``capabilities`` are of voice, sms,
    fax."""

    phone_number: str
    friendly_name: str
    country: str
    number_type: str
    locality: str | None = None
    region: str | None = None
    capabilities: Sequence[str] = ("voice",)
    monthly_cost_cents: int | None = None


class NumberCatalog(Protocol):
    async def search_numbers(
        self, account: CarrierAccount, country: str, area_code: str | None, number: str | None, limit: int
    ) -> list[AvailableNumber]: ...

    async def buy_number(self, account: CarrierAccount, number: str, country: str) -> str:
        """Buys the number and returns the carrier's id for it. Raises CarrierFailed, with ``is_fate_unknown`` when
        it may have been bought."""
        ...

    async def find_owned(self, account: CarrierAccount, number: str) -> str | None:
        """Returns the carrier's id of a number that the account owns, None for any other."""
        ...

    async def release_number(self, account: CarrierAccount, number: str, carrier_id: str | None) -> None:
        """Releases the number; one that is already gone is no error."""
        ...


class NumberRouting(Protocol):
    async def route_number(self, account: CarrierAccount, number: str, inbound_url: str) -> None:
        """Routes calls to this number to ``inbound_url``. Where the URL belongs to an application that other numbers
        share, it is set there and never cleared for one number. Raises CarrierFailed."""
        ...


@dataclass(frozen=True, slots=True)
class LookupResult:
    carrier: str | None
    line_type: str


class NumberLookup(Protocol):
    async def look_up(self, account: CarrierAccount, number: str) -> LookupResult: ...


@dataclass(frozen=True, slots=True)
class ConfigField:
    """One field of an account's form. ``kind`` is text, secret, multiline_secret or boolean.

    ``is_missed``: optional, but a feature does not work without it (a key that verifies webhooks), so users are warned.
    """

    name: str
    label: str
    kind: str = "text"
    is_required: bool = True
    help: str = ""
    is_missed: bool = False


class AccountCheck(Protocol):
    async def check_account(self, account: CarrierAccount, inbound_url: str) -> Mapping[str, Any]:
        """Checks the credentials with the carrier. Returns the fields that it completed (such as an application that
        it created, with ``inbound_url`` for its calls). Raises CarrierFailed, not retryable when the credentials are
        wrong."""
        ...


@dataclass(frozen=True, slots=True)
class SubAccount:
    """A sub-account at a carrier. ``reference`` is the carrier's id of it, ``fields`` are the fields of an account
    (:class:`ConfigSpec`) with its own credentials and its name in webhooks; empty where the carrier has told them to its
    creation only, which was interrupted: it has to be closed then and another one created."""

    reference: str
    fields: Mapping[str, str] = field(repr=False)


class SubAccountManager(Protocol):
    """Manages the sub-accounts of ``parent``, one per organization. Every method raises CarrierFailed."""

    async def check_parent(self, parent: CarrierAccount) -> None:
        """Checks that this account can have sub-accounts."""
        ...

    async def find_sub_account(self, parent: CarrierAccount, name: str) -> SubAccount | None:
        """Returns the open sub-account with exactly this name; the oldest of several."""
        ...

    async def create_sub_account(self, parent: CarrierAccount, name: str) -> SubAccount:
        """Creates a sub-account with all that its calls need. ``name`` has at most 64 characters. Raises CarrierFailed,
        with ``is_fate_unknown`` when it may have been created. One that was created in part is completed by
        :meth:`find_sub_account`, or found by it without its fields."""
        ...

    async def close_sub_account(self, parent: CarrierAccount, reference: str) -> None:
        """Closes the sub-account; one that is already closed or gone is no error."""
        ...


class SubAccountNumbers(Protocol):
    """The numbers of sub-accounts where the carrier sells to the parent only, which then moves them to ``account``. Every
    method raises CarrierFailed."""

    async def find_number(self, parent: CarrierAccount, account: CarrierAccount, number: str) -> str | None:
        """Returns the carrier's id of a number that the parent or this sub-account has; None for any other."""
        ...

    async def move_number(self, parent: CarrierAccount, account: CarrierAccount, number: str) -> None:
        """Moves a number of the parent to the sub-account, unless it is already there."""
        ...


@dataclass(frozen=True, slots=True)
class ConfigSpec:
    """The fields of an account at this carrier; ``account_field`` is the one that its webhooks name.

    ``canonical_account`` unifies the spellings of that field: it is applied to the stored value and to the result of
    ``InboundParser.account_reference`` before they are compared. ``validate`` replaces the check against ``fields``
    where an account is no flat form; it raises ConfigurationInvalid (422).
    """

    display_name: str
    fields: Sequence[ConfigField]
    account_field: str
    docs_url: str = ""
    validate: Callable[[Mapping[str, Any]], JsonObject] | None = None
    canonical_account: Callable[[str], str] = str.strip
