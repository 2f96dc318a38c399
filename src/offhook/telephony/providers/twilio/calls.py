"""Places, ends and transfers Twilio calls."""

from typing import Final
from urllib.parse import quote

from offhook.runs.finishing import carrier_charges
from offhook.telephony.carrier_kit.call_search import could_match
from offhook.telephony.carrier_kit.dialects.twilio import documents
from offhook.telephony.carrier_kit.http import CarrierHttp
from offhook.telephony.ports import (
    BillReader,
    BlindTransfer,
    CallDialer,
    CallFinder,
    CarrierAccount,
    CarrierCallBill,
    CarrierFailed,
    DialRequest,
    LostCallQuery,
    StatusUpdate,
    TransferLeg,
    TransferLegs,
    TransferOrder,
)
from offhook.telephony.providers.twilio import webhooks
from offhook.telephony.providers.twilio.api import TwilioApi

_EVENTS: Final = ["initiated", "ringing", "answered", "completed"]
_MIN_RING_S: Final = 5
_PAGE: Final = "50"


class TwilioCalls(CallDialer, CallFinder, BillReader, BlindTransfer, TransferLegs):
    """Controls calls by requests, each with the TwiML that it needs."""

    def __init__(self, http: CarrierHttp) -> None:
        self._api = TwilioApi(http)

    # Dialer

    async def place_call(self, account: CarrierAccount, request: DialRequest) -> str:
        links = request.links
        if links is None:
            raise CarrierFailed(
                "carrier_misconfigured", "Twilio needs a public address for this server.", retryable=False
            )
        status_url = links.callback_url("status-callback")
        form: dict[str, str | list[str]] = {
            "To": request.to_number,
            "From": request.from_number,
            "Url": links.answer_url,
            "Method": "POST",
            "StatusCallback": status_url,
            "StatusCallbackEvent": _EVENTS,
            "StatusCallbackMethod": "POST",
            "Timeout": _ring_s(request.ring_timeout_s),
        }
        if request.has_machine_detection:
            # Asynchronous, because otherwise Twilio delays the call's document until the verdict.
            form |= {
                "MachineDetection": "DetectMessageEnd",
                "AsyncAmd": "true",
                "AsyncAmdStatusCallback": status_url,
                "AsyncAmdStatusCallbackMethod": "POST",
            }
        return (await self._api.send_request(account, "POST", "/Calls.json", form=form)).require_text("sid")

    async def hang_up(self, account: CarrierAccount, call_id: str) -> None:
        await self._api.send_request(
            account, "POST", _call_path(call_id), form={"Status": "completed"}, may_be_gone=True
        )

    # CallFinder

    async def find_calls(self, account: CarrierAccount, sought: LostCallQuery) -> list[StatusUpdate]:
        """Returns one page, latest calls first, which always reaches back to the dial."""
        params = {"To": sought.to_number, "From": sought.from_number, "PageSize": _PAGE}
        calls = (await self._api.send_request(account, "GET", "/Calls.json", params=params)).json().get("calls")
        if not isinstance(calls, list):
            raise CarrierFailed("carrier_cannot_say", "Twilio's answer has no calls.", retryable=True)
        return [
            StatusUpdate(webhooks.STATUSES.get(str(call.get("status")), "initiated"), call_id=str(call["sid"]))
            for call in calls
            if call.get("sid") and call.get("direction") != "inbound" and could_match(sought, call.get("date_created"))
        ]

    # BillReader

    async def read_bill(self, account: CarrierAccount, call_id: str) -> CarrierCallBill:
        """Reads the price, which a call gets some time after its end, when it is rated."""
        record = (await self._api.send_request(account, "GET", _call_path(call_id))).json()
        found = carrier_charges.parse_carrier_bill(
            record.get("duration"), cost=record.get("price"), currency=record.get("price_unit")
        )
        return found or CarrierCallBill()

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
        twiml = documents.forward_call(to_number, from_number, timeout_s)
        await self._api.send_request(account, "POST", _call_path(call_id), form={"Twiml": twiml})

    async def start_leg(self, account: CarrierAccount, order: TransferOrder) -> str:
        form: dict[str, str | list[str]] = {
            "To": order.to_number,
            "From": order.from_number,
            "Url": order.answer_url,
            "Method": "POST",
            "StatusCallback": order.result_url,
            "StatusCallbackEvent": ["answered", "completed"],
            "StatusCallbackMethod": "POST",
            "Timeout": _ring_s(order.timeout_s),
        }
        return (await self._api.send_request(account, "POST", "/Calls.json", form=form)).require_text("sid")

    async def join_caller(self, account: CarrierAccount, leg: TransferLeg) -> None:
        form: dict[str, str | list[str]] = {"Twiml": documents.join_conference(leg.transfer_id)}
        await self._api.send_request(account, "POST", _call_path(leg.call_id), form=form)


def _call_path(call_id: str) -> str:
    return f"/Calls/{quote(call_id, safe='')}.json"


def _ring_s(seconds: float) -> str:
    return str(min(600, max(_MIN_RING_S, round(seconds))))
