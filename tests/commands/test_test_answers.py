"""``offhook test`` with the answers of models: asked once, recorded in a file, and played without the vendor."""

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.commands.conftest import Offhook
from tests.models.llm_vendors import KEY, OPENAI
from tests.scenarios.agents import DEFINITION
from tests.scenarios.model_answers import BUYS, answer_as_agent


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    agent, scenarios = tmp_path / "shop.json", tmp_path / "scenarios.yaml"
    agent.write_text(json.dumps(DEFINITION))
    scenarios.write_text(json.dumps({"scenarios": [BUYS]}))
    return ["test", str(agent), "--file", str(scenarios), "--json"]


def with_model(folder: Path, address: str) -> Offhook:
    settings = {"PROVIDER": "openai", "MODEL": "gpt-4.1", "API_KEY": KEY, "BASE_URL": address}
    return Offhook(folder, **{f"OFFHOOK_LLM_{name}": value for name, value in settings.items()})


async def run(offhook: Offhook, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return await asyncio.to_thread(offhook.run, *arguments)


def report_of(done: "subprocess.CompletedProcess[str]") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
async def test_a_file_of_recorded_answers_needs_neither_the_vendor_nor_a_key(tmp_path: Path, files: list[str]) -> None:
    cassette = tmp_path / "answers.json"
    recorded = [*files, "--answers", "recorded", "--cassette", str(cassette)]
    async with OPENAI.serve(answer_as_agent, api_key=KEY) as server:
        first = await run(with_model(tmp_path / "one", server.base_url), *recorded, "--record")
        assert first.returncode == 0, first.stderr + first.stdout
        live = await run(with_model(tmp_path / "one", server.base_url), *files, "--answers", "live")
        assert (live.returncode, report_of(live)["passed"]) == (0, 1)
    assert KEY not in cassette.read_text()
    second = await run(Offhook(tmp_path / "two"), *recorded)
    assert second.returncode == 0, second.stderr + second.stdout
    assert report_of(second)["hash"] == report_of(first)["hash"]
    changed = json.loads(Path(files[1]).read_text())
    changed["nodes"][1]["data"]["prompt"] = "Ask for the town."
    Path(files[1]).write_text(json.dumps(changed))
    third = await run(Offhook(tmp_path / "two"), *recorded)
    assert third.returncode == 1
    assert report_of(third)["scenarios"][0]["first_fault"]["code"] == "answer_not_recorded"


@pytest.mark.slow
def test_what_cannot_be_asked_is_one_sentence(tmp_path: Path, files: list[str]) -> None:
    offhook = Offhook(tmp_path / "data")
    cassette = ["--cassette", str(tmp_path / "missing.json")]
    for arguments, sentence in (
        (["--answers", "live"], "uses the built-in model"),
        (["--answers", "recorded", *cassette], "Cannot use"),
        (["--record"], "--record needs --answers recorded"),
        (cassette, "--cassette needs --answers recorded"),
    ):
        done = offhook.run(*files, *arguments)
        assert done.returncode == 2, done.stdout
        assert sentence in " ".join(done.stderr.split())
