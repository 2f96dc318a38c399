"""A process whose connections to the database fall silent, while the database itself and all others are well."""

import asyncio
from datetime import timedelta
from time import monotonic

import pytest

from offhook.kit.database.database import Database
from offhook.root import Root
from offhook.runs import LiveCallRegistry, RunServices
from offhook.runs.live.event_writer import EventWriter
from offhook.runs.live.pre_call_request import PreCallFetch
from offhook.runs.tables import Run
from offhook.tools import ToolServices
from offhook.voice.events import CALL_ENDED
from tests.fakes.calls import FixedModels, use_fakes
from tests.fakes.database import SilentProxy
from tests.fakes.scripted import takes
from tests.runs.test_live import connect, events_of, reload


@pytest.mark.slow
async def test_its_calls_go_on_with_their_leases_and_are_stored_whole(root: Root, run: Run, database_url: str) -> None:
    use_fakes(root, FixedModels([takes("done")]))
    async with SilentProxy(database_url) as line:
        far_db = Database(line.url)
        runs = root.get(RunServices)
        live = LiveCallRegistry(
            db=far_db,
            vault=runs.vault,
            events=root.events,
            clock=root.clock,
            settings=root.settings.model_copy(update={"run_lease_s": 2.0}),
            writer=EventWriter(far_db, write_timeout_s=0.5),
            agents=runs.agents,
            pre_call=PreCallFetch(far_db, root.get(ToolServices).runner),
        )
        call, _ = await connect(live, run)
        talking = asyncio.create_task(call.run())
        line.fall_silent()
        cut_at = root.clock.now()

        began = monotonic()
        while True:
            lease = (await reload(root, run)).lease_until
            assert lease is not None
            if lease > cut_at + timedelta(seconds=2):
                break
            assert monotonic() - began < 60, "the lease was never renewed"
            await asyncio.sleep(0.1)
        call.session.end_call()
        await asyncio.wait_for(talking, 60)
        assert (await reload(root, run)).status == "completed"
        assert CALL_ENDED in [event["type"] for event in await events_of(root, run)]
        await live.stop_all()
        await far_db.dispose()
