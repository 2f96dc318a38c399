"""Phone numbers at a carrier, and what an account there consists of."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from offhook.kit.json_values import JsonObject
from offhook.telephony.ports.calls import CarrierAccount


@dataclass(frozen=True, slots=True)
class AvailableNumber:
    """``number_type`` is local, mobile, national or toll_free; ``capabilities`` of voice, sms, fax."""

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
        """The carrier's id of the number. Raises CarrierFailed, with ``is_fate_unknown`` when it may be bought."""
        ...

    async def find_owned(self, account: CarrierAccount, number: str) -> str | None:
        """The carrier's id of a number that the account has, None when it has not."""
        ...

    async def release_number(self, account: CarrierAccount, number: str, carrier_id: str | None) -> None:
        """A number that is gone already is no error."""
        ...


class NumberRouting(Protocol):
    async def route_number(self, account: CarrierAccount, number: str, inbound_url: str) -> None:
        """Let calls to this number come to ``inbound_url``. Where the address belongs to an application that other
        numbers share, it is set there and never cleared for one number. Raises CarrierFailed."""
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

    ``is_missed``: not required, but something does not work without it (a key that verifies webhooks), so that users
    are warned.
    """

    name: str
    label: str
    kind: str = "text"
    is_required: bool = True
    help: str = ""
    is_missed: bool = False


class AccountCheck(Protocol):
    async def check_account(self, account: CarrierAccount, inbound_url: str) -> Mapping[str, Any]:
        """Whether the carrier takes these credentials; what it completed (such as an application that it made, with
        ``inbound_url`` for its calls). Raises CarrierFailed, not retryable when the credentials are wrong."""
        ...


@dataclass(frozen=True, slots=True)
class ConfigSpec:
    """What an account of this carrier consists of; ``account_field`` is the one that its webhooks name.

    ``canonical_account`` makes two spellings of that field one: it is applied to what is stored and to what
    ``InboundParser.account_reference`` answers before they are compared. ``validate`` replaces the check against
    ``fields`` where an account is no flat form; it raises ConfigurationInvalid (422).
    """

    display_name: str
    fields: Sequence[ConfigField]
    account_field: str
    docs_url: str = ""
    validate: Callable[[Mapping[str, Any]], JsonObject] | None = None
    canonical_account: Callable[[str], str] = str.strip
