"""``scripts/sbom.sh`` names every package that is locked for the product, and says which one it does not name."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TOP = Path(__file__).parents[2]
HELPER = TOP / "scripts" / "sbom_parts.py"


def run_helper(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, HELPER, *arguments], capture_output=True, text=True, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Both lists as the locks have them, with names, versions and nothing else."""
    locks = [(TOP / name).read_text() for name in ("requirements.lock", "requirements-data.lock")]
    pins = [line.split()[0].partition("==") for lock in locks for line in lock.splitlines() if re.match(r"\w", line)]
    server = [{"name": name.partition("[")[0], "version": version} for name, _, version in pins]
    packages = json.loads((TOP / "web/package-lock.json").read_text())["packages"]
    web = [
        {"name": path.split("node_modules/")[-1], "version": entry["version"]}
        for path, entry in packages.items()
        if path and not entry.get("dev")
    ]
    write_parts(tmp_path / "server.cdx.json", server)
    write_parts(tmp_path / "web.cdx.json", web)
    return tmp_path


def write_parts(path: Path, parts: list[dict[str, Any]]) -> None:
    path.write_text(json.dumps({"bomFormat": "CycloneDX", "specVersion": "1.6", "components": parts}))


def read_parts(path: Path) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = json.loads(path.read_text())["components"]
    return parts


@pytest.mark.parametrize(("file", "name"), [("server.cdx.json", "fastapi"), ("web.cdx.json", "react")])
def test_a_part_that_is_left_out_is_named(folder: Path, file: str, name: str) -> None:
    parts = read_parts(folder / file)
    write_parts(folder / file, [part for part in parts if part["name"] != name])
    checked = run_helper("check", folder)
    assert checked.returncode == 1
    (line,) = checked.stderr.splitlines()
    assert re.fullmatch(rf"error: {file}: {name} [0-9.]+ is locked and not named", line)


def test_a_part_of_another_version_is_named_twice(folder: Path) -> None:
    parts = read_parts(folder / "server.cdx.json")
    (part,) = [part for part in parts if part["name"] == "fastapi"]
    locked, part["version"] = part["version"], "0.0.1"
    write_parts(folder / "server.cdx.json", parts)
    assert run_helper("check", folder).stderr.splitlines() == [
        f"error: server.cdx.json: fastapi {locked} is locked and not named",
        "error: server.cdx.json: fastapi 0.0.1 is named and not locked",
    ]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"bomFormat": "CycloneDX", "components": {}}'])
def test_a_file_that_is_no_list_of_parts_is_refused(folder: Path, text: str) -> None:
    (folder / "web.cdx.json").write_text(text)
    checked = run_helper("check", folder)
    assert checked.returncode == 1
    assert "web.cdx.json" in checked.stderr
    assert "Traceback" not in checked.stderr


def test_the_web_lock_keeps_what_ships_and_what_both_use(tmp_path: Path) -> None:
    assert run_helper("web-lock", tmp_path / "web").returncode == 0
    packages = json.loads((tmp_path / "web/package-lock.json").read_text())["packages"]
    assert {"node_modules/react", "node_modules/tslib"} <= packages.keys()
    assert packages.keys().isdisjoint({"node_modules/vite", "node_modules/eslint"})
    assert "devDependencies" not in packages[""]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="needs npm")
def test_the_lists_follow_the_schema_and_are_the_same_each_time(tmp_path: Path) -> None:
    """Half a minute: two whole runs, each with the schema's check."""
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        subprocess.run([TOP / "scripts" / "sbom.sh", folder], check=True, capture_output=True)
    for name in ("server.cdx.json", "web.cdx.json"):
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()
    assert "react" in {part["name"] for part in read_parts(folders[0] / "web.cdx.json")}
    assert "fastapi" in {part["name"] for part in read_parts(folders[0] / "server.cdx.json")}


@pytest.mark.slow
def test_what_the_schema_does_not_allow_is_refused(folder: Path) -> None:
    """The parts have no type, which the schema demands; loading its check takes seconds."""
    checked = run_helper("check", folder)
    assert checked.returncode == 1
    assert "the schema does not allow it" in checked.stderr
