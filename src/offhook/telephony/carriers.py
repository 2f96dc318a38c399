"""The list of carriers: a new one is a folder under ``providers`` and a line here."""

from typing import Final

from offhook.telephony.carrier_kit.http import CarrierHttp
from offhook.telephony.ports import CarrierRegistry
from offhook.telephony.providers import cloudonix, plivo, sandbox, telnyx, twilio, vobiz, vonage
from offhook.telephony.providers.sandbox.repository import count_recorded_calls
from offhook.telephony.providers.sandbox.wire import PhoneWire, SandboxWire

_REMOTE: Final = (
    cloudonix.build_carrier,
    plivo.build_carrier,
    telnyx.build_carrier,
    twilio.build_carrier,
    vobiz.build_carrier,
    vonage.build_carrier,
)
# Carriers that are built from the platform's own parts add themselves to the registry.
IN_PROCESS: Final = (sandbox.register_carrier,)


def build_remote_carriers(http: CarrierHttp) -> CarrierRegistry:
    """Returns the carriers that are reached over HTTP."""
    return CarrierRegistry([build(http) for build in _REMOTE])


__all__ = ["IN_PROCESS", "PhoneWire", "SandboxWire", "build_remote_carriers", "count_recorded_calls"]
