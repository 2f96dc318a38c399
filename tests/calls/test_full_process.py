"""A process without a place, seen from a carrier's socket: it refuses at once, and the call goes to another process."""

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from offhook.bootstrap import build_root, stop_domains
from offhook.runs import LiveCallRegistry
from offhook.settings import Settings
from tests.calls.conftest import LiveServer, serving
from tests.fakes.calls import use_fakes, wait_until_idle


@pytest.mark.slow
async def test_a_full_process_refuses_before_the_handshake_and_another_one_speaks(
    server: LiveServer, settings: Settings, database_url: str
) -> None:
    full = build_root(settings.model_copy(update={"max_calls_per_process": 1}), database_url)
    use_fakes(full, server.models)
    async with serving(full) as url:
        _, first = await server.waiting_run()
        run_id, second = await server.waiting_run()
        async with server.connected(_at(first, server.url, url)) as talking:
            await talking.hears_the_agent()
            for _ in range(2):  # a balancer that tries it again spends nothing
                with pytest.raises(InvalidStatus) as refused:
                    await connect(_at(second, server.url, url), proxy=None)
                assert refused.value.response.status_code == 503
            assert b"process_full" in refused.value.response.body
            assert (await server.run(run_id))["status"] == "initiated"
            async with server.connected(second) as caller:
                await caller.hears_the_agent()
                assert full.get(LiveCallRegistry).active_calls == 1
        await server.finished(run_id)
    await wait_until_idle(full.get(LiveCallRegistry))
    await stop_domains(full)
    await full.db.dispose()


def _at(address: str, known: str, other: str) -> str:
    return address.replace(known.removeprefix("http"), other.removeprefix("http"))
