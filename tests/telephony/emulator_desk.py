"""Our side of one carrier for tests against its emulator: the parts of its spec, documents, and a mouth on its socket."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest
from websockets.asyncio.server import ServerConnection

from offhook.kit.audio import MULAW_8K
from offhook.telephony.carrier_kit.http import CarrierHttp
from offhook.telephony.carriers import build_remote_carriers
from offhook.telephony.ports import (
    CallLinks,
    CarrierAccount,
    CarrierWebhook,
    DialRequest,
    MediaStarted,
    MediaWire,
    WebhookProof,
)
from offhook_lab.carriers import (
    CarrierEmulator,
    CloudonixEmulator,
    EmulatedCall,
    OutgoingCallback,
    PlivoEmulator,
    TelnyxEmulator,
    TwilioEmulator,
    VobizEmulator,
    VonageEmulator,
)
from offhook_lab.carriers.core.phones import make_tone
from tests.lab.us import Us, with_emulator
from tests.quick import first_quick

OURS, THEIRS, AGENT = "+14155550100", "+12125550199", "+12125550177"
EMULATORS: dict[str, Callable[[], CarrierEmulator]] = {
    "cloudonix": CloudonixEmulator,
    "plivo": PlivoEmulator,
    "telnyx": TelnyxEmulator,
    "twilio": TwilioEmulator,
    "vobiz": VobizEmulator,
    "vonage": VonageEmulator,
}
EACH = pytest.mark.parametrize("name", sorted(EMULATORS))
# Where the way is the same for all of them and takes long.
TWILIO_QUICKLY = pytest.mark.parametrize("name", first_quick(sorted(EMULATORS, key=lambda name: name != "twilio")))


@dataclass
class Desk:
    """Our side of one carrier: the parts of its spec, and what came over the media socket."""

    carrier: CarrierEmulator
    us: Us
    http: CarrierHttp
    heard: list[Any] = field(default_factory=list)
    audio: bytearray = field(default_factory=bytearray)

    def __post_init__(self) -> None:
        spec = build_remote_carriers(self.http).find(self.carrier.name)
        assert spec is not None
        self.spec: Any = spec
        config = {"application_id": getattr(self.carrier, "application_id", None), **self.carrier.credentials}
        self.account = CarrierAccount(1, self.carrier.name, 5, {k: v for k, v in config.items() if v is not None})
        self.us.on_socket = self.talks
        self.links = CallLinks(
            run_id=7,
            answer_url=f"{self.us.base_url}/answer/{self.carrier.name}/7?token=s3cret",
            media_url=self.us.media_url,
            media_token="tok",
            callbacks=f"{self.us.base_url}/{self.carrier.name}",
            secret="s3cret",
        )

    def serve(self, path: str, document: Any) -> str:
        if document is not None:
            self.us.documents[path] = (document.content_type, document.body.decode())
        return f"{self.us.base_url}{path}"

    async def talks(self, socket: ServerConnection, messages: list[Any]) -> None:
        """Say a second of a tone and a mark, and note everything that comes."""
        wire: MediaWire = self.spec.media.wire()
        at = 0
        while True:
            while at < len(messages):
                message = messages[at]
                at += 1
                event = wire.decode(json.dumps(message) if isinstance(message, dict) else message)
                if isinstance(event, bytes):
                    self.audio += event
                elif event is not None:
                    self.heard.append(event)
                if isinstance(event, MediaStarted):
                    await self.speak(socket, wire)
            await asyncio.sleep(0.02)

    async def speak(self, socket: ServerConnection, wire: MediaWire) -> None:
        samples = MULAW_8K.decode(make_tone(1.0))
        pcm = samples if wire.codec.sample_rate == 8000 else samples.repeat(2)
        spoken = wire.codec.encode(pcm)
        for begin in range(0, len(spoken), wire.codec.frame_bytes):
            frame = wire.encode_audio(spoken[begin : begin + wire.codec.frame_bytes])
            await socket.send(frame if wire.has_binary_audio else frame.decode())
        await socket.send(wire.encode_mark("s1").decode())

    async def dial(self, **more: Any) -> EmulatedCall:
        self.serve(f"/answer/{self.carrier.name}/7", await connecting(self))
        request = DialRequest(7, THEIRS, OURS, "tok", ring_timeout_s=20, links=self.links, **more)
        call_id = await self.spec.calls.dialer.place_call(self.account, request)
        call = self.carrier.find_call(call_id)
        assert call is not None
        return call

    def webhook(self, sent: OutgoingCallback) -> CarrierWebhook:
        headers = {name.lower(): value for name, value in sent.headers.items()}
        headers["content-type"] = sent.content_type
        return CarrierWebhook(sent.method, sent.url, headers, sent.body, has_secret="token=s3cret" in sent.url)

    def proof(self, sent: OutgoingCallback) -> WebhookProof | None:
        now = self.carrier.clock.now().timestamp()
        return self.spec.webhooks.verifier.verify(self.account, self.webhook(sent), now)  # type: ignore[no-any-return]

    def reports(self, call: EmulatedCall) -> list[Any]:
        """What was said of the call at the run's addresses, every word of it proven."""
        found = []
        for sent in self.carrier.callbacks:
            kind = next((kind for kind in self.spec.webhooks.callbacks if f"/{kind}/7" in sent.url), None)
            if kind is None:
                continue
            assert self.proof(sent) is not None, sent
            report = self.spec.webhooks.statuses.parse_status(kind, self.webhook(sent))
            if report is not None and report.call_id in {None, call.id}:
                found.append(report)
        return found


def run(name: str, test: Callable[[Desk], Awaitable[None]]) -> None:
    async def with_client(carrier: Any, us: Us, _: httpx2.AsyncClient) -> None:
        carrier.limits.calls_per_second = None
        http = CarrierHttp({name: carrier.base_url})
        carrier.add_number(OURS)
        try:
            await test(Desk(carrier, us, http))
        finally:
            await http.aclose()

    with_emulator(EMULATORS[name], with_client)


async def connecting(desk: Desk) -> Any:
    """The document that connects a call; Telnyx asks for none: it is told by a request."""
    return (
        None
        if desk.carrier.name == "telnyx"
        else await desk.spec.webhooks.answerer.answer_call(desk.account, "x", desk.links)
    )
