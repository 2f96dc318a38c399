"""The two formats of Telnyx's responses."""

from typing import Any

from offhook_lab.carriers.core.rest import RestReply


def ok_reply(**data: Any) -> RestReply:
    return RestReply(200, {"data": data})


def failure_reply(status: int, code: str, title: str, detail: str, pointer: str | None = None) -> RestReply:
    source = {"source": {"pointer": pointer}} if pointer else {}
    return RestReply(status, {"errors": [{"code": code, "title": title, "detail": detail, **source}]})
