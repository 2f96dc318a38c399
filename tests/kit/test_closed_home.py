"""Root's home is closed to everybody else: an installation in it reads documents too, with the rights of nobody."""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

import offhook

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="only root's children become another user"
)
# Finds its data as pypdfium2 does its shared library.
LIBRARY = """
from pathlib import Path

WORDS = (Path(__file__).resolve().parent / "words.txt").read_text()
"""
PROGRAM = """
import os
import closed_library

if __name__ == "__main__":
    print(closed_library.WORDS, os.geteuid())
"""
PARENT = """
import asyncio
from offhook.kit.processes.limited_programs import ProcessLimits, SandboxedProcessRunner, reader_user_id

runner = SandboxedProcessRunner(ProcessLimits(60.0, 30, 1 << 30, 0), max_concurrent=1)
done = asyncio.run(runner.run("closed_program", owner=None))
assert done.exit_code == 0, done
assert done.stdout == f"found {reader_user_id()}", done
"""


def test_libraries_that_look_for_themselves_are_found_in_a_closed_folder(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    venv.create(home / "venv", with_pip=False, symlinks=True)
    (packages,) = (home / "venv").glob("lib/python*/site-packages")
    (packages / "closed_library").mkdir()
    (packages / "closed_library" / "__init__.py").write_text(LIBRARY)
    (packages / "closed_library" / "words.txt").write_text("found")
    (packages / "closed_program.py").write_text(PROGRAM)
    ours = Path(offhook.__file__).parents[1]
    (packages / "paths.pth").write_text(f"{ours}\n{sysconfig.get_path('purelib')}\n")

    done = subprocess.run(
        [home / "venv" / "bin" / "python", "-c", PARENT], check=False, capture_output=True, text=True, cwd="/"
    )
    assert done.returncode == 0, done.stderr
