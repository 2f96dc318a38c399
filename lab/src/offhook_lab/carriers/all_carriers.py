"""Runs the emulators of all carriers at once, each on its own port."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from offhook_lab.carriers.cloudonix import CloudonixEmulator
from offhook_lab.carriers.core.emulator import CarrierEmulator
from offhook_lab.carriers.core.operator_console import add_console
from offhook_lab.carriers.core.phones import Voice, hum_words
from offhook_lab.carriers.plivo import PlivoEmulator
from offhook_lab.carriers.telnyx import TelnyxEmulator
from offhook_lab.carriers.twilio import TwilioEmulator
from offhook_lab.carriers.vobiz import VobizEmulator
from offhook_lab.carriers.vonage import VonageEmulator

CARRIERS: Final[dict[str, type[CarrierEmulator]]] = {
    kind.name: kind
    for kind in (TwilioEmulator, TelnyxEmulator, VonageEmulator, PlivoEmulator, VobizEmulator, CloudonixEmulator)
}
NUMBER: Final = "+14155550100"


@asynccontextmanager
async def every_carrier(
    names: Sequence[str] = tuple(CARRIERS),
    *,
    host: str = "127.0.0.1",
    first_port: int = 0,
    answer_url: str = "",
    voice: Voice = hum_words,
) -> AsyncIterator[list[CarrierEmulator]]:
    """Runs the named carriers, each with one number and the lab's own endpoints, until the block ends.

    ``first_port`` 0 takes free ports; ``answer_url`` answers the calls to the number.
    """
    async with AsyncExitStack() as stack:
        carriers: list[CarrierEmulator] = []
        for at, name in enumerate(names):
            carrier = CARRIERS[name](voice=voice)
            add_console(carrier)
            carrier.add_number(NUMBER)
            if answer_url:
                carrier.point_at(answer_url)
            carriers.append(
                await stack.enter_async_context(carrier.running(host, first_port + at if first_port else 0))
            )
        yield carriers
