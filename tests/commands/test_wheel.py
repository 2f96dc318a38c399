"""What a wheel of this checkout has in it."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from offhook.kit import http

TOP = Path(__file__).parents[2]
UI = Path(http.__file__).parents[2] / "_ui" / "index.html"


@pytest.mark.skipif(not UI.is_file(), reason="the web UI is not built: make web")
@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_wheel_contains_the_page(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=TOP, check=True, capture_output=True,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("offhook-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "offhook/_ui/index.html" in names
    assert any(name.startswith("offhook/_ui/assets/") and name.endswith(".js") for name in names)
    assert "offhook/_migrations/env.py" in names
    assert "offhook/_migrations/versions/0026_initial_schema/runs.sql" in names
    assert not any("node_modules" in name for name in names)
    assert {name.partition("/")[0] for name in names} == {"offhook", names[-1].partition("/")[0]}
    assert "offhook/commands/lab.py" in names
    assert not any("emulator" in name or "_lab" in name for name in names)
