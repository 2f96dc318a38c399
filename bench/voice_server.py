"""The server under load: ``offhook serve`` with its vendors replaced by ones with fixed delays, or, with settings in JSON
as second argument, by those that the settings lead to, if they name any.

Prints one JSON line {"url", "key", "pid", "database_url", "database_pid"} when it is ready; runs until its standard input
closes.
"""

import json
import os
import sys
import threading
from pathlib import Path

import uvloop

from bench.fake_vendors import BenchModels
from bench.speech import clip
from offhook.api import run_api
from offhook.bootstrap import build_root
from offhook.kit import logging
from offhook.kit.database import migrations
from offhook.kit.database.embedded_postgres import EmbeddedPostgres
from offhook.kit.http.server import bind_socket
from offhook.kit.processes.garbage import CollectionSchedule
from offhook.kit.tasks import TaskTracker
from offhook.orgs import service as orgs
from offhook.runs import LiveCallRegistry, RunServices
from offhook.settings import Settings
from offhook.voice.output.metronome import Metronome
from offhook.voice.turn_detector.onnx_detector import installed_detector


async def main(settings: Settings, url: str, database_pid: int | None) -> None:
    root = build_root(settings, url)
    agents = root.get(RunServices).agents
    agents.turn_detector = installed_detector(settings)
    if not settings.llm_base_url:
        agents.models = BenchModels(clip(3.0).tobytes())
    await migrations.upgrade_database(root.db, lambda line: None)
    async with root.db.transaction() as session:
        first = await orgs.first_start(session, settings)
        key = await orgs.create_key(session, organization_id=first.organization_id, name="bench", role="admin")
    live, metronome = root.get(LiveCallRegistry), Metronome.of_running_loop()
    collections = CollectionSchedule(is_speaking=lambda: metronome.is_beating, is_idle=lambda: live.slots.taken == 0)
    beside = TaskTracker()
    with bind_socket(settings.host, 0) as bound:
        base = f"http://127.0.0.1:{bound.getsockname()[1]}"

        def ready() -> None:
            about = {"url": base, "key": key.key, "pid": os.getpid(), "database_url": url, "database_pid": database_pid}
            beside.start(collections.run(), name="garbage")  # as offhook serve does
            print(json.dumps(about), flush=True)

        await run_api(root, bound, ready)
    await beside.close()


def stop_with_parent() -> None:
    sys.stdin.read()
    os.kill(os.getpid(), 15)


if __name__ == "__main__":
    logging.configure_logging("warning")
    changed = json.loads(sys.argv[2]) if len(sys.argv) > 2 else {}
    settings = Settings.load(
        data_dir=Path(sys.argv[1]), org_concurrency_limit=10_000, max_calls_per_process=1_000, **changed
    )
    threading.Thread(target=stop_with_parent, daemon=True).start()
    server = EmbeddedPostgres(settings.data_dir)
    try:
        uvloop.run(main(settings, server.start(), server.pid))
    finally:
        server.stop()
