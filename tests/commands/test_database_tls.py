"""Commands on a PostgreSQL with TLS: they work, or say in one sentence why they do not."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.commands.conftest import Offhook
from tests.fakes.tls_database import Authority, TlsDatabase


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
async def server(database_url: str, authority: Authority) -> AsyncIterator[TlsDatabase]:
    async with TlsDatabase(database_url, authority.issue("localhost"), demands_tls=True).serve() as serving:
        yield serving


@pytest.fixture
def offhook(tmp_path: Path) -> Iterator[Offhook]:
    made = Offhook(tmp_path / "data")
    yield made
    made.end()


async def test_commands_connect_with_tls(offhook: Offhook, server: TlsDatabase, authority: Authority) -> None:
    address = server.address(host="localhost", sslmode="verify-full", sslrootcert=authority.certificate)
    offhook.environment["OFFHOOK_DATABASE_URL"] = address
    for command in (["migrate"], ["nodes"], ["audit", "verify"], ["jobs", "failed"]):
        done = await asyncio.to_thread(offhook.run, *command)
        assert (done.returncode, done.stderr) == (0, ""), command
    doctor = await asyncio.to_thread(offhook.run, "doctor", "--json", OFFHOOK_PORT="0")
    checks = {check["name"]: check for check in json.loads(doctor.stdout)["checks"]}
    assert checks["database"]["status"] == checks["migrations"]["status"] == "ok"
    assert {is_encrypted for is_encrypted, _ in server.seen} == {True}


async def test_what_is_wrong_is_one_sentence(offhook: Offhook, server: TlsDatabase, authority: Authority) -> None:
    for address, code, words in (
        (server.address(sslmode="disable"), 1, "refuses connections without TLS"),
        (server.address(sslmode="verify-full", sslrootcert=authority.certificate), 1, "it is for another host"),
        (server.address(sslmode="verify-full"), 1, "no authority in this machine's authorities signed it"),
        (server.address(sslmode="sure"), 2, "OFFHOOK_DATABASE_URL has sslmode=sure: write one of"),
        (
            server.address(sslmode="verify-ca", sslrootcert="/no/ca.pem"),
            2,
            "sslrootcert=/no/ca.pem, which cannot be read",
        ),
    ):
        done = await asyncio.to_thread(offhook.run, "migrate", OFFHOOK_DATABASE_URL=address)
        assert done.returncode == code, done.stderr
        assert done.stderr.startswith("offhook: ")
        assert words in done.stderr
        assert done.stderr.count("\n") == 1
        assert "secret" not in done.stderr
        doctor = await asyncio.to_thread(
            offhook.run, "doctor", "--json", OFFHOOK_PORT="0", OFFHOOK_DATABASE_URL=address
        )
        (check,) = [one for one in json.loads(doctor.stdout)["checks"] if one["name"] == "database"]
        assert check["status"] == "failed"
        assert words in check["detail"]


@pytest.mark.slow
async def test_a_server_and_its_worker_connect_with_tls(
    offhook: Offhook, server: TlsDatabase, authority: Authority
) -> None:
    address = server.address(host="localhost", sslmode="verify-full", sslrootcert=authority.certificate)
    offhook.environment["OFFHOOK_DATABASE_URL"] = address
    running = await asyncio.to_thread(offhook.serve)
    nodes: list[str] = []
    while sorted(nodes) != ["serve", "worker"]:
        listed = await asyncio.to_thread(offhook.run, "nodes", "--json")
        nodes = [json.loads(line)["kind"] for line in listed.stdout.splitlines()]
    ready = await asyncio.to_thread(running.get, "/ready")
    assert ready.status_code == 200
    assert {is_encrypted for is_encrypted, _ in server.seen} == {True}
