"""The carriers that there are: a new one is a folder under ``providers`` and a line here."""

from typing import Final

from offhook.telephony.carrier_kit.http import CarrierHttp
from offhook.telephony.ports import Carriers
from offhook.telephony.providers import cloudonix, plivo, telnyx, twilio, vobiz, vonage

_MAKERS: Final = (
    cloudonix.carrier,
    plivo.carrier,
    telnyx.carrier,
    twilio.carrier,
    vobiz.carrier,
    vonage.carrier,
)


def all_carriers(http: CarrierHttp) -> Carriers:
    """All but the sandbox, which is made of the platform's own parts."""
    return Carriers([make(http) for make in _MAKERS])
