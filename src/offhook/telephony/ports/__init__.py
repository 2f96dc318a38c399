"""What a telephone carrier can be asked for. A carrier is a :class:`CarrierSpec` of such parts; nothing else knows it.

A missing part is a missing feature. Carrier JSON, XML and audio formats end in ``providers/<name>/``.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from offhook.runs.finishing.carrier_charges import CarrierCallBill
from offhook.telephony.ports.calls import (
    BillReader,
    BlindTransfer,
    CallBilled,
    CallDialer,
    CallFinder,
    CallLinks,
    CallTransferrer,
    CarrierAccount,
    CarrierFailed,
    CarrierWebhook,
    DialRequest,
    LostCallQuery,
    StatusUpdate,
    TransferLeg,
    TransferLegs,
    TransferNews,
    TransferOrder,
)
from offhook.telephony.ports.media import (
    ClosesAtEnd,
    DigitPressed,
    MachineAnswered,
    MarkReached,
    MediaStarted,
    MediaStopped,
    MediaWire,
    WireError,
    WireEvent,
)
from offhook.telephony.ports.numbers import (
    AccountCheck,
    AvailableNumber,
    ConfigField,
    ConfigSpec,
    LookupResult,
    NumberCatalog,
    NumberLookup,
    NumberRouting,
)
from offhook.telephony.ports.webhooks import (
    CallAnswerer,
    CarrierDocument,
    CarrierNews,
    FollowUp,
    InboundCall,
    InboundParser,
    MachineVerdict,
    StatusParser,
    WebhookProof,
    WebhookUnreadable,
    WebhookVerifier,
)

__all__ = [
    "AccountCheck",
    "AvailableNumber",
    "BillReader",
    "BlindTransfer",
    "CallAnswerer",
    "CallBilled",
    "CallDialer",
    "CallFinder",
    "CallLinks",
    "CallTransferrer",
    "CarrierAccount",
    "CarrierCallBill",
    "CarrierDocument",
    "CarrierFailed",
    "CarrierNews",
    "CarrierRegistry",
    "CarrierSpec",
    "CarrierWebhook",
    "ClosesAtEnd",
    "ConfigField",
    "ConfigSpec",
    "DialRequest",
    "DigitPressed",
    "FollowUp",
    "InboundCall",
    "InboundParser",
    "LookupResult",
    "LostCallQuery",
    "MachineAnswered",
    "MachineVerdict",
    "MarkReached",
    "MediaStarted",
    "MediaStopped",
    "MediaWire",
    "NumberCatalog",
    "NumberLookup",
    "NumberRouting",
    "StatusParser",
    "StatusUpdate",
    "TransferLeg",
    "TransferLegs",
    "TransferNews",
    "TransferOrder",
    "WebhookProof",
    "WebhookUnreadable",
    "WebhookVerifier",
    "WireError",
    "WireEvent",
]


@dataclass(frozen=True, slots=True)
class CarrierSpec:
    """The parts that one carrier has. ``wire`` makes a MediaWire for one connection; ``calls_per_second`` is what the
    carrier gives new accounts; ``close`` ends what its parts hold.

    Its news arrive under ``/telephony/<name>/``: each of ``callbacks`` with a run's id behind it, or a transfer's for
    ``transfer-result`` (a carrier that has none gets the common address of transfers); each of ``workflow_callbacks``
    with ``workflow`` and a workflow's id, the run found by its call id; each of ``account_callbacks`` with nothing, the
    account found by ``inbound.account_reference`` and the run by its call id. All are given to ``statuses`` by name.

    ``has_early_media``: its media socket opens while the phone still rings, and closes without a start when nobody
    answers. Such a stream's silence says nothing about the call: the carrier's callbacks do.
    ``outlives_media``: closing the media socket does not end its calls; a call that is over is hung up by request.
    ``signature_headers`` are named in the description of the API.
    """

    name: str
    dialer: CallDialer | None = None
    answerer: CallAnswerer | None = None
    verifier: WebhookVerifier | None = None
    statuses: StatusParser | None = None
    callbacks: Sequence[str] = ()
    workflow_callbacks: Sequence[str] = ()
    account_callbacks: Sequence[str] = ()
    inbound: InboundParser | None = None
    follow_up: FollowUp | None = None
    finder: CallFinder | None = None
    bills: BillReader | None = None
    wire: Callable[[], MediaWire] | None = None
    transferrer: CallTransferrer | None = None
    transfer_legs: TransferLegs | None = None
    blind_transfer: BlindTransfer | None = None
    catalog: NumberCatalog | None = None
    routing: NumberRouting | None = None
    lookup: NumberLookup | None = None
    config: ConfigSpec | None = None
    account_check: AccountCheck | None = None
    calls_per_second: float | None = None
    close: Callable[[], Awaitable[None]] | None = None
    has_early_media: bool = False
    outlives_media: bool = False
    signature_headers: Sequence[str] = ()


class CarrierRegistry:
    """The carriers of this process by name."""

    def __init__(self, specs: Sequence[CarrierSpec] = ()) -> None:
        self._specs = {spec.name: spec for spec in specs}

    def add(self, spec: CarrierSpec) -> None:
        self._specs[spec.name] = spec

    def find(self, name: str) -> CarrierSpec | None:
        return self._specs.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._specs)
