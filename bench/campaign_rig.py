"""An organization, an agent, a list of instant sandbox phones and worker processes, for load and chaos."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import text

from offhook.bootstrap import build_root
from offhook.campaigns import CampaignService, CampaignServices
from offhook.campaigns.intake.repository import NewContact, insert_contacts
from offhook.campaigns.tables import Campaign
from offhook.kit.database import migrations
from offhook.kit.files.data_folder import DataFolder
from offhook.kit.processes.child_process import die_with_parent
from offhook.nodes.tables import NodeRow
from offhook.orgs import service as orgs
from offhook.root import Root
from offhook.settings import Settings
from offhook.telephony.tables import TelephonyConfiguration
from offhook.workflows.tables import Workflow, WorkflowVersion

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
DEFINITION: dict[str, Any] = {
    "nodes": [
        {
            "id": "start",
            "type": "startCall",
            "position": {"x": 0, "y": 0},
            "data": {"name": "Hello", "prompt": "Greet."},
        },
        {
            "id": "bye",
            "type": "endCall",
            "position": {"x": 0, "y": 9},
            "data": {"name": "Bye", "prompt": "Say goodbye."},
        },
    ],
    "edges": [{"id": "e", "source": "start", "target": "bye", "data": {"label": "Done", "condition": "it is over"}}],
}


@dataclass(frozen=True)
class Tenant:
    """An organization with an agent and instant phones."""

    organization_id: int
    workflow_id: int


@dataclass
class Rig:
    """The environment of a campaign bench. ``environment`` is added to our own for every worker."""

    root: Root
    organization_id: int
    workflow_id: int
    environment: dict[str, str]
    workers: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    @property
    def campaigns(self) -> CampaignService:
        return self.root.get(CampaignServices).campaigns

    async def campaign(self, contacts: int, *, concurrency: int, tenant: "Tenant | None" = None, **values: Any) -> int:
        """Creates a draft with this many contacts, of the rig's organization or of ``tenant``, and returns its id."""
        owner = tenant or Tenant(self.organization_id, self.workflow_id)
        async with self.root.db.transaction() as session:
            made = Campaign(
                organization_id=owner.organization_id,
                name="Load",
                workflow_id=owner.workflow_id,
                max_concurrency=concurrency,
                **values,
            )
            session.add(made)
            await session.flush()
            rows = (NewContact(n, f"+1{2012000000 + n}", {"name": f"Person {n}"}) for n in range(1, contacts + 1))
            await insert_contacts(session, owner.organization_id, made.id, rows, self.root.clock.now())
            return made.id

    def start_worker(self, log: Any = None) -> "subprocess.Popen[bytes]":
        return self._start(["worker"], log)

    def start_server(self) -> "subprocess.Popen[bytes]":
        """Starts the API without a worker, on the same database and data folder."""
        return self._start(["serve", "--no-worker", "--port", "0"], None)

    async def address(self, within_s: float = 60) -> str:
        """Returns the server's address. Raises TimeoutError when it does not start."""
        async with asyncio.timeout(within_s):
            while (info := DataFolder(self.root.settings.data_dir).running_server()) is None:  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.1)
        return str(info.url)

    def _start(self, arguments: Sequence[str], log: Any) -> "subprocess.Popen[bytes]":
        worker = subprocess.Popen(
            [sys.executable, "-m", "offhook.cli", *arguments],
            env=os.environ | self.environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            preexec_fn=die_with_parent(),  # noqa: PLW1509 - one system call, nothing that locks
        )
        self.workers.append(worker)
        return worker

    async def rows(self, query: str, **values: Any) -> Sequence[Any]:
        async with self.root.db.transaction() as session:
            return (await session.execute(text(query), values)).all()

    async def status(self, campaign_id: int) -> str:
        found = await self.rows("SELECT status FROM campaigns WHERE id = :id", id=campaign_id)
        return str(found[0].status)

    async def until(self, campaign_id: int, status: str, *, within_s: float) -> None:
        """Waits until the condition holds. Raises TimeoutError when it takes longer."""
        async with asyncio.timeout(within_s):
            while await self.status(campaign_id) != status:  # noqa: ASYNC110 - another process moves it
                await asyncio.sleep(0.2)


async def add_tenant(root: Root, phones: dict[str, Any], *, live_calls: int) -> Tenant:
    async with root.db.transaction() as session:
        organization_id = await orgs.create_organization(session, f"Load {time.time_ns()}")
        await session.execute(
            text("UPDATE organizations SET concurrency_limit = :limit WHERE id = :id"),
            {"limit": live_calls, "id": organization_id},
        )
        workflow = Workflow(organization_id=organization_id, name="Load")
        session.add(workflow)
        await session.flush()
        session.add(
            WorkflowVersion(
                workflow_id=workflow.id, organization_id=organization_id, version_number=1, status="published",
                definition=DEFINITION,
            )
        )  # fmt: skip
        session.add(
            TelephonyConfiguration(
                organization_id=organization_id, name="Instant phones", provider="sandbox", is_default_outbound=True,
                config={"instant": True, **phones},
            )
        )  # fmt: skip
        return Tenant(organization_id, workflow.id)


@asynccontextmanager
async def rig(
    database_url: str, folder: Path, *, phones: dict[str, Any], live_calls: int, **settings: Any
) -> AsyncIterator[Rig]:
    """Builds the rig. ``phones`` is the sandbox's configuration; ``settings`` apply to every process. Workers end
    with the block."""
    values = {"data_dir": folder, "log_level": "warning", **settings}
    root = build_root(Settings(**values), database_url)
    await migrations.upgrade_database(root.db, lambda _: None)
    tenant = await add_tenant(root, phones, live_calls=live_calls)
    async with root.db.transaction() as session:
        # Workers dial as long as a server has room for calls. None is needed: these telephones want no media.
        session.add(
            NodeRow(
                id="rig", kind="serve", version="0", call_limit=4 * live_calls,
                beat_at=datetime.now(UTC) + timedelta(days=1),
            )
        )  # fmt: skip
    environment = {f"OFFHOOK_{name.upper()}": str(value) for name, value in values.items()}
    environment["OFFHOOK_DATABASE_URL"] = database_url
    made = Rig(root, tenant.organization_id, tenant.workflow_id, environment)
    try:
        yield made
    finally:
        for worker in made.workers:
            worker.kill()
            worker.wait()
        await root.db.dispose()


def cpu_s(pid: int) -> float:
    """Returns the CPU seconds of a process and of its finished children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(fields[index]) for index in (11, 12, 13, 14)) / TICKS_PER_S


def tree_cpu_s(pid: int) -> float:
    """Returns the CPU seconds of a process and of all its descendants."""
    below: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            below.setdefault(parent, []).append(int(entry.name))
    total, waiting = 0.0, [pid]
    while waiting:
        one = waiting.pop()
        waiting += below.get(one, [])
        try:
            total += cpu_s(one)
        except OSError:
            continue
    return total


def rss_mb(pid: int) -> float:
    """Returns a process's current memory."""
    return int(Path(f"/proc/{pid}/status").read_text().partition("VmRSS:")[2].split()[0]) / 1024


def percentile(values: Sequence[float], share: float) -> float:
    """Returns the percentile; 0 for no values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
