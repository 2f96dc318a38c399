"""A carrier as its parts, grouped by purpose, and the registry of all carriers of a process."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from offhook.telephony.ports.calls import (
    BillReader,
    BlindTransfer,
    CallDialer,
    CallFinder,
    CallTransferrer,
    LocalPhones,
    MediaReconnector,
    TransferLegs,
)
from offhook.telephony.ports.media import MediaWire
from offhook.telephony.ports.numbers import (
    AccountCheck,
    ConfigSpec,
    NumberCatalog,
    NumberLookup,
    NumberRouting,
    SubAccountManager,
    SubAccountNumbers,
)
from offhook.telephony.ports.webhooks import CallAnswerer, FollowUp, InboundParser, StatusParser, WebhookVerifier


@dataclass(frozen=True, slots=True)
class CallCapabilities:
    """Places, finds, bills, ends, reconnects and transfers calls.

    ``calls_per_second`` is the carrier's limit for new accounts, None where there is none. ``limits_by_number``: a
    number carries one campaign call at a time unless the account allows more. ``default_caller_number`` is the caller
    ID of an account without numbers.
    """

    dialer: CallDialer | None = None
    finder: CallFinder | None = None
    bills: BillReader | None = None
    transferrer: CallTransferrer | None = None
    transfer_legs: TransferLegs | None = None
    blind_transfer: BlindTransfer | None = None
    local_phones: LocalPhones | None = None
    reconnector: MediaReconnector | None = None
    calls_per_second: float | None = 1.0
    limits_by_number: bool = True
    default_caller_number: str | None = None

    @property
    def has_warm_transfer(self) -> bool:
        return self.transferrer is not None or self.transfer_legs is not None


@dataclass(frozen=True, slots=True)
class WebhookCapabilities:
    """Verifies, parses and answers the carrier's requests.

    They arrive under ``/telephony/<name>/``: each of ``callbacks`` followed by a run's id, or by a transfer's for
    ``transfer-result`` (a carrier without that one uses the common address of transfers); each of
    ``workflow_callbacks`` followed by ``workflow`` and a workflow's id, the run found by its call id; each of
    ``account_callbacks`` alone, the account found by ``inbound.account_reference`` and the run by its call id. All are
    passed to ``statuses`` by name. ``signature_headers`` are listed in the API description.
    """

    answerer: CallAnswerer | None = None
    verifier: WebhookVerifier | None = None
    statuses: StatusParser | None = None
    callbacks: Sequence[str] = ()
    workflow_callbacks: Sequence[str] = ()
    account_callbacks: Sequence[str] = ()
    inbound: InboundParser | None = None
    follow_up: FollowUp | None = None
    signature_headers: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class MediaCapabilities:
    """Carries audio: ``wire`` creates a MediaWire for one connection.

    ``has_early_media``: the media socket opens while the phone still rings, and closes without a start when the call is
    not answered. Such a stream's silence says nothing about the call; the carrier's callbacks do. ``outlives_media``:
    closing the media socket does not end the call, which has to be hung up by request. ``asks_again``: when the media
    has ended, for whatever reason, the carrier asks us at ``CallLinks.resume_url`` what to do with the call.
    """

    wire: Callable[[], MediaWire] | None = None
    has_early_media: bool = False
    outlives_media: bool = False
    asks_again: bool = False


@dataclass(frozen=True, slots=True)
class NumberCapabilities:
    """Sells phone numbers, routes their calls to us, and looks numbers up."""

    catalog: NumberCatalog | None = None
    routing: NumberRouting | None = None
    lookup: NumberLookup | None = None


@dataclass(frozen=True, slots=True)
class AccountCapabilities:
    """Describes and checks an organization's account. ``is_optional``: calls can be placed without an account.
    ``sub_accounts``: the platform's account at this carrier can have one sub-account per organization.
    ``sub_account_numbers``: only the parent can buy and release their numbers."""

    config: ConfigSpec | None = None
    check: AccountCheck | None = None
    sub_accounts: SubAccountManager | None = None
    sub_account_numbers: SubAccountNumbers | None = None
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class CarrierSpec:
    """The parts of one carrier; a missing part is a missing feature. ``close`` releases the resources of its parts.

    ``is_in_process``: its network is this process, so it reaches us without a public URL, its record of calls is
    complete before a phone rings, and its calls end with their media.
    """

    name: str
    calls: CallCapabilities = CallCapabilities()
    webhooks: WebhookCapabilities = WebhookCapabilities()
    media: MediaCapabilities = MediaCapabilities()
    numbers: NumberCapabilities = NumberCapabilities()
    account: AccountCapabilities = AccountCapabilities()
    is_in_process: bool = False
    close: Callable[[], Awaitable[None]] | None = None


class CarrierRegistry:
    """The carriers of this process by name."""

    def __init__(self, specs: Sequence[CarrierSpec] = ()) -> None:
        self._specs = {spec.name: spec for spec in specs}

    def add(self, spec: CarrierSpec) -> None:
        self._specs[spec.name] = spec

    def find(self, name: str) -> CarrierSpec | None:
        return self._specs.get(name)

    def is_simulated(self, name: str) -> bool:
        """Returns whether the carrier's phones are programs of this process."""
        return name in self._specs and self._specs[name].is_in_process

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._specs)

    @property
    def specs(self) -> tuple[CarrierSpec, ...]:
        """Returns all carriers by name."""
        return tuple(spec for _, spec in sorted(self._specs.items()))

    @property
    def resumable(self) -> tuple[str, ...]:
        """Returns the names of the carriers that connect a call again whose media has ended."""
        return tuple(spec.name for spec in self.specs if spec.media.asks_again or spec.calls.reconnector is not None)

    @property
    def built_in(self) -> CarrierSpec:
        """Returns the carrier for calls of organizations without an account."""
        return next(spec for spec in self._specs.values() if spec.account.is_optional)
