"""``offhook audit verify``: over the database of an installation, and over a file without any."""

import json
from pathlib import Path

import pytest

from offhook.orgs.audit_trail.chain import ChainHead, compute_seal
from offhook.orgs.audit_trail.exported_entries import ExportedEntry
from tests.commands.conftest import Offhook


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """An export of five entries."""
    file, head = tmp_path / "audit.ndjson", ChainHead()
    lines = []
    for number in range(1, 6):
        content: dict[str, object] = {
            "id": 10 * number,
            "organization_id": 3,
            "actor_user_id": 1,
            "actor_key_id": None,
            "impersonator_id": None,
            "action": "workflow.published",
            "target": f"workflow:{number}",
            "ip": None,
            "data": {},
            "created_at": "2026-11-24T01:02:03.000004Z",
        }
        entry = ExportedEntry.model_validate(content | {"position": None, "previous_seal": None, "seal": None})
        place = compute_seal(head, entry.content)
        seals = {"position": number, "previous_seal": head.seal.hex(), "seal": place.seal.hex()}
        lines.append(ExportedEntry.model_validate(content | seals).to_line())
        head = ChainHead(place.position, place.seal)
    file.write_bytes(b"".join(lines))
    return file


@pytest.mark.slow
def test_a_file_is_checked_without_a_database(shared: Offhook, exported: Path) -> None:
    done = shared.run("audit", "verify", "--file", str(exported), OFFHOOK_DATABASE_URL="postgresql://nowhere.invalid/x")
    assert done.returncode == 0, done.stderr
    last = json.loads(exported.read_text().splitlines()[-1])
    assert done.stdout.splitlines() == [
        "Organization 3: 5 entries, 5 sealed, 0 not yet sealed",
        f"  head    3:5:{last['seal']}",
        "  intact",
    ]


@pytest.mark.slow
def test_a_broken_file_has_exit_code_1(shared: Offhook, exported: Path) -> None:
    exported.write_text(exported.read_text().replace("workflow:4", "workflow:7"))
    done = shared.run("audit", "verify", "--file", str(exported))
    assert (done.returncode, done.stdout.splitlines()[-1]) == (
        1,
        "  BROKEN  at position 4: Entry 40 is not what was sealed.",
    )
    told = json.loads(shared.run("audit", "verify", "--file", str(exported), "--json").stdout)
    assert told["is_intact"] is False
    assert told["chains"][0]["broken"]["reason"] == "changed_entry"


@pytest.mark.slow
def test_the_database_of_an_installation(shared: Offhook) -> None:
    assert shared.run("keys", "create", "--name", "Audited").returncode == 0
    done = shared.run("audit", "verify", "--json")
    assert done.returncode == 0, done.stderr
    chains = json.loads(done.stdout)["chains"]
    assert sum(chain["entries"] for chain in chains) > 0
    (one,) = json.loads(shared.run("audit", "verify", "--organization", "1", "--json").stdout)["chains"]
    assert one["organization_id"] == 1
    lost = shared.run("audit", "verify", "--expect-head", f"1:9999:{'0' * 64}")
    assert (lost.returncode, "before the expected head at 9999" in lost.stdout) == (1, True)


def test_wrong_use(shared: Offhook, tmp_path: Path) -> None:
    for arguments in (["--expect-head", "3:1"], ["--expect-head", "3:1:beef"], ["--organization", "Acme"]):
        assert shared.run("audit", "verify", *arguments).returncode == 2
    other = tmp_path / "other.ndjson"
    other.write_text('{"id": 1}\n')
    done = shared.run("audit", "verify", "--file", str(other))
    assert (done.returncode, done.stderr) == (1, "offhook: Line 1 is not an entry of an exported audit log.\n")
