"""Asks processes whether they still carry calls: one that is cut off from the database cannot say so there."""

import asyncio
from collections.abc import Sequence
from typing import Final

import httpx2
import structlog

from offhook.kit.crypto import Keyring
from offhook.kit.database.database import Database
from offhook.nodes.queries import find_addresses
from offhook.runs.resuming import resume_queries

PATH: Final = "/internal/calls"
# A process that is alive answers from memory.
ANSWER_TIMEOUT_S: Final = 1.5
log = structlog.get_logger(__name__)


def owner_token(keyring: Keyring, node_id: str, run_id: int) -> str:
    """Returns what one process of the installation sends to ask another one about a run."""
    return keyring.derive_token(_purpose(node_id, run_id))


def is_owner_token(keyring: Keyring, node_id: str, run_id: int, token: str) -> bool:
    return keyring.is_derived(_purpose(node_id, run_id), token)


def _purpose(node_id: str, run_id: int) -> str:
    return f"whether {node_id} carries run {run_id}"


class CallOwners:
    """Asks over the installation's own network, past the balancer."""

    def __init__(self, db: Database, keyring: Keyring) -> None:
        self._db = db
        self._keyring = keyring

    async def find_carried(self, run_ids: Sequence[int]) -> set[int]:
        """Returns those of the runs that their process says it carries. A process that is gone does not answer."""
        if not run_ids:
            return set()
        async with self._db.transaction() as session:
            workers = await resume_queries.find_workers(session, run_ids)
            addresses = await find_addresses(session, sorted(set(workers.values())))
        asked = [(run_id, node_id) for run_id, node_id in workers.items() if node_id in addresses]
        if not asked:
            return set()
        async with httpx2.AsyncClient(timeout=ANSWER_TIMEOUT_S, trust_env=False) as client:
            answers = await asyncio.gather(
                *(self._is_carried(client, addresses[node_id], node_id, run_id) for run_id, node_id in asked)
            )
        carried = {run_id for (run_id, _), is_carried in zip(asked, answers, strict=True) if is_carried}
        if carried:
            log.warning("calls_of_cut_off_process", run_ids=sorted(carried))
        return carried

    async def _is_carried(self, client: httpx2.AsyncClient, address: str, node_id: str, run_id: int) -> bool:
        token = owner_token(self._keyring, node_id, run_id)
        try:
            response = await client.get(f"{address}/api/v1{PATH}/{run_id}/{token}")
        except (httpx2.HTTPError, httpx2.InvalidURL):
            return False
        return response.status_code == httpx2.codes.NO_CONTENT
