"""The cluster under test: processes of the CLI, haproxy with the example of ``deploy/``, one PostgreSQL, a bucket."""

import asyncio
import io
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import wave
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx2
import numpy as np
from tests.bucket import bucket

from bench.cluster_lines import DatabaseLine
from bench.cluster_tenant import CALLED, Tenant, make_tenant
from offhook.kit.database.embedded_postgres import EmbeddedPostgres
from offhook.kit.processes.child_process import die_with_parent
from offhook_lab.carriers import ProxyTunnel, TwilioEmulator
from offhook_lab.openai_server import serve_openai
from offhook_lab.speech.recognizers import DeepgramRecognizerServer
from offhook_lab.speech.voices import ElevenLabsServer
from offhook_lab.sse import ScriptedAnswer

PUBLIC: Final = "https://voice.example.com"
SERVERS: Final = 3
# A sample that is louder is speech, not the noise of a codec.
QUIET: Final = 200
WORKERS: Final = 2
START_TIMEOUT_S: Final = 120.0
EXAMPLE: Final = Path(__file__).parents[1] / "deploy" / "haproxy" / "haproxy.cfg"
ANSWER: Final = "All right, I have noted that, and we will send you a short message as soon as it is on its way."
SAID: Final = ("I have one more question about my last order.",)


@dataclass
class Node:
    """One process of the CLI and its line to the database."""

    name: str
    arguments: list[str]
    environment: dict[str, str]
    folder: Path
    line: DatabaseLine
    url: str = ""
    process: "subprocess.Popen[bytes] | None" = None
    codes: list[int] = field(default_factory=list)

    def start(self, **settings: str) -> None:
        """``settings`` are added to its environment; PYTHONPATH starts another version of the program."""
        with (self.folder / f"{self.name}.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "offhook.cli", *self.arguments],
                env=os.environ | self.environment | settings,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=die_with_parent(),  # noqa: PLW1509 - one system call, nothing that locks
            )

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def send_signal(self, number: int) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    async def wait_ended(self, within_s: float) -> bool:
        """Waits for the end of the process; kills it after this time and returns False."""
        assert self.process is not None
        deadline = time.monotonic() + within_s
        while self.is_running and time.monotonic() < deadline:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.05)
        has_ended = not self.is_running
        if not has_ended:
            self.process.kill()
        self.codes.append(await asyncio.to_thread(self.process.wait))
        return has_ended

    async def wait_ready(self, client: httpx2.AsyncClient) -> None:
        """Waits for ``/ready``. Raises SystemExit when the process ends or takes too long."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline and self.is_running:
            with suppress(httpx2.HTTPError):
                if (await client.get(f"{self.url}/ready", timeout=5)).status_code == 200:
                    return
            await asyncio.sleep(0.2)
        log = (self.folder / f"{self.name}.log").read_text(errors="replace")
        raise SystemExit(f"{self.name} did not start:\n{log[-3000:]}")


@dataclass
class Cluster:
    """Everything that a case needs."""

    folder: Path
    postgres: EmbeddedPostgres
    servers: list[Node]
    workers: list[Node]
    carrier: TwilioEmulator
    client: httpx2.AsyncClient
    tenant: Tenant
    balancer: str

    async def restart(self, server: Node, **settings: str) -> None:
        """Starts a server that has ended, and waits until the balancer has seen it."""
        server.start(**settings)
        await server.wait_ready(self.client)
        await asyncio.sleep(2.5)  # the balancer looks every two seconds

    def stop_database(self) -> None:
        """Ends all connections first, as ``kill -9`` of the database does, and then the database."""
        for node in (*self.servers, *self.workers):
            node.line.set_state("refused")
        self.postgres.stop()

    def start_database(self) -> None:
        self.postgres.start()
        for node in (*self.servers, *self.workers):
            node.line.set_socket(socket_path(self.postgres))
            node.line.set_state("open")

    async def recording(self, run_id: int, server: Node) -> tuple[float, set[int]]:
        """Returns the length of a recording as this server gives it, and the seconds in which the agent speaks; nothing
        when it has none."""
        path = f"/api/v1/workflow/{self.tenant.workflow_id}/runs/{run_id}/recording"
        try:
            answer = await self.client.get(
                f"{server.url}{path}", headers={"X-API-Key": self.tenant.key}, follow_redirects=True, timeout=20
            )
            if answer.status_code != 200:
                return 0.0, set()
            with wave.open(io.BytesIO(answer.content)) as sound:
                rate, frames = sound.getframerate(), sound.getnframes()
                agent = np.frombuffer(sound.readframes(frames), np.int16).reshape(-1, 2)[:, 1]
            return frames / rate, {int(at) for at in np.flatnonzero(np.abs(agent) > QUIET) // rate}
        except (httpx2.HTTPError, wave.Error, EOFError, ValueError):
            return 0.0, set()


def socket_path(postgres: EmbeddedPostgres) -> str:
    return f"{postgres.url.rpartition('host=')[2]}/.s.PGSQL.5432"


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


def haproxy_configuration(port: int, servers: list[int]) -> str:
    """Returns ``deploy/haproxy/haproxy.cfg`` with our addresses, without TLS and the redirect to it."""
    lines, nodes = [], [f"  server node{n} 127.0.0.1:{at}" for n, at in enumerate(servers, 1)]
    for line in EXAMPLE.read_text().splitlines():
        said = line.strip()
        if said.startswith("server node"):
            if said.startswith("server node1 "):
                lines += nodes
        elif said == "bind :80":
            lines.append(f"  bind 127.0.0.1:{port}")
        elif said == "maxconn 20000":
            lines.append("  maxconn 2000")  # fits the file descriptors of a shell
        elif not said.startswith(("bind :443", "http-request redirect scheme")):
            lines.append(line)
    return "\n".join(lines) + "\n"


@contextmanager
def running_haproxy(folder: Path, port: int, servers: list[int]) -> Iterator[None]:
    program = shutil.which("haproxy") or "/usr/sbin/haproxy"
    if not Path(program).exists():
        raise SystemExit("haproxy is missing: apt-get install haproxy")
    file = folder / "haproxy.cfg"
    file.write_text(haproxy_configuration(port, servers))
    with (folder / "haproxy.log").open("ab") as log:
        process = subprocess.Popen(
            [program, "-db", "-f", str(file)],
            stdout=log,
            stderr=log,
            preexec_fn=die_with_parent(),  # noqa: PLW1509 - one system call, nothing that locks
        )
    try:
        yield
    finally:
        process.kill()
        process.wait()


@asynccontextmanager
async def emulated_vendors() -> AsyncIterator[dict[str, str]]:
    """Runs emulators of a language model, a voice and a recognizer; yields the settings that lead to them."""
    answer = ScriptedAnswer(ANSWER, first_token_s=0.1, token_s=0.01)
    async with (
        serve_openai([answer]) as llm,
        ElevenLabsServer().running() as voice,
        DeepgramRecognizerServer(script=SAID).running() as recognizer,
    ):
        settings = {"OFFHOOK_LOCAL_MODELS": "on", "OFFHOOK_EGRESS_ALLOW": "127.0.0.1/32"}
        vendors = (("LLM", "openai", llm), ("TTS", "elevenlabs", voice), ("STT", "deepgram", recognizer))
        for kind, provider, server in vendors:
            settings |= {
                f"OFFHOOK_{kind}_PROVIDER": provider,
                f"OFFHOOK_{kind}_BASE_URL": server.base_url,
                f"OFFHOOK_{kind}_API_KEY": "lab-key",
            }
        yield settings


def _ended(nodes: list[Node]) -> Iterator[Node]:
    for node in nodes:
        if node.is_running:
            node.send_signal(9)
            yield node


@asynccontextmanager
async def cluster(
    folder: Path, postgres: EmbeddedPostgres, prepare: Callable[[Tenant], Awaitable[None]]
) -> AsyncIterator[Cluster]:
    """Runs the cluster until the block ends, and ends all that it started. ``prepare`` gets the migrated database with its
    organization before the first process starts."""
    nodes: list[Node] = []
    async with AsyncExitStack() as stack:
        carrier = await stack.enter_async_context(TwilioEmulator().running())
        carrier.limits.calls_per_second = None
        carrier.add_number(CALLED)
        carrier.point_at(f"{PUBLIC}/api/v1/telephony/inbound/run")
        store = stack.enter_context(bucket())
        shared = {
            "OFFHOOK_SECRET_KEY": secrets.token_hex(32),
            "OFFHOOK_PUBLIC_URL": PUBLIC,
            "OFFHOOK_TRUSTED_PROXIES": "127.0.0.1",
            "OFFHOOK_STORAGE_URL": store.address,
            "OFFHOOK_CARRIER_URLS": f'{{"twilio": "{carrier.base_url}"}}',
            "OFFHOOK_ORG_CONCURRENCY_LIMIT": "1000",
            "OFFHOOK_SAMPLE_CALL": "false",
            **store.variables,
            **await stack.enter_async_context(emulated_vendors()),
        }
        ports = [free_port() for _ in range(SERVERS)]
        tenant = await stack.enter_async_context(make_tenant(folder, postgres.url, shared, carrier))
        await prepare(tenant)
        for at in range(SERVERS + WORKERS):
            line = await stack.enter_async_context(DatabaseLine(socket_path(postgres)))
            name, arguments, url = f"worker{at - SERVERS + 1}", ["worker"], ""
            if at < SERVERS:
                name, url = f"serve{at + 1}", f"http://127.0.0.1:{ports[at]}"
                arguments = ["serve", "--no-worker", "--port", str(ports[at])]
            environment = {"OFFHOOK_DATABASE_URL": line.url, "OFFHOOK_DATA_DIR": str(folder / name)}
            nodes.append(Node(name, arguments, shared | environment, folder, line, url))
        balancer = free_port()
        stack.enter_context(running_haproxy(folder, balancer, ports))
        carrier.callback_sender.tunnels.append(ProxyTunnel(PUBLIC, f"http://127.0.0.1:{balancer}"))
        client = await stack.enter_async_context(httpx2.AsyncClient(trust_env=False))
        made = Cluster(
            folder, postgres, nodes[:SERVERS], nodes[SERVERS:], carrier, client, tenant, f"http://127.0.0.1:{balancer}"
        )
        try:
            for node in nodes:
                node.start()
            for server in made.servers:
                await server.wait_ready(client)
            await asyncio.sleep(3)
            yield made
        finally:
            for node in list(_ended(nodes)):
                assert node.process is not None
                node.process.wait()
