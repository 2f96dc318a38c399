"""A process that is asked to stop: its calls go on to their end, and it takes no new ones."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from offhook.root import Root
from offhook.runs import LiveCallRegistry, RunServices
from offhook.runs.errors import ServerDraining
from offhook.runs.tables import Run
from offhook.settings import Settings
from offhook.voice.events import AGENT_SAID
from tests.fakes.calls import FixedModels, use_fakes
from tests.fakes.scripted import takes
from tests.runs.conftest import MakeRun
from tests.runs.test_live import connect, events_of, reload


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"drain_s": 60.0})


@pytest.fixture
async def live(root: Root) -> AsyncIterator[LiveCallRegistry]:
    use_fakes(root, FixedModels([takes("done")]))
    yield root.get(RunServices).live
    await root.get(RunServices).live.stop_all()


async def test_a_call_talks_to_its_end_while_new_ones_are_refused(
    root: Root, live: LiveCallRegistry, run: Run, make_run: MakeRun
) -> None:
    call, _ = await connect(live, run)
    talking = asyncio.create_task(call.run())
    draining = asyncio.create_task(root.drain())
    await asyncio.sleep(0.3)
    assert root.is_draining
    assert not draining.done()
    assert not talking.done()
    with pytest.raises(ServerDraining):
        await make_run()

    call.session.end_call()
    await asyncio.wait_for(draining, 60)
    await talking
    assert (await reload(root, run)).end_reason == "caller_hung_up"


async def test_a_process_without_calls_stops_at_once(root: Root, live: LiveCallRegistry) -> None:
    async with asyncio.timeout(30):
        await root.drain()


class TestDrainTimeIsOver:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"drain_s": 0.2})

    async def test_the_caller_hears_a_sentence_before_the_call_ends(
        self, root: Root, live: LiveCallRegistry, run: Run
    ) -> None:
        call, _ = await connect(live, run)
        talking = asyncio.create_task(call.run())
        await asyncio.wait_for(root.drain(), 60)
        result = await talking
        assert (result.outcome, result.end_reason) == ("answered", "server_stopped")
        assert (await reload(root, run)).status == "completed"
        said = [str(event["data"]["text"]) for event in await events_of(root, run) if event["type"] == AGENT_SAID]
        assert said[-1].startswith("I'm sorry, I am having technical trouble")
