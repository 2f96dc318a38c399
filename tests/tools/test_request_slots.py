"""Requests to a server that hangs: its organization waits, others do not."""

import asyncio

from offhook.tools.errors import ToolCallFailed
from offhook.tools.request_slots import RequestSlots
from tests.fakes.clock import run_virtual

HANGING, CRM = "https://hanging.test/orders", "https://crm.test/orders"
ACME, GLOBEX = 1, 2


async def ask(slots: RequestSlots, organization_id: int, url: str, seconds: float = 30.0) -> str:
    """One request whose server takes so long: "answered", or why it was not sent."""
    try:
        async with slots.hold(organization_id, url):
            await asyncio.sleep(seconds)
    except ToolCallFailed as error:
        return str(error) if error.retryable else "for ever"
    return "answered"


def test_an_organization_waits_for_its_own_requests() -> None:
    async def scene() -> None:
        slots = RequestSlots(per_organization=2, per_host=8)
        hanging = [asyncio.create_task(ask(slots, ACME, HANGING)) for _ in range(3)]
        await asyncio.sleep(1)
        assert await ask(slots, GLOBEX, CRM, 0.1) == "answered"
        assert await ask(slots, GLOBEX, HANGING, 0.1) == "answered", "also to the same server"
        refused = await ask(slots, ACME, CRM, 0.1)
        assert refused == "Too many requests to 'crm.test', or from this organization, are open. Try again later."
        found = [await one for one in hanging]
        assert [one == "answered" for one in found] == [True, True, False]
        assert await ask(slots, ACME, CRM, 0.1) == "answered"

    run_virtual(scene())


def test_a_host_has_places_for_all_together() -> None:
    async def scene() -> None:
        slots = RequestSlots(per_organization=2, per_host=4)
        hanging = [asyncio.create_task(ask(slots, org, HANGING)) for org in (10, 10, 11, 11)]
        await asyncio.sleep(1)
        assert "hanging.test" in await ask(slots, ACME, HANGING)
        assert await ask(slots, ACME, CRM, 0.1) == "answered"
        assert [await one for one in hanging] == ["answered"] * 4

    run_virtual(scene())


def test_who_waits_gets_the_next_place() -> None:
    async def scene() -> None:
        slots = RequestSlots(per_organization=1, per_host=4)
        found = await asyncio.gather(*(ask(slots, ACME, CRM, 2.0) for _ in range(3)))
        assert found == ["answered"] * 3
        assert not slots._lines, "nothing is kept about those who are gone"

    run_virtual(scene())


def test_an_address_that_is_none_is_left_to_the_client() -> None:
    async def scene() -> None:
        assert await ask(RequestSlots(per_organization=1, per_host=2), ACME, "http://[", 0.1) == "answered"

    run_virtual(scene())
