"""``make run`` on a machine that has no Node, or one that is too old: the API is served, and it is said what is missing."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Of the machine's programs, what the scripts are made of.
PROGRAMS = ("make", "bash", "sh", "dirname", "cat", "cut", "find", "sort", "sha256sum")
OLD_NODE = {"npm": "#!/bin/sh\nexit 1\n", "node": '#!/bin/sh\ncase "$2" in *"< 20"*) exit 1;; esac\n'}

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make on PATH")


def write_program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def environment_without_make() -> dict[str, str]:
    """Leaves out what an outer ``make test`` hands down: an inner make that sees it also prints the folders it enters."""
    return {name: value for name, value in os.environ.items() if name not in ("MAKELEVEL", "MAKEFLAGS", "MFLAGS")}


@pytest.mark.parametrize("programs", [{}, OLD_NODE], ids=["none", "old"])
def test_the_api_is_served_all_the_same(tmp_path: Path, programs: dict[str, str]) -> None:
    checkout, path = tmp_path / "checkout", tmp_path / "bin"
    path.mkdir()
    for name in PROGRAMS:
        found = shutil.which(name)
        assert found is not None
        (path / name).symlink_to(found)
    for name, text in programs.items():
        write_program(path / name, text)
    (checkout / "web").mkdir(parents=True)
    (checkout / "web" / "package.json").write_text("{}")
    shutil.copy(ROOT / "Makefile", checkout)
    shutil.copytree(ROOT / "scripts", checkout / "scripts")
    # What takes minutes and needs no Node.
    write_program(checkout / "scripts" / "bootstrap.sh", "#!/bin/sh\n")
    write_program(checkout / ".venv" / "bin" / "offhook", '#!/bin/sh\necho "offhook $*"\n')
    made = subprocess.run(
        ["make", "run"],
        cwd=checkout,
        env=environment_without_make() | {"PATH": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    assert "Node.js 20 or newer with npm is not there" in made.stdout
    assert made.stdout.splitlines()[-1] == "offhook serve"
    assert not (checkout / "src").exists()
