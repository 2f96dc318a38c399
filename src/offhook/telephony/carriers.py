"""The carriers that there are: a new one is a folder under ``providers`` and a line here."""

from typing import Final

from offhook.telephony.carrier_kit.http import CarrierHttp
from offhook.telephony.ports import CarrierRegistry
from offhook.telephony.providers import cloudonix, plivo, telnyx, twilio, vobiz, vonage

_MAKERS: Final = (
    cloudonix.build_carrier,
    plivo.build_carrier,
    telnyx.build_carrier,
    twilio.build_carrier,
    vobiz.build_carrier,
    vonage.build_carrier,
)


def all_carriers(http: CarrierHttp) -> CarrierRegistry:
    """All but the sandbox, which is made of the platform's own parts."""
    return CarrierRegistry([make(http) for make in _MAKERS])
