"""Writes docs/openapi.json, the description of the HTTP interface, from the code."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from offhook.api import create_app
from offhook.bootstrap import build_root
from offhook.settings import Settings

SNAPSHOT = Path(__file__).parents[3] / "docs" / "openapi.json"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m offhook.commands.openapi", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the file is not up to date")
    is_check: bool = parser.parse_args(arguments).check
    # connects to nothing
    root = build_root(Settings(), "postgresql+asyncpg://nobody@localhost/none")
    described = json.dumps(create_app(root).openapi(), indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    if not is_check:
        SNAPSHOT.write_text(described)
        print(f"Wrote {SNAPSHOT.name}.")
        return 0
    if SNAPSHOT.is_file() and SNAPSHOT.read_text() == described:
        return 0
    print(
        "docs/openapi.json is not what the code serves: run `make openapi` and commit the difference.", file=sys.stderr
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
