"""schemathesis against the server: nothing that fits the description, or breaks it, is answered in a way it does not name."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import uvicorn
from fastapi import FastAPI

from offhook.orgs import service as orgs
from offhook.root import Root
from tests.interface.operations import Operation
from tests.interface.world import World

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
# They end the session that all the others need, or answer for as long as a conversation lasts.
LEFT_OUT = (
    "logout",
    "switch_organization",
    "change_password",
    "delete_account",
    "delete_organization",
    "stream_workflow_run_events",
    "stream_campaign_progress",
    # each request is a process of four seconds
    "propose_scenarios",
    "replay_run",
)
# These get ids that do not exist, so that what the other operations look at stays there.
REMOVES = "DELETE"
BUDGET_S = 600
HOOKS = Path(__file__).with_name("fuzzing_hooks.py")


@pytest.fixture
async def address(app: FastAPI, ours: World) -> AsyncIterator[str]:
    """The API on a real socket; its lifespan is the client's."""
    # with the protocol named, asyncio switches Nagle off: 40 ms an answer otherwise
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as bound:
        bound.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_config=None, access_log=False))
        task = asyncio.create_task(server.serve(sockets=[bound]))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        server.should_exit = True
        await task


def configuration(described: list[Operation], ids: dict[str, object]) -> str:
    """Ids that exist, so that the generated requests reach what lies behind the look-up."""
    lines = ["[parameters]"]
    lines += [f'"path.{name}" = {value if isinstance(value, int) else repr(str(value))}' for name, value in ids.items()]
    for operation in described:
        if operation.method == REMOVES and operation.parameters:
            lines += ["[[operations]]", f'include-operation-id = "{operation.name}"']
            lines += [f'parameters = {{ "path.{operation.parameters[-1]}" = 999999999 }}']
    return "\n".join(lines) + "\n"


@pytest.mark.slow
@pytest.mark.real_time
@pytest.mark.timeout(BUDGET_S + 60)
async def test_generated_requests(
    root: Root, described: list[Operation], ours: World, address: str, tmp_path: Path
) -> None:
    async with root.db.transaction() as session:
        await orgs.grant_superuser(session, ours.org.email("owner"))
    config = tmp_path / "schemathesis.toml"
    config.write_text(configuration(described, ours.ids))
    arguments = ["--config-file", str(config), "run", f"{address}/api/v1/openapi.json", "--no-color", "--seed", "1"]
    arguments += ["--checks", CHECKS, "--phases", "examples,coverage,fuzzing", "--max-examples", "15"]
    arguments += [
        "--continue-on-failure",
        "--request-timeout",
        "20",
        "--generation-database",
        "none",
        "--warnings",
        "off",
    ]
    arguments += ["--suppress-health-check", "all"]
    arguments += [part for name in LEFT_OUT for part in ("--exclude-operation-id", name)]
    program = await asyncio.create_subprocess_exec(
        str(Path(sys.executable).with_name("schemathesis")),
        *arguments,
        cwd=tmp_path,
        env=os.environ | {"SCHEMATHESIS_HOOKS": str(HOOKS), "FUZZ_TOKEN": ours.org.tokens["owner"]},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await program.communicate()
    text = output.decode()
    assert program.returncode == 0, text[-12_000:]
    assert " generated, " in text
