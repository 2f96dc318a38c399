"""The audit log leaves as NDJSON, and the file proves itself without a database."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from httpx2 import AsyncClient

from offhook.orgs.audit_trail.chain import AuditChain, ChainReport, ExpectedHead
from offhook.orgs.audit_trail.export import AuditExports
from offhook.orgs.audit_trail.exported_entries import ExportedFileInvalid, verify_lines
from offhook.root import Root
from tests.fixtures_orgs import OrgFixture
from tests.orgs.test_audit_chain import seal, verify, write_entries

PATH = "/organizations/audit-log/export"


async def download(client: AsyncClient, org: OrgFixture, **query: str) -> list[bytes]:
    answer = await client.get(PATH, headers=org.owner_headers, params=query)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert "audit_log_" in answer.headers["content-disposition"]
    return answer.content.splitlines(keepends=True)


def check(lines: list[bytes], *expected: str) -> ChainReport:
    (report,) = verify_lines(lines, expected=[ExpectedHead.parse(head) for head in expected])
    return report


def changed(line: bytes, **values: Any) -> bytes:
    return json.dumps(json.loads(line) | values).encode() + b"\n"


@pytest.fixture
async def lines(client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture) -> list[bytes]:
    """An export of eight sealed entries and two that are not."""
    await write_entries(root.db, org.id, 8)
    await write_entries(root.db, other_org.id, 3)
    await seal(root)
    await write_entries(root.db, org.id, 2, first=9)
    # The third is that of the export itself.
    found = await download(client, org)
    assert json.loads(found[-1])["action"] == "workflow.published"
    return found


async def test_each_line_is_an_entry_of_the_list(client: AsyncClient, org: OrgFixture, lines: list[bytes]) -> None:
    listed = (await client.get("/organizations/audit-log", headers=org.owner_headers)).json()["entries"]
    by_id = {entry["id"]: entry for entry in listed}
    assert len(lines) == 10
    for line in lines:
        entry = json.loads(line)
        known = by_id[entry["id"]]
        assert {name: entry[name] for name in known if name != "created_at"} == {
            name: value for name, value in known.items() if name != "created_at"
        }
        assert entry["organization_id"] == org.id
    assert [json.loads(line)["position"] for line in lines] == [*range(1, 9), None, None]


async def test_the_file_holds_without_a_database(root: Root, org: OrgFixture, lines: list[bytes]) -> None:
    report = check(lines)
    in_database = next(found for found in await verify(root) if found.chain == AuditChain(org.id))
    assert (report.sealed, report.unsealed, report.broken) == (8, 2, None)
    assert report.head == in_database.head
    assert check(lines, f"{org.id}:8:{report.head.seal.hex()}").broken is None


@pytest.mark.parametrize(
    ("edit", "position", "reason"),
    [
        (lambda lines: [*lines[:3], changed(lines[3], target="workflow:99"), *lines[4:]], 4, "changed_entry"),
        (lambda lines: [*lines[:3], changed(lines[3], ip="192.0.2.1"), *lines[4:]], 4, "changed_entry"),
        (lambda lines: [*lines[:3], *lines[4:]], 4, "missing_position"),
        (lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]], 4, "missing_position"),
        (lambda lines: [*lines[:4], lines[3], *lines[4:]], 4, "repeated_position"),
        (lambda lines: [*lines[:4], changed(lines[3], position=5), *lines[4:]], 5, "wrong_previous_seal"),
        (lambda lines: [*lines[:4], changed(lines[4], data={}), *lines[5:]], 5, "changed_entry"),
    ],
)
def test_an_edited_file_does_not_hold(
    lines: list[bytes], edit: Callable[[list[bytes]], list[bytes]], position: int, reason: str
) -> None:
    broken = check(edit(lines)).broken
    assert broken is not None
    assert (broken.position, broken.reason) == (position, reason)


def test_a_file_without_its_end_shows_by_a_head_kept_elsewhere(org: OrgFixture, lines: list[bytes]) -> None:
    head = f"{org.id}:8:{check(lines).head.seal.hex()}"
    assert check(lines[:6]).broken is None
    broken = check(lines[:6], head).broken
    assert broken is not None
    assert (broken.position, broken.reason) == (7, "truncated")
    (missing,) = verify_lines([], expected=[ExpectedHead.parse(head)])
    assert missing.broken is not None


async def test_a_range_of_positions_holds_by_itself(client: AsyncClient, org: OrgFixture, lines: list[bytes]) -> None:
    since = json.dumps([{"field": "position", "type": "number", "value": {"min": 5}}])
    part = await download(client, org, filters=since)
    report = check(part)
    assert (report.first_position, report.sealed, report.broken) == (5, 4, None)
    early = check(part, f"{org.id}:3:{'0' * 64}").broken
    assert early is not None
    assert early.reason == "missing_position"


async def test_filters_are_those_of_the_list(client: AsyncClient, org: OrgFixture, lines: list[bytes]) -> None:
    wanted = json.dumps([{"field": "target", "type": "text", "value": "workflow:9"}])
    assert [json.loads(line)["target"] for line in await download(client, org, filters=wanted)] == ["workflow:9"]
    refused = await client.get(PATH, headers=org.owner_headers, params={"filters": "[{}]"})
    assert (refused.status_code, refused.json()["code"]) == (422, "filter_invalid")


async def test_long_logs_come_in_pages(root: Root, org: OrgFixture, lines: list[bytes]) -> None:
    pieces = [piece async for piece in await AuditExports(root.db, page=3).open_export(org.id, None)]
    assert [piece.count(b"\n") for piece in pieces] == [3, 3, 2, 3]
    assert b"".join(pieces).splitlines(keepends=True)[: len(lines)] == lines


async def test_what_is_sealed_meanwhile_stays_unsealed_in_the_file(
    root: Root, org: OrgFixture, lines: list[bytes]
) -> None:
    pieces = await AuditExports(root.db, page=3).open_export(org.id, None)
    first = await anext(pieces)
    await write_entries(root.db, org.id, 1, first=11)
    await seal(root)
    report = check((first + b"".join([piece async for piece in pieces])).splitlines())
    assert (report.sealed, report.unsealed, report.broken) == (8, 3, None)


async def test_who_may_and_who_did(
    client: AsyncClient, org: OrgFixture, other_org: OrgFixture, lines: list[bytes]
) -> None:
    assert (await client.get(PATH)).status_code == 401
    for role in ("viewer", "member"):
        assert (await client.get(PATH, headers=org.headers_for(role))).status_code == 403
    others = await download(client, other_org)
    assert {json.loads(line)["organization_id"] for line in others} == {other_org.id}
    listed = (await client.get("/organizations/audit-log", headers=org.owner_headers)).json()["entries"]
    assert [entry["action"] for entry in listed].count("audit_log.exported") == 1


def test_what_is_no_export_is_refused(lines: list[bytes]) -> None:
    for wrong in (b"{}\n", b"not json\n", changed(lines[0], seal="beef")):
        with pytest.raises(ExportedFileInvalid, match="Line 2"):
            check([lines[0], wrong])
