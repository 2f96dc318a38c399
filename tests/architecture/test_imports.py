"""What processes do not load before they need it: an idle one is small, and starts quickly."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup

from offhook.cli import build_cli
from offhook.commands.overview import COMMANDS
from offhook.scenarios.plays.tasks import PROGRAM as PLAYS
from offhook.scenarios.proposals.service import PROGRAM as PROPOSALS
from offhook.scenarios.replays.processes import PROGRAM as REPLAYS

# Each of these costs 5 to 60 MB or half a second.
HEAVY = (
    *("onnxruntime", "tokenizers", "onnx", "obstore", "pypdfium2", "docx", "selectolax", "semchunk", "pocketsphinx"),
    "sherpa_onnx",
    *("openai", "anthropic", "google.genai", "mcp", "soundfile", "alembic"),
)
# What a play by text has no use for: the web, the database, its queue, and the domains that live by them.
OF_SERVERS = (
    *("fastapi", "starlette", "uvicorn", "sqlalchemy", "asyncpg", "pgqueuer", "prometheus_client", "cryptography"),
    *(
        "email_validator",
        "typer",
        "offhook.bootstrap",
        "offhook.telephony",
        "offhook.runs.tables",
        "offhook.orgs.tables",
    ),
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
IMPORT = """
import json, sys
from importlib import import_module
from offhook.kit.processes.late_packages import delay_packages
delay_packages()
import_module(sys.argv[1])
print(json.dumps([name for name in sys.argv[2:] if name in sys.modules]))
"""
OVERVIEW = """
import json, sys
from offhook.cli import build_overview
build_overview()
print(json.dumps([name for name in sys.argv[1:] if name in sys.modules]))
"""
# A package's module, its file, its own names, and what it does not have.
LATE = """
import json, sys
from importlib.resources import files
from offhook.kit.processes.late_packages import delay_packages
delay_packages()
from offhook.models.prices import published_prices
few = "offhook.models.prices.endpoints" in sys.modules
size = len((files("offhook.models.prices") / "prices.yaml").read_bytes())
import offhook.kit.egress
unknown = [name for name in ("nothing", "__wrapped__") if hasattr(offhook.kit.egress, name)]
from offhook.models.prices import Price
print(json.dumps([few, size > 0, unknown, Price.__module__, Price is published_prices.Price]))
"""


def loaded(script: str, *arguments: str) -> object:
    """What the script prints, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True, timeout=120
    )
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_a_process_that_has_nothing_to_do_has_loaded_no_model_and_no_vendor(tmp_path: Path) -> None:
    assert loaded(BUILD, str(tmp_path), *HEAVY) == []


@pytest.mark.parametrize("program", [PLAYS, REPLAYS, PROPOSALS], ids=lambda program: program[-1])
def test_a_process_that_plays_conversations_loads_neither_the_web_nor_the_database(program: tuple[str, ...]) -> None:
    *launcher, module = program
    assert launcher == [sys.executable, "-m", "offhook.kit.processes.quick_program"]
    assert loaded(IMPORT, module, *HEAVY, *OF_SERVERS) == []


def test_packages_of_such_a_process_load_the_rest_when_they_are_asked_for_it() -> None:
    assert loaded(LATE) == [False, True, [], "offhook.models.prices.published_prices", True]


def test_the_overview_of_the_commands_loads_none_of_them() -> None:
    servers = [name for name in OF_SERVERS if name != "typer"]
    assert loaded(OVERVIEW, *HEAVY, *servers, "pydantic", "numpy", "structlog", "offhook.settings") == []


def test_the_overview_says_of_each_command_what_it_says_of_itself() -> None:
    command_line = typer.main.get_command(build_cli())
    assert isinstance(command_line, TyperGroup)
    of_themselves = {
        name: " ".join((command.help or "").partition("\n\n")[0].split())
        for name, command in command_line.commands.items()
    }
    assert {name: summary.help for name, summary in COMMANDS.items()} == of_themselves
    for name in COMMANDS:
        alone = typer.main.get_command(build_cli(name))
        assert isinstance(alone, TyperGroup)
        assert name in alone.commands
