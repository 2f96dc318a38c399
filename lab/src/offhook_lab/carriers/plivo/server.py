"""Plivo's REST API: the parts that Vobiz does not share."""

import secrets
from collections.abc import Mapping

from offhook.kit.clock import Clock
from offhook_lab.carriers.core.calls import EmulatedCall
from offhook_lab.carriers.core.phones import Voice, hum_words
from offhook_lab.carriers.core.plivo_media import PlivoLikeStream
from offhook_lab.carriers.core.plivo_xml import PlivoDocuments, requested_audio
from offhook_lab.carriers.core.rest import RestReply, RestRequest
from offhook_lab.carriers.plivo import accounts, numbers
from offhook_lab.carriers.plivo.accounts import PlivoAccounts


class PlivoXml(PlivoDocuments):
    """Plivo's rules for a <Stream>."""

    def refuses_stream(self, attributes: Mapping[str, str]) -> str | None:
        is_both_ways = attributes.get("bidirectional") == "true"
        if is_both_ways and attributes.get("audioTrack", "inbound") != "inbound":
            return "a bidirectional Stream has the inbound track only"
        pairs = [part.partition("=") for part in attributes.get("extraHeaders", "").split(",") if part]
        if not all(name.isalnum() and value.isalnum() for name, _, value in pairs):
            return "extraHeaders take letters and digits only"
        return None

    def new_stream(self, url: str, attributes: Mapping[str, str]) -> PlivoLikeStream:
        # ?? three forms of extra_headers are documented; the answer's own form is passed on
        start = {"callId": self.call.id, "accountId": self.carrier.auth_id, "tracks": ["inbound"]}
        return PlivoLikeStream(
            self.owner.new_id("stream"),
            url,
            requested_audio(attributes),
            start,
            extra_headers=attributes.get("extraHeaders", ""),
            tunnels=self.owner.callback_sender.tunnels,
            fault=self.owner.chaos.for_socket(),
        )


class PlivoEmulator(PlivoAccounts):
    """Emulates Plivo. Numbers' settings: ``app_id``. Requests above 300 in 5 s are refused, calls above 2 a second
    queued."""

    name = "plivo"
    base = "/v1/Account"

    def __init__(self, *, clock: Clock | None = None, voice: Voice = hum_words) -> None:
        super().__init__(clock=clock, voice=voice)
        self.limits.calls_per_second = 2.0
        self.limits.requests_per_second = 60.0
        self.line_types: dict[str, str] = {}
        self.callback_sender.user_agent = "Plivo"
        # three attempts in total for callbacks that we do not answer [K]
        self.callback_sender.attempts = 3
        self.set_up(f"MA{secrets.token_hex(9).upper()}", secrets.token_hex(20))
        accounts.add_routes(self, f"{self.base}/{{account}}")
        numbers.add_routes(self, f"{self.base}/{{account}}")

    def check_request(self, request: RestRequest) -> RestReply | None:
        asking = self.account_asking(request)
        if asking is None:
            return RestReply(401, "Could not verify your access level for that URL.", content_type="text/html")
        if not self.has_room_for_request():
            return self.rate_limited()
        account = request.path.removeprefix(f"{self.base}/").partition("/")[0]
        is_other = request.path.startswith(f"{self.base}/") and account != asking
        return self.failure_reply(404, "not found") if is_other else None

    def failure_reply(self, status: int, text: str) -> RestReply:
        return RestReply(status, {"api_id": secrets.token_hex(16), "error": text})

    async def may_call(self) -> RestReply | None:
        if self.limits.concurrent_calls is not None and len(self.live_calls) >= self.limits.concurrent_calls:
            return self.failure_reply(429, "concurrent call limit reached")
        await self.wait_for_call_slot()
        return None

    def new_documents(self, call: EmulatedCall) -> PlivoDocuments:
        return PlivoXml(self, call)
