"""Every operation that the API describes, read from its own description, so that none can be forgotten."""

import re
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI

METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True)
class Operation:
    """One method on one path; ``path`` is relative to ``/api/v1``."""

    name: str
    method: str
    path: str
    parameters: tuple[str, ...]
    queries: dict[str, dict[str, Any]]
    has_json_body: bool
    needs_body: bool
    has_form: bool

    @property
    def changes(self) -> bool:
        return self.method != "GET"

    def at(self, ids: dict[str, Any]) -> str:
        """The path with its parameters filled in from ``ids``."""
        return re.sub(r"{(\w+)}", lambda found: str(ids[found[1]]), self.path)

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def operations(app: FastAPI) -> list[Operation]:
    """All of them, in the order of the description."""
    paths = app.openapi()["paths"]
    return [_read(path, method, item[method]) for path, item in paths.items() for method in METHODS if method in item]


def _read(path: str, method: str, described: dict[str, Any]) -> Operation:
    content = described.get("requestBody", {}).get("content", {})
    return Operation(
        name=described["operationId"],
        method=method.upper(),
        path=path.removeprefix("/api/v1"),
        parameters=tuple(re.findall(r"{(\w+)}", path)),
        queries={
            query["name"]: _plain(query["schema"]) | {"required": query.get("required", False)}
            for query in described.get("parameters", [])
            if query["in"] == "query"
        },
        has_json_body="application/json" in content,
        needs_body=described.get("requestBody", {}).get("required", False),
        has_form="multipart/form-data" in content,
    )


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a value that is there: without the null of an optional one."""
    choices = [choice for choice in schema.get("anyOf", []) if choice.get("type") != "null"]
    return choices[0] if choices else schema
