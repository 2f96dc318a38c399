"""The list of carriers: a new one is a folder under ``providers`` and a line here."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.root import Root
from offhook.telephony.calls.status_reports import CallReports
from offhook.telephony.carrier_kit.http import CarrierHttp
from offhook.telephony.media.admission import MediaAdmission
from offhook.telephony.ports import CarrierRegistry
from offhook.telephony.providers import cloudonix, plivo, sandbox, telnyx, twilio, vobiz, vonage
from offhook.telephony.providers.sandbox.repository import count_sandbox_calls

_REMOTE: Final = (
    cloudonix.build_carrier,
    plivo.build_carrier,
    telnyx.build_carrier,
    twilio.build_carrier,
    vobiz.build_carrier,
    vonage.build_carrier,
)
_IN_PROCESS: Final = (sandbox.register_carrier,)


def build_remote_carriers(http: CarrierHttp) -> CarrierRegistry:
    """Returns the carriers that are reached over HTTP."""
    return CarrierRegistry([build(http) for build in _REMOTE])


def register_in_process_carriers(
    root: Root, carriers: CarrierRegistry, admission: MediaAdmission, reports: CallReports
) -> None:
    """Adds the carriers that are built from the platform's own parts."""
    for register in _IN_PROCESS:
        register(root, carriers, admission, reports)


async def count_recorded_calls(session: AsyncSession, organization_id: int, run_ids: Sequence[int]) -> dict[int, int]:
    """Returns the number of recorded calls per run at carriers in this process, leaving out runs without any."""
    return await count_sandbox_calls(session, organization_id, run_ids)
