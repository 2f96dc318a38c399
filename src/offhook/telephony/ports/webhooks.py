"""Interfaces of carriers' webhooks and of our answers to them."""

from dataclasses import dataclass
from typing import Protocol

from offhook.telephony.ports.calls import (
    CallBilled,
    CallLinks,
    CarrierAccount,
    CarrierWebhook,
    StatusUpdate,
    TransferUpdate,
)


@dataclass(frozen=True, slots=True)
class WebhookProof:
    """A valid signature. ``nonce`` is a value that counts once (with the same body again the request is a duplicate,
    with another body a forgery); None where the scheme has its own timestamp and covers the body."""

    nonce: str | None = None


class WebhookVerifier(Protocol):
    """Verifies a request before anything is parsed; only the account that it claims is read earlier."""

    def verify(self, account: CarrierAccount, webhook: CarrierWebhook, now_s: float) -> WebhookProof | None:
        """Returns None unless the account's carrier signed exactly this, recently enough. ``now_s`` is Unix time."""
        ...


@dataclass(frozen=True, slots=True)
class MachineVerdict:
    """The verdict of the carrier's answering-machine detection. ``may_speak``: the beep is over, or the carrier does
    not wait for it."""

    is_machine: bool
    may_speak: bool = True
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
class StreamEnded:
    """The stream to our ``media_url`` has ended or failed, for any reason; the call may continue."""

    media_url: str
    call_id: str | None = None


CarrierReport = StatusUpdate | MachineVerdict | CallBilled | StreamEnded


class StatusParser(Protocol):
    def parse_status(self, kind: str, webhook: CarrierWebhook) -> CarrierReport | None:
        """Parses a status callback. ``kind`` is its path segment (``status-callback``, ``events``,
        ``hangup-callback`` …). Returns None when it changes nothing. Raises WebhookUnreadable."""
        ...

    def parse_transfer(self, webhook: CarrierWebhook) -> TransferUpdate | None:
        """Parses an event of a transfer's second leg, whose signature is already verified; None for one that changes
        nothing. Raises WebhookUnreadable."""
        ...


class WebhookUnreadable(Exception):
    """A request that does not have this carrier's format."""


@dataclass(frozen=True, slots=True)
class InboundCall:
    call_id: str
    from_number: str | None
    to_number: str
    account_reference: str | None


@dataclass(frozen=True, slots=True)
class CarrierDocument:
    """The body of an answer to a carrier: TwiML, NCCO, JSON."""

    content_type: str
    body: bytes
    status: int = 200


class InboundParser(Protocol):
    """Parses calls to one of our numbers."""

    def is_from_carrier(self, webhook: CarrierWebhook) -> bool:
        """Returns True if the request has this carrier's shape, which proves nothing."""
        ...

    def account_reference(self, webhook: CarrierWebhook) -> str | None:
        """Returns the account that the request claims, to be compared with :attr:`ConfigSpec.account_field`."""
        ...

    def parse_inbound(self, webhook: CarrierWebhook) -> InboundCall | None:
        """Returns None for an event of a call that is not a new inbound one. Raises WebhookUnreadable."""
        ...


class FollowUp(Protocol):
    """A carrier that is controlled by commands: the follow-up once a command has completed."""

    async def follow_up(self, account: CarrierAccount, webhook: CarrierWebhook) -> None:
        """Handles a verified event at the inbound address that is no new call, for example by hanging up after a
        spoken refusal. Raises CarrierFailed."""
        ...


class CallAnswerer(Protocol):
    async def answer_call(self, account: CarrierAccount, call_id: str, links: CallLinks) -> CarrierDocument:
        """Connects the call to our media socket: by the document, or by a request to the carrier. Raises
        CarrierFailed."""
        ...

    async def refuse_call(self, account: CarrierAccount, call_id: str, message: str) -> CarrierDocument:
        """Says ``message`` to the caller and hangs up. Raises CarrierFailed."""
        ...

    async def reject_as_busy(self, account: CarrierAccount, call_id: str) -> CarrierDocument | None:
        """Leaves the call unanswered, so that the caller hears that we are busy and nothing is billed. Returns None where
        the carrier cannot, and the refusal has to be spoken. Raises CarrierFailed."""
        return None

    def unavailable_document(self, message: str) -> CarrierDocument:
        """Returns the refusal that needs no account and cannot fail: the last fallback."""
        ...

    def hang_up_document(self) -> CarrierDocument | None:
        """Returns the document that ends a call without a word; None where the carrier never asks for it."""
        return None

    def asks_what_follows(self, webhook: CarrierWebhook) -> bool:
        """Returns whether a request at ``CallLinks.resume_url`` says that the media has ended; False for one that only
        reports on it. Raises WebhookUnreadable."""
        return True

    def conference_document(self, transfer_id: str) -> CarrierDocument | None:
        """Returns the document for the destination's leg of a warm transfer; None where no document is fetched."""
        return None

    def forward_document(self, to_number: str, from_number: str, timeout_s: float) -> CarrierDocument | None:
        """Returns the document that sends a caller to another number; None where no document is fetched."""
        return None
