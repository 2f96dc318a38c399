"""The examples of the documents: their requests exist in the interface, and the guides run from top to bottom."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import Webhook

from tests.commands.conftest import Offhook

TOP = Path(__file__).parents[2]
GUIDES = [TOP / "docs" / "api.md", TOP / "docs" / "tutorial.md"]
DOCUMENTS = sorted([*TOP.glob("*.md"), *(TOP / "docs").glob("*.md")])
OPERATION = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE) \"?(/[\w/{}$.-]+)")


def name(path: Path) -> str:
    return path.relative_to(TOP).as_posix()


def blocks(document: Path, language: str) -> str:
    found = re.findall(rf"^```{language}\n(.*?)^```$", document.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return "\n".join(found)


@pytest.fixture(scope="module")
def paths() -> dict[str, Any]:
    described: dict[str, Any] = json.loads((TOP / "docs" / "openapi.json").read_text("utf-8"))["paths"]
    return {
        re.sub(r"\{\w+\}", "{}", path.removeprefix("/api/v1").rstrip("/")): item for path, item in described.items()
    }


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_requests_that_are_named_exist(document: Path, paths: dict[str, Any]) -> None:
    unknown = []
    for method, written in OPERATION.findall(document.read_text("utf-8")):
        path = written.removeprefix("/api/v1").rstrip("/.")
        # the emulators' own requests, the place of a customer's webhook, and what is cut short
        if path.startswith(("/lab/", "/your/")) or "..." in path:
            continue
        template = re.sub(r"\{\w+\}|\$\w+|(?<=/)\d+(?=/|$)", "{}", path)
        if not any(method.lower() in item for known, item in paths.items() if matches(known, template)):
            unknown.append(f"{method} {path}")
    assert unknown == []


def matches(known: str, template: str) -> bool:
    """``/workflow/{}/runs`` for itself, and ``/public/agent/{}`` for a path with a value in it."""
    return re.fullmatch(re.escape(known).replace(r"\{\}", r"[^/]+"), template) is not None


@pytest.fixture
def server(offhook: Offhook) -> Iterator[Offhook]:
    started = offhook.serve()
    offhook.environment["API_URL"] = started.url
    offhook.environment["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    yield offhook
    started.process.terminate()
    started.process.wait()


@pytest.mark.slow
@pytest.mark.real_time
@pytest.mark.parametrize("guide", GUIDES, ids=name)
def test_a_guide_runs_from_top_to_bottom(guide: Path, server: Offhook, tmp_path: Path) -> None:
    assert shutil.which("curl"), "The guides use curl: install it."
    script = blocks(guide, "sh").replace(". .venv/bin/activate\n", "")
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        env=server.environment,
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
        timeout=170,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert '"code":"internal_error"' not in done.stdout
    for line in promised(guide):
        assert line in done.stdout, f"{line!r} was not printed:\n{done.stdout}"
    assert list(checkout.iterdir()) == []


def promised(guide: Path) -> list[str]:
    """Lines of output that are the same in every run."""
    always = {
        "api.md": ["one call", "revision_conflict Guest survey (demo)", '"code":"workflow_not_found"}'],
        "tutorial.md": [
            '{"is_valid":true,"errors":[],"warnings":[],"findings":[],"can_run_offline":true,',
            "completed answered True",
            "0 violations.",
        ],
    }
    return always[guide.name]


@pytest.mark.slow
@pytest.mark.real_time
def test_the_python_client_of_the_guide(server: Offhook, tmp_path: Path) -> None:
    program = tmp_path / "client.py"
    program.write_text(blocks(GUIDES[0], "python"))
    key = server.run("keys", "create").stdout.strip()
    done = subprocess.run(
        [sys.executable, str(program)],
        env=server.environment | {"API_KEY": key},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout == "True\n404 workflow_not_found: Workflow not found.\n", done.stderr


def test_the_signature_check_of_the_guide() -> None:
    scope: dict[str, Any] = {}
    exec(blocks(GUIDES[0], "python").partition("import json\n")[0], scope)
    secret, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", '{"id":"evt_1"}'
    headers = signed(secret, body)
    assert scope["verify"](secret, headers, body.encode())
    assert not scope["verify"](secret, headers, b'{"id":"evt_2"}')
    assert not scope["verify"]("whsec_AAAA9r8GKYqrTwjUPD8ILPZIo2LaLaSw", headers, body.encode())
    assert not scope["verify"](secret, headers | {"webhook-timestamp": "1600000000"}, body.encode())


def signed(secret: str, body: str) -> dict[str, str]:
    now = datetime.now(UTC)
    return {
        "webhook-id": "evt_1",
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(secret).sign("evt_1", now, body),
    }
