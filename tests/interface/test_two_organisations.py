"""Nothing of one organization is readable, changeable or countable by another, tried over every path of the API."""

import json
from typing import Any

import pytest
from httpx2 import AsyncClient

from offhook.orgs import service as orgs
from offhook.root import Root
from tests.interface.bodies import IDS, NEED_MORE, PERSONAL, PUBLIC, ROLES, STREAMS, SUPERUSER_PREFIX
from tests.interface.operations import Operation
from tests.interface.test_every_operation import send
from tests.interface.world import World

NOT_THERE_YET = ("/recording", "/archive", "/runs/{run_id}/scenario")
# Grow by being looked at, or name the present moment.
VOLATILE = frozenset(
    {
        "get_audit_log",
        "export_audit_log",
        "export_run_evidence",
        "list_api_keys",
        "check_campaign_before_start",
        "get_campaign_source_url",
    }
)


def ours_only(described: list[Operation]) -> list[Operation]:
    return [
        operation
        for operation in described
        if operation.name not in PUBLIC | STREAMS and not operation.path.startswith(SUPERUSER_PREFIX)
    ]


async def everything(client: AsyncClient, described: list[Operation], world: World) -> dict[str, tuple[int, str]]:
    """What every GET of an organization answers."""
    seen = {}
    for operation in ours_only(described):
        if operation.method == "GET" and operation.name not in VOLATILE:
            answer = await send(client, operation, world)
            seen[str(operation)] = (answer.status_code, _steady(answer.text))
    return seen


def _steady(text: str) -> str:
    """Without what is new in every answer: signed links and the present moment."""
    try:
        content = json.loads(text)
    except ValueError:
        return text
    return json.dumps(_without(content, ("_url", "url", "period_end", "now", "next_open_at")), sort_keys=True)


def _without(content: Any, endings: tuple[str, ...]) -> Any:
    if isinstance(content, dict):
        return {key: _without(value, endings) for key, value in content.items() if not key.endswith(endings)}
    if isinstance(content, list):
        return [_without(item, endings) for item in content]
    return content


async def test_another_organization_s_ids_are_unknown_ids(
    client: AsyncClient, described: list[Operation], ours: World, theirs: World
) -> None:
    before = await everything(client, described, theirs)
    wrong = []
    for operation in ours_only(described):
        if not operation.parameters or operation.path.startswith(("/node-types", "/workflow/templates")):
            continue  # node types and templates are everybody's
        for role in ("owner", "key"):
            headers = ours.org.key_headers if role == "key" else ours.org.owner_headers
            answer = await send(client, operation, ours, ids=theirs.ids, headers=headers)
            if answer.status_code != (403 if role == "key" and operation.name in PERSONAL else 404):
                wrong.append(f"{operation} as {role}: {answer.status_code} {answer.text[:100]}")
    assert not wrong
    assert await everything(client, described, theirs) == before


@pytest.mark.slow
async def test_an_own_id_does_not_open_what_hangs_under_another_organization_s(
    client: AsyncClient, described: list[Operation], ours: World, theirs: World
) -> None:
    wrong = []
    for operation in ours_only(described):
        if len(operation.parameters) < 2:
            continue
        for name in operation.parameters:
            key = IDS.get(operation.name, {}).get(name, name)
            if key not in theirs.ids or ours.ids[key] == theirs.ids[key]:
                continue
            answer = await send(client, operation, ours, ids=ours.ids | {key: theirs.ids[key]})
            if answer.status_code != 404:
                wrong.append(f"{operation} with their {name}: {answer.status_code} {answer.text[:100]}")
    assert not wrong


@pytest.mark.slow
async def test_lists_and_counts_hold_what_is_one_s_own(
    client: AsyncClient, described: list[Operation], ours: World, make_org: Any
) -> None:
    alone = await everything(client, described, ours)
    theirs = await World(client, await make_org("Globex"), "okapi").furnish()
    assert await everything(client, described, ours) == alone
    for operation in ours_only(described):
        if operation.method == "GET":
            answer = await send(client, operation, ours)
            assert theirs.mark not in answer.text, f"{operation} shows another organization's texts"


def in_an_order_that_works(described: list[Operation]) -> list[Operation]:
    """What takes something away comes last: of two things, the one that lies within the other first."""

    def place(operation: Operation) -> tuple[bool, bool, int]:
        takes_away = operation.method == "DELETE"
        # its answer is another session, and ours is over
        return operation.name == "switch_organization", takes_away, -len(operation.path) if takes_away else 0

    return sorted((one for one in described if one.name not in PUBLIC | STREAMS | NEED_MORE.keys()), key=place)


@pytest.mark.slow
async def test_a_valid_request_to_every_operation_succeeds_and_a_twin_stays_as_it_was(
    client: AsyncClient, root: Root, described: list[Operation], make_org: Any
) -> None:
    """Two organizations with the same names in everything: one of them uses all of the API."""
    ours = World(client, await make_org("Acme"), "zebra")
    twin = World(client, await make_org("Globex"), "zebra", trigger="trigger-of-the-twin")
    for world in (ours, twin):
        await (await world.furnish()).complete()
    async with root.db.transaction() as session:
        await orgs.grant_superuser(session, ours.org.email("owner"))
    before = await everything(client, described, twin)
    assert [(name, seen) for name, seen in before.items() if seen[0] != 200 and not name.endswith(NOT_THERE_YET)] == []
    wrong = []
    for operation in in_an_order_that_works(described):
        headers = ours.org.headers_for(ROLES.get(operation.name, "owner"))
        answer = await send(client, operation, ours, headers=headers)
        if not answer.is_success:
            wrong.append(f"{operation.name}, {operation}: {answer.status_code} {answer.text[:200]}")
        elif operation.name == "quick_connect":
            ours.ids["bought_id"] = answer.json()["phone_number_id"]
    assert not wrong, "\n".join(wrong)
    assert await everything(client, described, twin) == before
