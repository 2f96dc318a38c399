"""Plivo's REST interface: JSON both ways, Basic authentication, a slash at the end of every path."""

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

NAME: Final = "plivo"
_REST: Final = "https://api.plivo.com/v1/Account"
LOOKUP: Final = "https://lookup.plivo.com/v1/Number"
GONE: Final = 404


class PlivoApi:
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
        """Sends a request to ``path`` below the account, or to a whole URL. With ``may_be_gone``, a 404 is a valid
        response. Raises CarrierFailed."""
        auth_id = require_setting(account, "auth_id")
        url = path if path.startswith("https:") else f"{_REST}/{quote(auth_id, safe='')}{path}"
        request = CarrierRequest(
            method,
            self._http.resolve_url(NAME, url),
            auth=(auth_id, require_setting(account, "auth_token")),
            params=params or {},
            body=body,
        )
        answer = await self._http.send(request)
        if answer.is_success or (may_be_gone and answer.status == GONE):
            return answer
        message = answer.json().get("error")
        text = message if isinstance(message, str) and message else f"HTTP {answer.status}"
        raise failure_from_response(request, answer, f"Plivo: {text}", code=_error_code(answer.status, text))


def _error_code(status: int, message: str) -> str | None:
    """Returns our code for an error. Plivo has no codes of its own, only the text about a number that cannot be
    called."""
    text = message.lower()
    if status != 400:
        return None
    if "credit" in text or "balance" in text:
        return "insufficient_funds"
    if "from" in text.split() or "caller" in text:
        return "invalid_caller_id"
    return "invalid_number" if "number" in text or "'to'" in text else None
