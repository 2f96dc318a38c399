"""``scripts/new_migration.py`` writes only when it is told what the migration does."""

import os
from pathlib import Path

import pytest

from tests.forks import forks

TOP = Path(__file__).parents[2]
MIGRATIONS = TOP / "migrations"


@pytest.mark.parametrize(("argument", "code"), [("--help", 0), ("", 2), ("--helb", 2)])
def test_help_and_typing_errors_write_nothing(argument: str, code: int, tmp_path: Path) -> None:
    before = sorted(MIGRATIONS.rglob("*.py"))
    done = forks().run(argument, env=os.environ, folder=tmp_path, target="scripts.new_migration:main")
    assert (done.returncode, "usage: new_migration.py MESSAGE" in done.stdout + done.stderr) == (code, True)
    assert sorted(MIGRATIONS.rglob("*.py")) == before
