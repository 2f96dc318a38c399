"""A worker process that is killed while a customer's server answers: the event comes again and is written down once."""

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text
from standardwebhooks import Webhook

from offhook.jobs.registry import JobRegistry
from offhook.jobs.worker import run_worker
from offhook.root import Root
from offhook.settings import Settings
from offhook.webhooks import service
from offhook.webhooks.services import WebhookServices
from offhook.webhooks.tables import WebhookAttempt, WebhookDelivery
from tests.fakes.web import LocalServer, Reply
from tests.fixtures_orgs import OrgFixture
from tests.webhooks.conftest import HOST

PROJECT = Path(__file__).parents[2]
# The deliverer in a process of its own, for which the shop's name is this machine.
WORKER = """
import asyncio, sys
from datetime import timedelta
from pathlib import Path
from offhook.bootstrap import build_root
from offhook.jobs.registry import JobRegistry
from offhook.jobs.worker import run_worker
from offhook.settings import Settings
from offhook.webhooks import service
from offhook.webhooks.services import WebhookServices
from tests.fakes.web import egress_to_loopback

async def main():
    root = build_root(Settings(data_dir=Path(sys.argv[2])), sys.argv[1], egress=egress_to_loopback(sys.argv[3]))
    registry = JobRegistry()
    registry.add(service.DELIVER_JOB, root.get(WebhookServices).deliverer.handle_job)
    await run_worker(root.db, registry, asyncio.Event(), heartbeat_timeout=timedelta(seconds=1))

asyncio.run(main())
"""


async def delivered(root: Root) -> list[int]:
    async with root.db.transaction() as session:
        found = await session.scalars(
            select(WebhookDelivery.sequence)
            .where(WebhookDelivery.status == service.DELIVERED)
            .order_by(WebhookDelivery.sequence)
        )
        return list(found)


async def until_delivered(root: Root, sequences: list[int]) -> None:
    async with asyncio.timeout(60):
        while await delivered(root) != sequences:
            await asyncio.sleep(0.05)


async def finish_with_another_worker(root: Root, sequences: list[int]) -> None:
    registry = JobRegistry()
    registry.add(service.DELIVER_JOB, root.get(WebhookServices).deliverer.handle_job)
    stop = asyncio.Event()
    quick, soon = timedelta(seconds=1), timedelta(seconds=0.2)
    worker = asyncio.create_task(run_worker(root.db, registry, stop, heartbeat_timeout=quick, dequeue_timeout=soon))
    await until_delivered(root, sequences)
    stop.set()
    await worker


@pytest.mark.slow
async def test_a_delivery_outlives_its_worker(
    root: Root, settings: Settings, org: OrgFixture, hook: dict[str, Any], shop: LocalServer
) -> None:
    held, arrived = asyncio.Event(), asyncio.Event()

    def keep_the_second_waiting(seen: Any) -> Reply:
        if seen.headers["offhook-sequence"] != "2":
            return Reply(200)
        arrived.set()
        return Reply(200, after=held)

    shop.answers = keep_the_second_waiting
    async with root.db.transaction() as session:
        for number in range(3):
            await service.publish_event(session, org.id, "run.completed", {"n": number})
    victim = subprocess.Popen([sys.executable, "-c", WORKER, root.db.url, str(settings.data_dir), HOST], cwd=PROJECT)
    try:
        await until_delivered(root, [1, 3])
        await asyncio.wait_for(arrived.wait(), 60)
    finally:
        os.kill(victim.pid, signal.SIGKILL)
        await asyncio.to_thread(victim.wait)
    assert await delivered(root) == [1, 3]

    shop.answers = lambda _: Reply(200)
    held.set()
    await finish_with_another_worker(root, [1, 2, 3])

    assert Counter(seen.headers["offhook-sequence"] for seen in shop.seen) == {"1": 1, "2": 2, "3": 1}
    twice = [seen for seen in shop.seen if seen.headers["offhook-sequence"] == "2"]
    assert len({(seen.headers["webhook-id"], seen.headers["offhook-attempt"], seen.body) for seen in twice}) == 1
    assert all(Webhook(hook["secret"]).verify(seen.body, seen.headers) for seen in twice)
    async with root.db.transaction() as session:
        attempts = await session.execute(
            select(WebhookDelivery.sequence, WebhookDelivery.attempts, WebhookAttempt.status_code)
            .join(WebhookAttempt, WebhookAttempt.delivery_id == WebhookDelivery.id)
            .order_by(WebhookDelivery.sequence)
        )
        assert [tuple(row) for row in attempts] == [(1, 1, 200), (2, 1, 200), (3, 1, 200)]
        assert await session.scalar(text("SELECT count(*) FROM pgqueuer")) == 0
