"""Vobiz's REST interface: JSON both ways, two headers for authentication. Case and trailing slashes of paths matter:
a wrong path is reported as wrong credentials."""

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

NAME: Final = "vobiz"
_REST: Final = "https://api.vobiz.ai/api/v1/Account"
GONE: Final = 404
# Vobiz's default currency.
CURRENCY: Final = "INR"


class VobizApi:
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
        """Sends a request to ``path`` below the account. With ``may_be_gone``, a 404 is a valid response. Raises
        CarrierFailed."""
        auth_id = require_setting(account, "auth_id")
        request = CarrierRequest(
            method,
            self._http.resolve_url(NAME, f"{_REST}/{quote(auth_id, safe='')}{path}"),
            headers={"x-auth-id": auth_id, "x-auth-token": require_setting(account, "auth_token")},
            params=params or {},
            body=body,
        )
        answer = await self._http.send(request)
        if answer.is_success or (may_be_gone and answer.status == GONE):
            return answer
        error_body = answer.json()
        found = next(
            (error_body[name] for name in ("error", "message", "detail") if isinstance(error_body.get(name), str)), None
        )
        message = found or f"HTTP {answer.status}"
        is_about_number = answer.status in {400, 422} and "number" in message.lower()
        raise failure_from_response(
            request, answer, f"Vobiz: {message}", code="invalid_number" if is_about_number else None
        )
