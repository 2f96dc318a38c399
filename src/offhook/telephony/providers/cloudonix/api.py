"""Cloudonix's REST interface: JSON both ways, the domain's key as bearer token."""

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
from offhook.telephony.providers.cloudonix.config import canonical_domain

NAME: Final = "cloudonix"
_REST: Final = "https://api.cloudonix.io"
GONE: Final = 404


def domain_of(account: CarrierAccount) -> str:
    return quote(canonical_domain(require_setting(account, "domain_id")), safe="")


class CloudonixApi:
    def __init__(self, http: CarrierHttp) -> None:
        self._http = http

    async def send_request(
        self,
        account: CarrierAccount,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        may_be_gone: bool = False,
    ) -> CarrierResponse:
        """Sends a request. With ``may_be_gone``, a 404 is a valid response. Raises CarrierFailed."""
        request = CarrierRequest(
            method,
            self._http.resolve_url(NAME, f"{_REST}{path}"),
            headers={"authorization": f"Bearer {require_setting(account, 'bearer_token')}"},
            body=body,
        )
        answer = await self._http.send(request)
        if answer.is_success or (may_be_gone and answer.status == GONE):
            return answer
        error_body = answer.json()
        found = next((error_body[name] for name in ("message", "error") if isinstance(error_body.get(name), str)), None)
        message = found or answer.content[:200].decode("utf-8", "replace").strip() or f"HTTP {answer.status}"
        is_about_number = answer.status in {400, 422} and "destination" in message.lower()
        raise failure_from_response(
            request, answer, f"Cloudonix: {message}", code="invalid_number" if is_about_number else None
        )
