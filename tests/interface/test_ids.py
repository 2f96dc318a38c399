"""Ids in paths are written in the digits 0 to 9: whatever else Python reads as a number reaches no row."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from httpx2 import AsyncClient
from pydantic import BeforeValidator

from offhook.kit.http.path_ids import read_id, require_digits
from offhook.orgs import service as orgs
from offhook.root import Root
from tests.interface.bodies import IDS
from tests.interface.operations import Operation
from tests.interface.test_every_operation import body_of
from tests.interface.world import World

# How a valid id may be misspelled so that Python's or pydantic's ``int`` still reads it.
MISSPELLED = ("0_{}", "%20{}", "{}%20", "%2B{}", "{}.0", "{}%0A", "%09{}")
FULL_WIDTH = str.maketrans("0123456789", "０１２３４５６７８９")
ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")


def integers_in_paths(app: FastAPI) -> Iterator[tuple[str, str, list[Any]]]:
    for route in iter_route_contexts(app.routes):
        path = route.path or ""
        for field in route.dependant.path_params if "{" in path else ():
            if field.field_info.annotation is int:
                yield path, field.name, field.field_info.metadata


def misspell(number: int) -> list[str]:
    return [form.format(number) for form in MISSPELLED] + [
        str(number).translate(table) for table in (FULL_WIDTH, ARABIC)
    ]


def test_every_integer_in_a_path_is_of_the_shared_type(app: FastAPI) -> None:
    found = list(integers_in_paths(app))
    assert len(found) > 90
    assert not [
        f"{name} in {path}"
        for path, name, metadata in found
        if not any(isinstance(one, BeforeValidator) and one.func is require_digits for one in metadata)
    ]


@pytest.mark.slow
async def test_a_misspelled_id_is_refused(
    app: FastAPI, client: AsyncClient, root: Root, described: list[Operation], ours: World
) -> None:
    async with root.db.transaction() as session:
        await orgs.grant_superuser(session, ours.org.email("owner"))
    integers = {(re.sub("^/api/v1", "", path), name) for path, name, _ in integers_in_paths(app)}
    wrong = []
    for operation in described:
        for name in operation.parameters:
            if (operation.path, name) not in integers:
                continue
            ids = ours.ids | {one: ours.ids[key] for one, key in IDS.get(operation.name, {}).items() if key in ours.ids}
            for text in misspell(ids[name]):
                path = operation.at(ids | {name: text})
                answer = await client.request(
                    operation.method, path, json=body_of(operation, ours), headers=ours.org.owner_headers
                )
                # A carrier's callback may be refused for its missing signature before its path is read.
                if answer.status_code not in (401, 404, 422):
                    wrong.append(f"{operation} {name}={text}: {answer.status_code} {answer.text[:100]}")
    assert not wrong


async def test_a_workflow_is_not_deleted_by_another_spelling_of_its_id(client: AsyncClient, ours: World) -> None:
    workflow_id = ours.ids["workflow_id"]
    for text in misspell(workflow_id):
        assert (await ours.call("DELETE", f"/workflow/{text}")).status_code == 422
    assert (await ours.call("GET", f"/workflow/fetch/{workflow_id}")).status_code == 200
    assert (await ours.call("GET", f"/workflow/fetch/00{workflow_id}")).status_code == 200


@pytest.mark.parametrize("text", ["", "1_0", " 10", "10 ", "+10", "-10", "1.0", "10\n", "１０", "١٠", "1" * 19])
def test_a_socket_s_path_names_no_run(text: str) -> None:
    assert read_id(text) is None
    assert read_id("10") == 10
