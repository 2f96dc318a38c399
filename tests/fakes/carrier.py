"""A carrier of our own invention: every port is really implemented, its wires are JSON and its signature an HMAC.

What it is asked is noted, and what it should refuse is set; what it tells us is made by :meth:`FakeCarrier.signed`.
"""

import asyncio
import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from offhook.root import Root
from offhook.runs.finishing import carrier_charges
from offhook.telephony.ports import (
    AccountCapabilities,
    AvailableNumber,
    CallBilled,
    CallCapabilities,
    CallDialer,
    CallLinks,
    CarrierAccount,
    CarrierDocument,
    CarrierFailed,
    CarrierRegistry,
    CarrierReport,
    CarrierSpec,
    CarrierWebhook,
    ConfigField,
    ConfigSpec,
    DialRequest,
    InboundCall,
    LookupResult,
    MachineVerdict,
    MediaCapabilities,
    NumberCapabilities,
    StatusUpdate,
    StreamEnded,
    TransferLeg,
    TransferOrder,
    TransferUpdate,
    WebhookCapabilities,
    WebhookProof,
    WebhookUnreadable,
)
from offhook.telephony.providers.twilio.wire import TwilioWire

NAME = "fakecom"
TOLERANCE_S = 300


def sign(token: str, url: str, nonce: str, body: bytes) -> str:
    return hmac.digest(token.encode(), f"{url}\n{nonce}\n".encode() + body, hashlib.sha256).hex()


def read(webhook: CarrierWebhook) -> dict[str, Any]:
    try:
        found = json.loads(webhook.body)
    except ValueError:
        raise WebhookUnreadable("not JSON") from None
    if not isinstance(found, dict):
        raise WebhookUnreadable("not a JSON object")
    return found


def document(**parts: Any) -> CarrierDocument:
    return CarrierDocument("application/json", json.dumps(parts).encode())


@dataclass
class FakeCarrier:
    """``refuses``: by the name of an operation, the error that it raises."""

    calls: list[tuple[str, DialRequest]] = field(default_factory=list)
    hung_up: list[str] = field(default_factory=list)
    done: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    refuses: dict[str, CarrierFailed] = field(default_factory=dict)
    numbers: set[str] = field(default_factory=set)
    sells: bool = True
    # Whether it can leave a call unanswered as busy.
    rejects: bool = False
    for_sale: list[str] = field(default_factory=lambda: ["+12015550140", "+12015550141", "+12015550142"])
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    def spec(self, name: str = NAME, **calls: Any) -> CarrierSpec:
        """``calls`` replaces parts of its call capabilities."""
        return CarrierSpec(
            name,
            calls=replace(
                CallCapabilities(dialer=self, transfer_legs=self, blind_transfer=self, calls_per_second=2.0), **calls
            ),
            webhooks=WebhookCapabilities(
                answerer=self,
                verifier=self,
                statuses=self,
                callbacks=("events",),
                workflow_callbacks=("hangup-callback",),
                account_callbacks=("cdr",),
                inbound=self,
                follow_up=self,
            ),
            media=MediaCapabilities(wire=TwilioWire),
            numbers=NumberCapabilities(catalog=self, routing=self, lookup=self),
            account=AccountCapabilities(
                config=ConfigSpec(
                    display_name="Fakecom",
                    fields=(
                        ConfigField("account", "Account"),
                        ConfigField("token", "Token", kind="secret"),
                        ConfigField("webhook_key", "Webhook key", kind="secret", is_required=False, is_missed=True),
                        ConfigField("amd_enabled", "Machine detection", kind="boolean", is_required=False),
                    ),
                    account_field="account",
                    canonical_account=str.lower,
                ),
                check=self,
            ),
        )

    def _do(self, operation: str, **details: Any) -> None:
        self.done.append((operation, details))
        self.asked.set()
        if operation in self.refuses:
            raise self.refuses[operation]

    def asked_for(self, operation: str) -> list[dict[str, Any]]:
        return [details for name, details in self.done if name == operation]

    # what it tells us

    def signed(
        self, url: str, body: Mapping[str, Any] | bytes, token: str = "s3cret-token", nonce: str | None = None
    ) -> tuple[bytes, dict[str, str]]:
        """(body, headers) of a request to ``url``."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        nonce = nonce or secrets.token_hex(8)
        return raw, {"x-fake-signature": sign(token, url, nonce, raw), "x-fake-nonce": nonce}

    # Dialer

    async def place_call(self, account: CarrierAccount, request: DialRequest) -> str:
        call_id = f"FC{len(self.calls) + 1}"
        self.calls.append((call_id, request))
        self._do("dial", account=account, request=request)
        return call_id

    async def hang_up(self, account: CarrierAccount, call_id: str) -> None:
        self.hung_up.append(call_id)
        self._do("hang_up", call_id=call_id)

    # MediaReconnector

    async def has_caller(self, account: CarrierAccount, call_id: str) -> bool:
        return True

    async def reconnect_media(self, account: CarrierAccount, call_id: str, links: CallLinks, attempt: int) -> None:
        self._do("reconnect", call_id=call_id, media_url=links.media_url, attempt=attempt)

    # Verifier

    def verify(self, account: CarrierAccount, webhook: CarrierWebhook, now_s: float) -> WebhookProof | None:
        nonce = webhook.headers.get("x-fake-nonce", "")
        expected = sign(str(account.config.get("token", "")), webhook.url, nonce, webhook.body)
        if not hmac.compare_digest(expected, webhook.headers.get("x-fake-signature", "")):
            return None
        if abs(now_s - float(webhook.headers.get("x-fake-time", now_s))) > TOLERANCE_S:
            return None
        return WebhookProof(nonce)

    # StatusParser

    def parse_status(self, kind: str, webhook: CarrierWebhook) -> CarrierReport | None:
        report = read(webhook)
        if "machine" in report:
            return MachineVerdict(bool(report["machine"]), bool(report.get("may_speak", True)), report.get("call_id"))
        if "stream_ended" in report:
            return StreamEnded(report["stream_ended"], report.get("call_id"))
        bill = carrier_charges.parse_carrier_bill(
            report.get("duration"), cost=report.get("cost"), currency=report.get("currency")
        )
        if "status" not in report:
            return CallBilled(bill, report.get("call_id")) if bill is not None else None
        return StatusUpdate(str(report["status"]), call_id=report.get("call_id"), bill=bill)

    # Inbound

    def is_from_carrier(self, webhook: CarrierWebhook) -> bool:
        return "x-fake-nonce" in webhook.headers

    def account_reference(self, webhook: CarrierWebhook) -> str | None:
        found = read(webhook).get("account")
        return str(found) if found else None

    def parse_inbound(self, webhook: CarrierWebhook) -> InboundCall | None:
        report = read(webhook)
        if report.get("direction") != "inbound":
            return None
        try:
            return InboundCall(str(report["call_id"]), report.get("from"), str(report["to"]), report.get("account"))
        except KeyError as error:
            raise WebhookUnreadable(f"{error} is missing") from None

    async def follow_up(self, account: CarrierAccount, webhook: CarrierWebhook) -> None:
        self._do("follow_up", report=read(webhook))

    # Answerer

    async def answer_call(self, account: CarrierAccount, call_id: str, links: CallLinks) -> CarrierDocument:
        self._do("connect", call_id=call_id, links=links)
        return document(connect=links.media_url)

    async def refuse_call(self, account: CarrierAccount, call_id: str, message: str) -> CarrierDocument:
        self._do("refuse", call_id=call_id, message=message)
        return document(say=message)

    async def reject_as_busy(self, account: CarrierAccount, call_id: str) -> CarrierDocument | None:
        if not self.rejects:
            return None
        self._do("reject", call_id=call_id)
        return document(reject="busy")

    def unavailable_document(self, message: str) -> CarrierDocument:
        return document(say=message)

    def hang_up_document(self) -> CarrierDocument | None:
        return None

    def asks_what_follows(self, webhook: CarrierWebhook) -> bool:
        return True

    def forward_document(self, to_number: str, from_number: str, timeout_s: float) -> CarrierDocument | None:
        return document(dial=to_number, caller=from_number)

    def conference_document(self, transfer_id: str) -> CarrierDocument | None:
        return document(room=transfer_id)

    # TransferLegs, BlindTransfer

    async def start_leg(self, account: CarrierAccount, order: TransferOrder) -> str:
        self._do("start", order=order)
        return f"DEST-{order.transfer_id[:6]}"

    def parse_transfer(self, webhook: CarrierWebhook) -> TransferUpdate | None:
        report = read(webhook)
        if report.get("kind") not in {"answered", "failed", "ended"}:
            return None
        return TransferUpdate(report["kind"], report.get("destination_id"), report.get("reason"))

    async def seat_destination(self, account: CarrierAccount, leg: TransferLeg) -> str | None:
        self._do("seat", leg=leg)
        return f"CONF-{leg.destination_id}"

    async def join_caller(self, account: CarrierAccount, leg: TransferLeg) -> None:
        self._do("join", leg=leg)

    async def redirect_caller(
        self,
        account: CarrierAccount,
        call_id: str,
        to_number: str,
        from_number: str,
        timeout_s: float,
        forward_url: str = "",
    ) -> None:
        self._do("redirect", call_id=call_id, to_number=to_number, from_number=from_number, forward_url=forward_url)

    # NumberCatalog, NumberRouting, NumberLookup, AccountCheck

    async def search_numbers(
        self, account: CarrierAccount, country: str, area_code: str | None, number: str | None, limit: int
    ) -> list[AvailableNumber]:
        self._do("search", country=country, area_code=area_code, number=number)
        found = [one for one in self.for_sale if area_code is None or one[2:5] == area_code]
        return [AvailableNumber(one, one, country, "local", monthly_cost_cents=115) for one in found][:limit]

    async def buy_number(self, account: CarrierAccount, number: str, country: str) -> str:
        if self.sells:
            self.numbers.add(number)
        self._do("buy", number=number)
        return f"PN{number[1:]}"

    async def find_owned(self, account: CarrierAccount, number: str) -> str | None:
        self._do("owned", number=number)
        return f"PN{number[1:]}" if number in self.numbers else None

    async def release_number(self, account: CarrierAccount, number: str, carrier_id: str | None) -> None:
        self._do("release", number=number, carrier_id=carrier_id)
        self.numbers.discard(number)

    async def route_number(self, account: CarrierAccount, number: str, inbound_url: str) -> None:
        self._do("point", number=number, inbound_url=inbound_url)

    async def look_up(self, account: CarrierAccount, number: str) -> LookupResult:
        self._do("look_up", number=number)
        return LookupResult("Fake Wireless", "mobile")

    async def check_account(self, account: CarrierAccount, inbound_url: str) -> Mapping[str, Any]:
        self._do("check", config=dict(account.config))
        return {"application_id": "made-by-the-carrier"}


def replace_sandbox_dialer(root: Root, dialer: CallDialer) -> None:
    """Lets ``dialer`` stand in the place of the sandbox's network."""
    carriers = root.get(CarrierRegistry)
    sandbox = carriers.built_in
    carriers.add(replace(sandbox, calls=replace(sandbox.calls, dialer=dialer, finder=None)))
