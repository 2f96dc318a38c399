"""A process that looks at a canary and is killed (``kill -9``) before it commits one of its transactions."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.canary.tasks import CanaryJob
from offhook.kit.clock import SystemClock
from offhook.kit.database.database import Database


class DyingDatabase(Database):
    """Commits ``commits`` transactions; the process dies at the end of the next one."""

    def __init__(self, url: str, commits: int) -> None:
        super().__init__(url)
        self._commits = commits

    @asynccontextmanager
    async def transaction(self, organization_id: int | None = None) -> AsyncIterator[AsyncSession]:
        async with super().transaction(organization_id) as session:
            yield session
            await session.flush()
            if not self._commits:
                os.kill(os.getpid(), signal.SIGKILL)
            self._commits -= 1


def main() -> None:
    order = json.loads(sys.argv[1])
    job = CanaryJob(DyingDatabase(order["database"], order["commits"]), SystemClock())
    asyncio.run(job.look({"organization_id": order["organization_id"], "canary_id": order["canary_id"]}))
