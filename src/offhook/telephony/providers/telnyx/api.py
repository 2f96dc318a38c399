"""Telnyx's REST interface (v2): JSON both ways, a bearer key."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from offhook.telephony.carrier_kit.http import (
    CarrierHttp,
    CarrierRequest,
    CarrierResponse,
    failure_from_response,
    require_setting,
)
from offhook.telephony.ports import CarrierAccount

NAME: Final = "telnyx"
_REST: Final = "https://api.telnyx.com/v2"
# The error of a command to a call that is over.
CALL_ENDED: Final = "90018"
# Telnyx's own error codes that are more specific than the status.
_CODES: Final = {
    "10016": "invalid_number",
    "10009": "unauthorized",
    "10010": "unauthorized",
    "10011": "rate_limited",
    "20100": "insufficient_funds",
    CALL_ENDED: "not_found",
}


class TelnyxApi:
    def __init__(self, http: CarrierHttp) -> None:
        self._http = http

    async def send_request(
        self,
        account: CarrierAccount,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        params: Mapping[str, str] | None = None,
        may_be_gone: bool = False,
    ) -> CarrierResponse:
        """Sends a request. With ``may_be_gone``, a missing resource is a valid response. Raises CarrierFailed."""
        request = CarrierRequest(
            method,
            self._http.resolve_url(NAME, f"{_REST}{path}"),
            headers={"authorization": f"Bearer {require_setting(account, 'api_key')}"},
            params=params or {},
            body=body,
        )
        answer = await self._http.send(request)
        if answer.is_success:
            return answer
        errors = answer.json().get("errors")
        listed = errors if isinstance(errors, list) else ()
        error: Mapping[str, Any] = next((entry for entry in listed if isinstance(entry, dict)), {})
        code = str(error.get("code", ""))
        if may_be_gone and (answer.status == 404 or code == CALL_ENDED):
            return answer
        message = error.get("detail") or error.get("title") or f"HTTP {answer.status}"
        raise failure_from_response(request, answer, f"Telnyx: {message}", code=_CODES.get(code))

    async def send_command(
        self, account: CarrierAccount, call_id: str, action: str, body: Mapping[str, Any], *, may_be_gone: bool = False
    ) -> None:
        path = f"/calls/{quote(call_id, safe='')}/actions/{action}"
        await self.send_request(account, "POST", path, body, may_be_gone=may_be_gone)
