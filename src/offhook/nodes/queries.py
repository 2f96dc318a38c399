"""Which nodes there are, for this domain and those above."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import case, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.nodes.tables import NodeRow

# Four beats: a node that is silent for longer is taken for lost.
SILENT_AFTER: Final = timedelta(seconds=8)
# Levels of encrypted columns are numbers of migrations: that of the first ones, and that of the newest that we know.
FIRST_SEALED_LEVEL: Final = 36
SEALED_LEVEL: Final = 38


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """A node as it is shown. ``silent_s`` is the time since its last beat."""

    id: str
    kind: str
    address: str | None
    version: str
    call_limit: int
    live_calls: int
    lateness_ms: int
    is_draining: bool
    is_accepting: bool
    started_at: datetime
    beat_at: datetime
    silent_s: float

    @property
    def is_lost(self) -> bool:
        return self.silent_s > SILENT_AFTER.total_seconds()

    @property
    def state(self) -> str:
        """Returns ``lost``, ``draining``, ``overloaded`` or ``up``."""
        if self.is_lost:
            return "lost"
        if self.is_draining:
            return "draining"
        return "up" if self.is_accepting else "overloaded"


@dataclass(frozen=True, slots=True)
class NodePlaces:
    """A process that takes calls: how many it may carry, and where carriers reach it past the balancer."""

    id: str
    call_limit: int
    public_url: str | None


async def list_accepting_servers(session: AsyncSession, own_id: str) -> list[NodePlaces]:
    """Returns the servers that take new calls. This process is not lost, however late its own beats are."""
    is_heard = NodeRow.beat_at > func.clock_timestamp() - SILENT_AFTER
    rows = await session.execute(
        select(NodeRow.id, NodeRow.call_limit, NodeRow.public_url)
        .where(NodeRow.kind == "serve", NodeRow.is_accepting, is_heard | (NodeRow.id == own_id))
        .order_by(NodeRow.id)
    )
    return [NodePlaces(*row) for row in rows]


async def find_addresses(session: AsyncSession, node_ids: Sequence[str]) -> dict[str, str]:
    """Returns where other processes reach these, as far as they say so; lost ones are among them for a while."""
    rows = await session.execute(
        select(NodeRow.id, NodeRow.address).where(NodeRow.id.in_(node_ids), NodeRow.address.is_not(None))
    )
    return {node_id: address for node_id, address in rows if address is not None}


async def is_any_older(session: AsyncSession) -> bool:
    """Returns whether a process is running that cannot read encrypted words of calls."""
    is_heard = NodeRow.beat_at > func.clock_timestamp() - SILENT_AFTER
    return await session.scalar(select(NodeRow.id).where(is_heard, ~NodeRow.reads_encrypted_words).limit(1)) is not None


async def find_sealed_level(session: AsyncSession) -> int:
    """Returns the newest level of encrypted columns that all running processes can read; ours where none runs."""
    is_heard = NodeRow.beat_at > func.clock_timestamp() - SILENT_AFTER
    before = case((NodeRow.reads_sealed_rows, FIRST_SEALED_LEVEL), else_=0)
    lowest = await session.scalar(select(func.min(func.greatest(NodeRow.sealed_level, before))).where(is_heard))
    return SEALED_LEVEL if lowest is None else lowest


async def list_nodes(session: AsyncSession) -> list[NodeRecord]:
    """Returns all nodes, servers first, and those that stopped without a word for as long as they are kept."""
    silent = func.extract("epoch", func.clock_timestamp() - NodeRow.beat_at)
    rows = await session.execute(
        select(NodeRow, silent.label("silent_s")).order_by(NodeRow.kind, NodeRow.started_at, NodeRow.id)
    )
    names = [name for name in NodeRecord.__dataclass_fields__ if name != "silent_s"]
    return [
        NodeRecord(**{name: getattr(node, name) for name in names}, silent_s=round(float(silent_s), 1))
        for node, silent_s in rows
    ]
