"""The process for background jobs."""

import asyncio
import signal

from offhook.bootstrap import stop_domains
from offhook.jobs.worker import run_worker
from offhook.root import Root


async def run_job_process(root: Root) -> None:
    """Runs jobs until a signal arrives; jobs in progress have time to end."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    for hook in root.on_work:
        await hook()
    try:
        await run_worker(root.db, root.jobs, stopping)
    finally:
        await stop_domains(root)
