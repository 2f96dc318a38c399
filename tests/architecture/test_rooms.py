"""The rooms of each domain use only the rooms that ARCHITECTURE.md says."""

import re
from collections import defaultdict
from pathlib import Path

from tests.architecture.source import SOURCE, TOP, imported, modules, none

ROW = re.compile(r"^\| `(\w+)/(\w+)/` \| .+ \| ([^|]+) \|$", re.MULTILINE)
OFFHOOK = SOURCE / "offhook"


def documented() -> dict[tuple[str, str], set[str]]:
    """The rooms that each room may use, by domain and room."""
    rows = ROW.findall((TOP / "ARCHITECTURE.md").read_text("utf-8"))
    return {(domain, room): set(re.findall(r"`(\w+)`", used)) for domain, room, used in rows}


def rooms_of(domain: str) -> set[str]:
    return {path.parent.name for path in (OFFHOOK / domain).glob("*/__init__.py")}


def used_by_rooms(domain: str) -> dict[str, dict[str, str]]:
    """The rooms that each room of a domain imports from, with one module that does."""
    rooms = rooms_of(domain)
    used: dict[str, dict[str, str]] = defaultdict(dict)
    for module in modules(OFFHOOK / domain):
        own = Path(module.name).relative_to(f"src/offhook/{domain}").parts[0]
        for node in module.nodes:
            for name in imported(node):
                parts = name.split(".")
                if own in rooms and parts[:2] == ["offhook", domain] and len(parts) > 2 and parts[2] in rooms - {own}:
                    used[own][parts[2]] = module.name
    return used


def test_every_room_is_in_the_table() -> None:
    domains = {domain for domain, _ in documented()}
    missing = [
        f"{domain}/{room}" for domain in domains for room in rooms_of(domain) if (domain, room) not in documented()
    ]
    gone = [f"{domain}/{room}" for domain, room in documented() if room not in rooms_of(domain)]
    none(missing + gone)


def test_rooms_use_what_the_table_says() -> None:
    allowed = documented()
    wrong, spare = [], []
    for domain in {domain for domain, _ in allowed}:
        used = used_by_rooms(domain)
        for room in rooms_of(domain):
            may = allowed.get((domain, room), set())
            wrong += [f"{where} uses {domain}/{other}" for other, where in used[room].items() if other not in may]
            spare += [f"{domain}/{room} does not use {other}" for other in may - used[room].keys()]
    none(wrong + spare)
