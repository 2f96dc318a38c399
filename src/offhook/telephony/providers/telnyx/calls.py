"""Telnyx Call Control: requests control the calls; responses to webhooks are ignored."""

import json
from base64 import b64encode
from typing import Any, Final
from urllib.parse import quote

from offhook.telephony.carrier_kit.http import CarrierHttp, require_setting
from offhook.telephony.ports import (
    BlindTransfer,
    CallAnswerer,
    CallDialer,
    CallFinder,
    CallLinks,
    CarrierAccount,
    CarrierDocument,
    CarrierFailed,
    CarrierWebhook,
    DialRequest,
    FollowUp,
    LostCallQuery,
    MediaReconnector,
    StatusUpdate,
    TransferLeg,
    TransferLegs,
    TransferOrder,
)
from offhook.telephony.providers.telnyx import webhooks
from offhook.telephony.providers.telnyx.api import TelnyxApi

# Marks the event that a refusal has been spoken.
REFUSED: Final = b64encode(b"offhook:refused").decode()
_SPOKEN: Final = "call.speak.ended"
_MAX_PAGES: Final = 40


class TelnyxCalls(CallDialer, MediaReconnector, CallFinder, CallAnswerer, FollowUp, BlindTransfer, TransferLegs):
    """Controls every call by requests; no call fetches a document."""

    def __init__(self, http: CarrierHttp) -> None:
        self._api = TelnyxApi(http)

    # Dialer

    async def place_call(self, account: CarrierAccount, request: DialRequest) -> str:
        links = request.links
        if links is None:
            raise CarrierFailed(
                "carrier_misconfigured", "Telnyx needs a public address for this server.", retryable=False
            )
        body: dict[str, Any] = {
            "connection_id": require_setting(account, "connection_id"),
            "to": request.to_number,
            "from": request.from_number,
            "timeout_secs": _ring_s(request.ring_timeout_s),
            "client_state": _client_state(request.run_id),
            **_stream_options(links),
        }
        if request.has_machine_detection:
            body["answering_machine_detection"] = "greeting_end"
        return (await self._api.send_request(account, "POST", "/calls", body)).require_text("data", "call_control_id")

    async def hang_up(self, account: CarrierAccount, call_id: str) -> None:
        await self._api.send_command(account, call_id, "hangup", {}, may_be_gone=True)

    # MediaReconnector

    async def has_caller(self, account: CarrierAccount, call_id: str) -> bool:
        found = await self._api.send_request(account, "GET", f"/calls/{quote(call_id, safe='')}", may_be_gone=True)
        call = found.json().get("data")
        return isinstance(call, dict) and call.get("is_alive") is True

    async def reconnect_media(self, account: CarrierAccount, call_id: str, links: CallLinks, attempt: int) -> None:
        """Streams the call again. Telnyx ignores a command whose id it has had."""
        options = {name: value for name, value in _stream_options(links).items() if name.startswith("stream_")}
        await self._api.send_command(
            account, call_id, "streaming_start", {**options, "command_id": f"offhook-stream-{attempt}"}
        )

    # CallFinder

    async def find_calls(self, account: CarrierAccount, sought: LostCallQuery) -> list[StatusUpdate]:
        """Returns the live calls that match: Telnyx lists them with our client state, and a call that is not listed
        may be over."""
        path = f"/connections/{quote(require_setting(account, 'connection_id'), safe='')}/active_calls"
        state, params = _client_state(sought.run_id), {"page[limit]": "250"}
        for _ in range(_MAX_PAGES):
            page = (await self._api.send_request(account, "GET", path, params=params)).json()
            calls, meta = page.get("data"), page.get("meta")
            for call in calls if isinstance(calls, list) else ():
                if call.get("client_state") == state and call.get("call_control_id"):
                    return [StatusUpdate("initiated", call_id=str(call["call_control_id"]))]
            cursors = meta.get("cursors") if isinstance(meta, dict) and meta.get("next") else None
            after = cursors.get("after") if isinstance(cursors, dict) else None
            if not calls or not isinstance(after, str) or not after:
                break
            params["page[after]"] = after
        raise CarrierFailed(
            "carrier_cannot_say", "Telnyx does not have this call, or no longer has it.", retryable=True
        )

    # Answerer

    async def answer_call(self, account: CarrierAccount, call_id: str, links: CallLinks) -> CarrierDocument:
        await self._api.send_command(
            account, call_id, "answer", {**_stream_options(links), "command_id": "offhook-answer"}
        )
        return _status_document("ok")

    async def refuse_call(self, account: CarrierAccount, call_id: str, message: str) -> CarrierDocument:
        """Answers and speaks the refusal; :meth:`follow_up` hangs up when Telnyx reports its end."""
        await self._api.send_command(account, call_id, "answer", {"command_id": "offhook-refuse"})
        speech = {
            "payload": message,
            "voice": "female",
            "language": "en-US",
            "client_state": REFUSED,
            "command_id": "offhook-speak",
        }
        await self._api.send_command(account, call_id, "speak", speech)
        return _status_document("refused")

    async def reject_as_busy(self, account: CarrierAccount, call_id: str) -> CarrierDocument | None:
        await self._api.send_command(
            account, call_id, "reject", {"cause": "USER_BUSY", "command_id": "offhook-reject"}, may_be_gone=True
        )
        return _status_document("refused")

    async def follow_up(self, account: CarrierAccount, webhook: CarrierWebhook) -> None:
        event, payload = webhooks.read_event(webhook)
        if event == _SPOKEN and payload.get("client_state") == REFUSED:
            await self.hang_up(account, webhooks.call_id_of(payload))

    def unavailable_document(self, message: str) -> CarrierDocument:
        """Returns an empty document: nothing can be said without a request, and so without an account. The
        platform's ``CallRefusals`` request it with a remembered account; without one, the caller hears ringing until
        the carrier gives up."""
        return _status_document("unavailable")

    # transfers

    async def redirect_caller(
        self,
        account: CarrierAccount,
        call_id: str,
        to_number: str,
        from_number: str,
        timeout_s: float,
        forward_url: str = "",
    ) -> None:
        body = {
            "to": to_number,
            "from": from_number,
            "timeout_secs": _ring_s(timeout_s),
            "command_id": "offhook-transfer",
        }
        await self._api.send_command(account, call_id, "transfer", body)

    async def start_leg(self, account: CarrierAccount, order: TransferOrder) -> str:
        body = {
            "connection_id": require_setting(account, "connection_id"),
            "to": order.to_number,
            "from": order.from_number,
            "timeout_secs": _ring_s(order.timeout_s),
            "webhook_url": order.result_url,
            "webhook_url_method": "POST",
            "link_to": order.call_id,
        }
        return (await self._api.send_request(account, "POST", "/calls", body)).require_text("data", "call_control_id")

    async def seat_destination(self, account: CarrierAccount, leg: TransferLeg) -> str | None:
        """Creates the conference, which takes a live call: the destination's."""
        body = {
            "call_control_id": leg.destination_id,
            "name": leg.transfer_id,
            "start_conference_on_create": True,
            "beep_enabled": "never",
        }
        return (await self._api.send_request(account, "POST", "/conferences", body)).require_text("data", "id")

    async def join_caller(self, account: CarrierAccount, leg: TransferLeg) -> None:
        if leg.conference_id is None:
            raise CarrierFailed("not_found", "The destination is in no conference.", retryable=False)
        body = {
            "call_control_id": leg.call_id,
            "end_conference_on_exit": True,
            "command_id": f"offhook-join-{leg.transfer_id}",
        }
        await self._api.send_request(account, "POST", f"/conferences/{leg.conference_id}/actions/join", body)


def _stream_options(links: CallLinks) -> dict[str, Any]:
    """Returns the stream's options: ``rtp``, because the default mode drops raw audio silently. Incoming audio has
    the codec of the other leg."""
    return {
        "stream_url": links.media_url,
        "stream_track": "inbound_track",
        "stream_bidirectional_mode": "rtp",
        "stream_bidirectional_codec": "PCMU",
        "webhook_url": links.callback_url("events"),
        "webhook_url_method": "POST",
    }


def _client_state(run_id: int) -> str:
    """Returns the client state by which a call's run can be found."""
    return b64encode(f"offhook:run:{run_id}".encode()).decode()


def _status_document(status: str) -> CarrierDocument:
    return CarrierDocument("application/json", json.dumps({"status": status}).encode())


def _ring_s(seconds: float) -> int:
    return min(600, max(5, round(seconds)))
