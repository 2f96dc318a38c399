"""The two shapes of Telnyx's answers."""

from typing import Any

from offhook.lab.carriers.core.rest import Reply


def ok(**data: Any) -> Reply:
    return Reply(200, {"data": data})


def failure(status: int, code: str, title: str, detail: str, pointer: str | None = None) -> Reply:
    source = {"source": {"pointer": pointer}} if pointer else {}
    return Reply(status, {"errors": [{"code": code, "title": title, "detail": detail, **source}]})
