"""Calls go on without their recording while the disk is almost full."""

from structlog.testing import capture_logs

from offhook.root import Root
from offhook.runs.live.pre_call_request import PreCallFetch
from offhook.runs.tables import Run
from offhook.tools import ToolServices
from tests.fakes.calls import FixedModels
from tests.runs.test_live import connect, events_of, make_registry, models, reload

__all__ = ["models"]


async def test_with_an_almost_full_disk_the_call_goes_on(root: Root, models: FixedModels, run: Run) -> None:
    root.settings = root.settings.model_copy(update={"min_free_disk_mb": 10**9})
    live = make_registry(root, root.db, PreCallFetch(root.db, root.get(ToolServices).runner))
    with capture_logs() as logs:
        call, _ = await connect(live, run)
    call.session.end_call()
    await call.run()
    assert (await reload(root, run)).status == "completed"
    (failed,) = [event for event in await events_of(root, run) if event["type"] == "recording_failed"]
    assert failed["data"] == {"message": "The server's disk is almost full."}
    assert "recording_skipped" in [entry["event"] for entry in logs]
    await live.stop_all()
