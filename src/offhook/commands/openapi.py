"""``python -m offhook.commands.openapi [--check]``: writes docs/openapi.json, or checks that it is up to date."""

import json
import sys
from pathlib import Path

from offhook.api import create_app
from offhook.bootstrap import build_root
from offhook.settings import Settings

SNAPSHOT = Path(__file__).parents[3] / "docs" / "openapi.json"


def main() -> int:
    # connects to nothing
    root = build_root(Settings(), "postgresql+asyncpg://nobody@localhost/none")
    described = json.dumps(create_app(root).openapi(), indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    if "--check" not in sys.argv:
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
