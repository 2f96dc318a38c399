"""Reads and writes files of scenarios in threads of their own.

Files of strangers must not fill the threads that everything else shares.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

from offhook.kit.json_values import JsonObject
from offhook.scenarios.definition import Scenario
from offhook.scenarios.errors import TooManyScenarioFiles
from offhook.scenarios.files import read_scenarios, write_scenarios
from offhook.scenarios.places import OrganizationPlaces
from offhook.scenarios.stored.service import store_scenarios

# Of one process of the server, whose cores carry calls.
MAX_CONCURRENT_FILES: Final = 2
# Fewer than the requests of one organization that may have transactions at once.
MAX_IN_LINE: Final = 4
WAIT_S: Final = 20.0
_T = TypeVar("_T")


class ScenarioFiles:
    """Reads and writes one file of an organization at a time."""

    def __init__(self, *, wait_s: float = WAIT_S) -> None:
        self._places = OrganizationPlaces(
            MAX_CONCURRENT_FILES, in_line=MAX_IN_LINE, wait_s=wait_s, refusal=TooManyScenarioFiles
        )
        # The process waits for them at its end, which is why the time for one file is bounded in ``files.py``.
        self._threads = ThreadPoolExecutor(MAX_CONCURRENT_FILES, "scenario-files")

    async def read(self, organization_id: int, text: str | bytes) -> tuple[Scenario, ...]:
        """Reads a file. Raises ScenariosInvalid (422), TooManyScenarioFiles (429)."""
        async with self.hold_thread(organization_id) as thread:
            return await thread.run(lambda: read_scenarios(text))

    async def normalize(self, organization_id: int, text: str) -> tuple[tuple[Scenario, ...], str]:
        """Returns the scenarios of a file, and the file as we write it. Raises as :meth:`read` does."""
        async with self.hold_thread(organization_id) as thread:
            scenarios = await thread.run(lambda: read_scenarios(text))
            return scenarios, await thread.run(lambda: write_scenarios(scenarios))

    async def check(self, organization_id: int, raw: Sequence[Any]) -> list[JsonObject]:
        """Returns the scenarios of a file of an agent as they are stored. Raises as :meth:`read` does."""
        if not raw:
            return []
        async with self.hold_thread(organization_id) as thread:
            return await thread.run(lambda: store_scenarios(raw))

    @asynccontextmanager
    async def hold_thread(self, organization_id: int) -> AsyncIterator["FileThread"]:
        """Waits for a thread; who waits should have no connection to the database yet. Raises TooManyScenarioFiles
        (429)."""
        async with self._places.hold(organization_id):
            yield FileThread(self._threads)


class FileThread:
    """The thread that a request has, once it is its turn."""

    def __init__(self, threads: ThreadPoolExecutor) -> None:
        self._threads = threads

    async def run(self, work: Callable[[], _T]) -> _T:
        running = asyncio.get_running_loop().run_in_executor(self._threads, work)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            # the thread goes on, so its place is not free yet
            await asyncio.wait([running])
            raise
