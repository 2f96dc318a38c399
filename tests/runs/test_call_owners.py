"""Processes that are asked whether they carry a call."""

from datetime import timedelta

from httpx2 import AsyncClient

from offhook.nodes import repository
from offhook.root import Root
from offhook.runs import LiveCallRegistry, Run, RunServices
from offhook.runs.live import lease_queries
from offhook.runs.resuming.call_owners import PATH, CallOwners, owner_token
from tests.bucket import closed_port
from tests.fakes.web import LocalServer, Reply, local_server


async def carry(root: Root, run: Run, node_id: str, address: str) -> None:
    """Lets a process of this address carry the run."""
    now = root.clock.now()
    async with root.db.transaction() as session:
        await lease_queries.take_run(session, run.id, worker_id=node_id, now=now, until=now + timedelta(seconds=10))
        await repository.write_beat(session, node_id, {"kind": "serve", "version": "1", "address": address})


def owners_of(root: Root) -> CallOwners:
    return CallOwners(root.db, root.get(RunServices).keyring)


async def test_a_process_says_which_calls_it_carries(root: Root, client: AsyncClient, run: Run) -> None:
    keyring = root.get(RunServices).keyring

    async def ask(run_id: int, token: str) -> int:
        return (await client.get(f"{PATH}/{run_id}/{token}")).status_code

    token = owner_token(keyring, root.node_id, run.id)
    assert await ask(run.id, token) == 404
    root.get(LiveCallRegistry).slots.take(run.id, run.organization_id, "twilio")
    assert await ask(run.id, token) == 204
    assert await ask(run.id, "guessed") == 404
    assert await ask(run.id, owner_token(keyring, "another process", run.id)) == 404


async def test_a_process_is_asked_at_its_own_address(root: Root, run: Run) -> None:
    async with local_server(Reply(204)) as other:
        await carry(root, run, "n1", address_of(other))
        assert await owners_of(root).find_carried([run.id]) == {run.id}
        (seen,) = other.seen
        assert seen.target == f"/api/v1{PATH}/{run.id}/{owner_token(root.get(RunServices).keyring, 'n1', run.id)}"
        other.answers = lambda _: Reply(404)
        assert await owners_of(root).find_carried([run.id]) == set(), "another process has its address now"


async def test_a_process_that_is_gone_carries_nothing(root: Root, run: Run) -> None:
    assert await owners_of(root).find_carried([run.id]) == set(), "no process carries it"
    await carry(root, run, "n1", f"http://127.0.0.1:{closed_port()}")
    assert await owners_of(root).find_carried([run.id]) == set()


def address_of(server: LocalServer) -> str:
    return server.url("127.0.0.1", "")
