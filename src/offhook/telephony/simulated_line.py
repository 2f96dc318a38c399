"""A telephone line within this process: a simulated phone at one end, the leg of a call at the other.

Both ends speak the media format of simulated calls over a pipe: frames of 20 ms, marks, keys, the start and the end.
"""

import asyncio
from dataclasses import dataclass

from offhook.telephony.carriers import PhoneWire, SandboxWire
from offhook.telephony.media.in_process_socket import create_pipe
from offhook.telephony.media.leg import MediaLeg
from offhook.telephony.media.simulated_phone import PhoneReceiver, SimulatedPhone


@dataclass(frozen=True, slots=True)
class SimulatedLine:
    """``wire`` is the phone's: it presses keys and hangs up. The phone is paced by its ``run``."""

    leg: MediaLeg
    phone: SimulatedPhone
    wire: PhoneWire


async def open_simulated_line(call_id: str) -> SimulatedLine:
    """Returns a line whose media has started; it uses no timer but the running loop's."""
    near, far = create_pipe()
    leg, wire = MediaLeg(SandboxWire()), PhoneWire(far)
    phone = SimulatedPhone(wire)
    leg.attach_socket(await near.open(leg))
    await far.open(PhoneReceiver(phone))
    wire.send_start(call_id)
    async with asyncio.timeout(1.0):
        await leg.started
    return SimulatedLine(leg, phone, wire)
