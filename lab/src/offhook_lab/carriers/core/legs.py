"""Rings another phone from a call's document, and waits for one of several events."""

import asyncio
from typing import Any

from offhook_lab.carriers.core.calls import EmulatedCall
from offhook_lab.carriers.core.emulator import CarrierEmulator


async def ring_and_bridge(owner: CarrierEmulator, call: EmulatedCall, child: EmulatedCall, timeout_s: float) -> None:
    """Rings another phone for this one, and connects the two until one of them is gone; the other leg ends with it."""

    async def picked_up() -> None:
        """Does nothing: the answered leg waits for the one that called it."""

    try:
        owner.place_call(child, timeout_s, picked_up)
        await wait_for_either(child.answered, child.ended)
        if child.answered.is_set() and not child.is_over:
            await owner.bridge_calls(call, child)
    finally:
        child.end("normal" if child.answered.is_set() else "canceled", "caller")


async def wait_for_either(*events: asyncio.Event) -> None:
    """Waits for the first of the events."""
    waits: list[asyncio.Task[Any]] = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
