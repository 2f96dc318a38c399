"""What tests of carriers share: accounts, webhooks, and a carrier's REST server that answers as a test says."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlencode

from offhook.telephony.carrier_kit.http import CarrierHttp
from offhook.telephony.ports import CallLinks, CarrierAccount, CarrierWebhook, DialRequest
from tests.fakes.web import Answers, LocalServer, Reply, local_server

PUBLIC = "https://voice.example.org/api/v1/telephony"
LINKS = CallLinks(
    run_id=7,
    answer_url=f"{PUBLIC}/answer/carrier/7?token=s3cret&x=1",
    media_url="wss://voice.example.org/api/v1/telephony/media/carrier/7/tok",
    media_token="tok",
    callbacks=f"{PUBLIC}/carrier",
    secret="s3cret",
)
REQUEST = DialRequest(7, "+14155550123", "+12015550100", "tok", ring_timeout_s=30, links=LINKS)


def account(provider: str, **config: Any) -> CarrierAccount:
    return CarrierAccount(1, provider, 5, config)


def form(url: str, fields: Mapping[str, str] | list[tuple[str, str]], **headers: str) -> CarrierWebhook:
    """A form that was posted; header names with underscores."""
    body = urlencode(list(fields.items()) if isinstance(fields, Mapping) else fields).encode()
    return CarrierWebhook("POST", url, {"content-type": "application/x-www-form-urlencoded", **_named(headers)}, body)


def posted(url: str, body: Any, **headers: str) -> CarrierWebhook:
    """JSON that was posted; bytes go as they are."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return CarrierWebhook("POST", url, {"content-type": "application/json", **_named(headers)}, raw)


def got(url: str, **headers: str) -> CarrierWebhook:
    return CarrierWebhook("GET", url, _named(headers), b"")


def _named(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


@asynccontextmanager
async def rest(provider: str, answers: Answers | Reply) -> AsyncIterator[tuple[CarrierHttp, LocalServer]]:
    """The carrier's REST addresses, all of them on this machine."""
    async with local_server(answers) as server:
        http = CarrierHttp({provider: server.url("127.0.0.1", "").rstrip("/")})
        try:
            yield http, server
        finally:
            await http.aclose()
