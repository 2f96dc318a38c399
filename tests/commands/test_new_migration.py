"""``scripts/new_migration.py`` writes only when it is told what the migration does."""

import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
MIGRATIONS = TOP / "migrations"


@pytest.mark.parametrize(("argument", "code"), [("--help", 0), ("", 2), ("--helb", 2)])
def test_help_and_typing_errors_write_nothing(argument: str, code: int) -> None:
    before = sorted(MIGRATIONS.rglob("*.py"))
    done = subprocess.run(
        [sys.executable, TOP / "scripts" / "new_migration.py", argument], capture_output=True, text=True, check=False
    )
    assert (done.returncode, "usage: new_migration.py MESSAGE" in done.stdout + done.stderr) == (code, True)
    assert sorted(MIGRATIONS.rglob("*.py")) == before
