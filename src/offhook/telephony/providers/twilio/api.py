"""Twilio's REST interface: forms in, JSON out, Basic authentication."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from offhook.telephony.carrier_kit.http import (
    CarrierHttp,
    CarrierRequest,
    CarrierResponse,
    failure_from_response,
    require_setting,
)
from offhook.telephony.ports import CarrierAccount

NAME: Final = "twilio"
_REST: Final = "https://api.twilio.com/2010-04-01"
ACCOUNTS: Final = f"{_REST}/Accounts"
LOOKUPS: Final = "https://lookups.twilio.com/v2/PhoneNumbers"
GONE: Final = 404
# Twilio's error when a finished call is ended again.
NOT_IN_PROGRESS: Final = 21220
# Twilio's own error codes that are more specific than the status.
_CODES: Final = {
    13223: "invalid_number",
    13224: "invalid_number",
    21211: "invalid_number",
    21214: "invalid_number",
    21217: "invalid_number",
    60200: "invalid_number",
    21210: "invalid_caller_id",
    21212: "invalid_caller_id",
    21213: "invalid_caller_id",
    13227: "destination_not_allowed",
    21215: "destination_not_allowed",
    21216: "destination_not_allowed",
    21219: "destination_not_allowed",
    20003: "unauthorized",
    20429: "rate_limited",
}


class TwilioApi:
    def __init__(self, http: CarrierHttp) -> None:
        self._http = http

    async def send_request(
        self,
        account: CarrierAccount,
        method: str,
        path: str,
        *,
        form: Mapping[str, str | list[str]] | None = None,
        params: Mapping[str, str] | None = None,
        may_be_gone: bool = False,
    ) -> CarrierResponse:
        """Sends a request to ``path`` below the account, or to a whole URL. With ``may_be_gone``, a finished call is a
        valid response. Raises CarrierFailed."""
        sid = require_setting(account, "account_sid")
        url = path if path.startswith("https:") else f"{ACCOUNTS}/{quote(sid, safe='')}{path}"
        request = CarrierRequest(
            method,
            self._http.resolve_url(NAME, url),
            auth=(sid, require_setting(account, "auth_token")),
            form=form,
            params=params or {},
        )
        answer = await self._http.send(request)
        error_body = {} if answer.is_success else answer.json()
        code = error_body.get("code")
        if answer.is_success or (may_be_gone and (answer.status == GONE or code == NOT_IN_PROGRESS)):
            return answer
        known = _CODES.get(code) if isinstance(code, int) else None
        raise failure_from_response(
            request, answer, f"Twilio: {error_body.get('message') or f'HTTP {answer.status}'}", code=known
        )
