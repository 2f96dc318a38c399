"""What processes do not load before they need it: an idle one is small, and starts quickly."""

import json
import subprocess
import sys

import pytest

# Each of these costs 5 to 60 MB or half a second.
HEAVY = (
    *("onnxruntime", "tokenizers", "onnx", "obstore", "pypdfium2", "docx", "selectolax", "semchunk", "pocketsphinx"),
    "sherpa_onnx",
    *("openai", "anthropic", "google.genai", "mcp", "soundfile", "alembic"),
)
BUILD = """
import json, sys
from pathlib import Path
import offhook.api, offhook.worker
from offhook.bootstrap import build_root
from offhook.settings import Settings
build_root(Settings(data_dir=Path(sys.argv[1])), "postgresql+asyncpg://nobody@localhost/none")
print(json.dumps([name for name in sys.argv[2:] if name in sys.modules]))
"""


@pytest.mark.slow
def test_a_process_that_has_nothing_to_do_has_loaded_no_model_and_no_vendor(tmp_path: object) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(tmp_path), *HEAVY], capture_output=True, text=True, check=True, timeout=120
    )
    assert json.loads(done.stdout.splitlines()[-1]) == []
