"""What holds for every operation of the API: tried over its own description, so that a new one is tried too."""

import re
from itertools import product
from typing import Any

import pytest
from fastapi import FastAPI
from httpx2 import AsyncClient

from offhook.orgs import service as orgs
from offhook.root import Root
from tests.conftest import client_at
from tests.interface.bodies import (
    BODIES,
    FILES,
    IDS,
    NEED_MORE,
    PUBLIC,
    QUERIES,
    REFERENCES,
    STREAMS,
    SUPERUSER_PREFIX,
    VIEWER_MAY,
)
from tests.interface.operations import Operation
from tests.interface.specification import SECTIONS
from tests.interface.world import World

NO_CREDENTIALS: dict[str, dict[str, str]] = {
    "unauthorized": {},
    "invalid_api_key": {"X-API-Key": "ohk_" + "x" * 43},
    "invalid_token": {"Authorization": "Bearer nobody"},
}
# Section 8 of the specification: path, parameter, values that are taken, values that are refused.
LIMITS: list[tuple[str, str, tuple[int, ...], tuple[int, ...]]] = [
    ("/workflow/{workflow_id}/versions", "limit", (1, 100), (0, -1, 101, 200, 201)),
    ("/workflow/{workflow_id}/versions", "offset", (0, 1, 200), (-1,)),
    ("/workflow/{workflow_id}/runs", "limit", (1, 100), (0, -1, 101, 200, 201)),
    ("/workflow/{workflow_id}/runs", "page", (1, 2, 200), (0, -1)),
    ("/organizations/usage/runs", "limit", (1, 100, 101, 200), (0, -1, 201)),
    ("/organizations/usage/runs", "offset", (0, 1, 200), (-1,)),
    ("/organizations/usage/daily-breakdown", "days", (1, 30, 100), (0, -1)),
]
UNKNOWN = {"integer": 999_999_999, "uuid": "00000000-0000-4000-8000-000000000000"}


def body_of(operation: Operation, world: World) -> Any:
    if not operation.has_json_body:
        return None
    assert operation.name in BODIES, f"{operation.name} needs a valid body in tests/interface/bodies.py"
    return BODIES[operation.name](world)


def unknown_ids(world: World) -> dict[str, Any]:
    return {
        name: UNKNOWN["integer"] if isinstance(value, int) else UNKNOWN["uuid"] for name, value in world.ids.items()
    }


async def send(client: AsyncClient, operation: Operation, world: World, **more: Any) -> Any:
    ids = more.pop("ids", world.ids)
    ids = ids | {name: ids[key] for name, key in IDS.get(operation.name, {}).items() if key in ids}
    more.setdefault("headers", world.org.owner_headers)
    if "content" not in more:
        more.setdefault("json", body_of(operation, world))
        more.setdefault("files", FILES.get(operation.name))
    return await client.request(
        operation.method, operation.at(ids), params=QUERIES.get(operation.name, {}) | more.pop("query", {}), **more
    )


def test_every_path_of_the_specification_is_served(described: list[Operation]) -> None:
    served = {(operation.method, re.sub(r"{\w+}", "{}", operation.path)) for operation in described}
    missing = [
        f"{section}: {method} {path}"
        for section, paths in SECTIONS.items()
        for method, path in paths
        if (method, path) not in served
    ]
    assert not missing


async def test_every_parameter_has_a_value_to_try(described: list[Operation], ours: World) -> None:
    missing = {name for operation in described for name in operation.parameters} - ours.ids.keys()
    assert not missing, "make one in tests/interface/world.py"


async def test_without_a_credential(app: FastAPI, client: AsyncClient, described: list[Operation], ours: World) -> None:
    wrong = []
    for kind, (code, headers) in enumerate(NO_CREDENTIALS.items(), 1):
        # From an address of its own each: an address has 300 unknown credentials a minute.
        async with client_at(app, f"192.0.2.{kind}") as stranger:
            for operation in described:
                if operation.name in PUBLIC:
                    continue
                answer = await send(stranger, operation, ours, headers=headers)
                if answer.status_code != 401 or answer.json()["code"] != code:
                    wrong.append(f"{operation} {list(headers)}: {answer.status_code} {answer.text[:100]}")
    assert not wrong


async def test_a_viewer_changes_nothing(client: AsyncClient, described: list[Operation], ours: World) -> None:
    wrong = []
    for operation in described:
        if operation.name in PUBLIC | VIEWER_MAY or not operation.changes:
            continue
        answer = await send(client, operation, ours, headers=ours.org.headers_for("viewer"))
        if answer.status_code != 403:
            wrong.append(f"{operation}: {answer.status_code} {answer.text[:100]}")
    assert not wrong


async def test_only_a_superuser_sees_across_organizations(
    client: AsyncClient, described: list[Operation], ours: World
) -> None:
    for operation in described:
        if operation.path.startswith(SUPERUSER_PREFIX):
            for headers in (ours.org.owner_headers, ours.org.key_headers):
                answer = await send(client, operation, ours, headers=headers)
                assert answer.status_code == 403, f"{operation}: {answer.status_code}"


async def test_an_unknown_id(client: AsyncClient, described: list[Operation], ours: World) -> None:
    wrong = []
    for operation in described:
        if not operation.parameters or operation.name in PUBLIC or operation.path.startswith(SUPERUSER_PREFIX):
            continue
        answer = await send(client, operation, ours, ids=unknown_ids(ours))
        if answer.status_code != 404:
            wrong.append(f"{operation}: {answer.status_code} {answer.text[:100]}")
    assert not wrong


async def test_a_malformed_body(client: AsyncClient, described: list[Operation], ours: World) -> None:
    wrong = []
    contents = [b"", b"{", b"[]", b'"text"', b"null", b"\xff\xfe", b"[" * 5000]
    for operation, content in product(described, contents):
        if not operation.has_json_body or operation.path.startswith(SUPERUSER_PREFIX):
            continue
        if not operation.needs_body and content in (b"", b"null"):
            continue
        headers = {**ours.org.owner_headers, "Content-Type": "application/json"}
        answer = await send(client, operation, ours, content=content, headers=headers)
        if answer.status_code != 422 or not isinstance(answer.json()["detail"], list):
            wrong.append(f"{operation}, {content[:10]!r}: {answer.status_code} {answer.text[:100]}")
    assert not wrong


# Numbers that name what may not be there.
NAMES = {"version"}


@pytest.mark.slow
async def test_numbers_in_the_query_at_and_past_their_edges(
    client: AsyncClient, described: list[Operation], ours: World
) -> None:
    wrong = []
    for operation in described:
        if operation.path.startswith(SUPERUSER_PREFIX) or operation.name in STREAMS:
            continue
        for name, schema in operation.queries.items():
            if schema.get("type") not in ("integer", "number"):
                continue
            low, high = schema.get("minimum"), schema.get("maximum")
            tries = [(low, 200), (high, 404 if name in NAMES else 200), ("x", 422), ("", 422), (10**30, 422)]
            tries += [(low - 1, 422)] if low is not None else []
            tries += [(high + 1, 422)] if high is not None else []
            for value, expected in tries:
                if value is None:
                    continue
                answer = await send(client, operation, ours, query={name: str(value)})
                # what a valid request needs besides is made elsewhere: here the number is not refused
                is_taken = expected == 200 and operation.name in NEED_MORE and answer.status_code == 409
                if answer.status_code != expected and not is_taken:
                    wrong.append(f"{operation} {name}={value}: {answer.status_code}, not {expected}")
    assert not wrong


@pytest.mark.slow
async def test_the_specification_s_limits(client: AsyncClient, ours: World) -> None:
    wrong = []
    for path, name, taken, refused in LIMITS:
        for value in (*taken, *refused):
            answer = await ours.call("GET", path.format(**ours.ids), params={name: value})
            if answer.status_code != (200 if value in taken else 422):
                wrong.append(f"{path} {name}={value}: {answer.status_code}")
    assert not wrong


@pytest.mark.slow
async def test_the_specification_s_limits_for_superusers(client: AsyncClient, root: Root, ours: World) -> None:
    async with root.db.transaction() as session:
        await orgs.grant_superuser(session, ours.org.email("owner"))
    for name, taken, refused in (("limit", (1, 100), (0, 101)), ("page", (1,), (0,))):
        for value in (*taken, *refused):
            answer = await ours.call("GET", "/superuser/workflow-runs", params={name: value})
            assert answer.status_code == (200 if value in taken else 422), (name, value)


async def test_bodies_that_name_what_is_another_organization_s(
    client: AsyncClient, described: list[Operation], ours: World, theirs: World
) -> None:
    for operation in described:
        if operation.name in REFERENCES:
            answer = await send(client, operation, ours, json=BODIES[operation.name](theirs))
            assert answer.status_code in (404, 422), f"{operation}: {answer.status_code} {answer.text[:200]}"
