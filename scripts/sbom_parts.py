"""What ``scripts/sbom.sh`` needs besides the programs that write lists of parts.

``web-lock FOLDER`` copies the web app's lock without what only its developers use. npm's own ``--omit dev`` also
leaves out what both use, React among them (npm 11).

``check FOLDER`` checks ``server.cdx.json`` and ``web.cdx.json`` against their schema and the locks: every package that
is locked is named with its version, and nothing else. It takes what differs from run to run out of them.
"""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

TOP = Path(__file__).parents[1]
LOCKED = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^]]*])?==([^\s;\\]+)", re.MULTILINE)
Part = tuple[str, str]


def write_web_lock(folder: Path) -> None:
    """Writes package.json and package-lock.json as they are without devDependencies."""
    folder.mkdir(parents=True)
    package = json.loads((TOP / "web/package.json").read_text())
    package.pop("devDependencies", None)
    lock = read_web_lock()
    lock["packages"] = {path: entry for path, entry in lock["packages"].items() if not entry.get("dev")}
    lock["packages"][""].pop("devDependencies", None)
    (folder / "package.json").write_text(json.dumps(package))
    (folder / "package-lock.json").write_text(json.dumps(lock))


def read_web_lock() -> dict[str, Any]:
    lock: dict[str, Any] = json.loads((TOP / "web/package-lock.json").read_text())
    return lock


def list_server_parts() -> set[Part]:
    text = "\n".join((TOP / name).read_text() for name in ("requirements.lock", "requirements-data.lock"))
    return {(normalize(name), version) for name, version in LOCKED.findall(text)}


def list_web_parts() -> set[Part]:
    packages = read_web_lock()["packages"].items()
    return {
        (entry.get("name") or path.rpartition("node_modules/")[2], entry["version"])
        for path, entry in packages
        if path and not entry.get("dev")
    }


def normalize(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def keep(name: str) -> str:
    return name


LISTS: dict[str, tuple[Callable[[], set[Part]], Callable[[str], str]]] = {
    "server.cdx.json": (list_server_parts, normalize),
    "web.cdx.json": (list_web_parts, keep),
}


def check(folder: Path) -> list[str]:
    """Returns what is wrong, a sentence for each fault; the files are written anew if nothing is."""
    documents: dict[str, Any] = {}
    faults: list[str] = []
    for name, (list_locked, to_name) in LISTS.items():
        try:
            documents[name] = json.loads((folder / name).read_text())
        except (OSError, ValueError) as error:
            faults.append(f"{name} cannot be read: {error}")
        else:
            faults += [f"{name}: {fault}" for fault in find_faults(documents[name], list_locked(), to_name)]
    if faults:
        return faults
    for name, document in documents.items():
        faults += [f"{name}: {fault}" for fault in find_schema_faults(document)]
    if faults:
        return faults
    for name, document in documents.items():
        text = json.dumps(make_reproducible(document), indent=2, ensure_ascii=False)
        (folder / name).write_text(text + "\n")
    return []


def find_faults(document: Any, locked: set[Part], to_name: Callable[[str], str]) -> list[str]:
    if not isinstance(document, dict) or document.get("bomFormat") != "CycloneDX":
        return ["it is not CycloneDX"]
    parts = document.get("components")
    if not isinstance(parts, list) or not all(isinstance(part, dict) and "name" in part for part in parts):
        return ["its components are not a list of parts with names"]
    named = {(to_name(to_full_name(part)), part.get("version", "")) for part in parts}
    return [
        *(f"{name} {version} is locked and not named" for name, version in sorted(locked - named)),
        *(f"{name} {version} is named and not locked" for name, version in sorted(named - locked)),
    ]


def find_schema_faults(document: dict[str, Any]) -> list[str]:
    # Imported here: its grammar of addresses takes seconds to load.
    from cyclonedx.schema import SchemaVersion  # noqa: PLC0415
    from cyclonedx.validation.json import JsonStrictValidator  # noqa: PLC0415

    versions = {version.to_version(): version for version in SchemaVersion}
    schema = versions.get(document.get("specVersion", ""))
    if schema is None:
        return ["its specVersion is unknown"]
    fault = JsonStrictValidator(schema).validate_str(json.dumps(document))
    return [] if fault is None else [f"the schema does not allow it: {fault.data.message}"]


def to_full_name(part: dict[str, Any]) -> str:
    return f"{part['group']}/{part['name']}" if part.get("group") else part["name"]


def make_reproducible(document: dict[str, Any]) -> dict[str, Any]:
    """Returns it without the time and the random number of its making."""
    made = {key: value for key, value in document.items() if key != "serialNumber"}
    made["metadata"] = {key: value for key, value in document["metadata"].items() if key != "timestamp"}
    return made


def main(arguments: list[str]) -> int:
    match arguments:
        case ["web-lock", folder]:
            write_web_lock(Path(folder))
            return 0
        case ["check", folder]:
            faults = check(Path(folder))
            for fault in faults:
                print(f"error: {fault}", file=sys.stderr)
            if not faults:
                print(f"   {len(list_server_parts())} packages of the server, {len(list_web_parts())} of the web app")
            return 1 if faults else 0
        case _:
            print(__doc__, file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
