"""What carriers tell us and what we answer them."""

from dataclasses import dataclass
from typing import Protocol

from offhook.telephony.ports.calls import CallBilled, CallLinks, CarrierAccount, CarrierWebhook, StatusUpdate


@dataclass(frozen=True, slots=True)
class WebhookProof:
    """A signature that was right. ``nonce`` is what may be seen only once (with the same body again it is a duplicate,
    with another body a forgery); None where the scheme has a time of its own and the body is covered."""

    nonce: str | None = None


class WebhookVerifier(Protocol):
    """Asked before anything is parsed; the only thing read before is whose account the request claims to be of."""

    def verify(self, account: CarrierAccount, webhook: CarrierWebhook, now_s: float) -> WebhookProof | None:
        """None when the account's carrier did not sign exactly this, or too long ago. ``now_s`` is unix time."""
        ...


@dataclass(frozen=True, slots=True)
class MachineVerdict:
    """The carrier's answering-machine detection. ``may_speak``: the beep is over, or the carrier does not wait for it."""

    is_machine: bool
    may_speak: bool = True
    call_id: str | None = None


CarrierNews = StatusUpdate | MachineVerdict | CallBilled


class StatusParser(Protocol):
    def parse_status(self, kind: str, webhook: CarrierWebhook) -> CarrierNews | None:
        """``kind`` is the callback's path segment (``status-callback``, ``events``, ``hangup-callback`` …). None for
        news that changes nothing. Raises WebhookUnreadable."""
        ...


class WebhookUnreadable(Exception):
    """A carrier's request that is not what this carrier sends."""


@dataclass(frozen=True, slots=True)
class InboundCall:
    call_id: str
    from_number: str | None
    to_number: str
    account_reference: str | None


@dataclass(frozen=True, slots=True)
class CarrierDocument:
    """What a carrier is answered: TwiML, NCCO, JSON."""

    content_type: str
    body: bytes
    status: int = 200


class InboundParser(Protocol):
    """Calls that come to one of our numbers."""

    def is_from_carrier(self, webhook: CarrierWebhook) -> bool:
        """Whether this carrier sent it, going by its shape; no proof of anything."""
        ...

    def account_reference(self, webhook: CarrierWebhook) -> str | None:
        """Which of the accounts it claims to be of: compared with :attr:`ConfigSpec.account_field`."""
        ...

    def parse_inbound(self, webhook: CarrierWebhook) -> InboundCall | None:
        """None for news about a call that is not a new inbound one. Raises WebhookUnreadable."""
        ...


class FollowUp(Protocol):
    """Carriers that are steered by commands: what is left to do when something that was asked for is done."""

    async def follow_up(self, account: CarrierAccount, webhook: CarrierWebhook) -> None:
        """Verified news at the inbound address that is no new call: hang up when a refusal was spoken, say. Raises
        CarrierFailed."""
        ...


class CallAnswerer(Protocol):
    async def answer_call(self, account: CarrierAccount, call_id: str, links: CallLinks) -> CarrierDocument:
        """Connect the call to our media socket: by the document, or by asking the carrier. Raises CarrierFailed."""
        ...

    async def refuse_call(self, account: CarrierAccount, call_id: str, message: str) -> CarrierDocument:
        """Say ``message`` to the caller and hang up. Raises CarrierFailed."""
        ...

    def unavailable_document(self, message: str) -> CarrierDocument:
        """The same without an account and without anything that could fail: the fallback of the fallback."""
        ...

    def conference_document(self, transfer_id: str) -> CarrierDocument | None:
        """The document for the destination's leg of a warm transfer; None where no document is fetched."""
        ...

    def forward_document(self, to_number: str, from_number: str, timeout_s: float) -> CarrierDocument | None:
        """The document that sends a caller to another number; None where no document is fetched."""
        ...
