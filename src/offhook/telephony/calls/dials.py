"""Asks a carrier for a call, and counts what it said."""

from offhook.kit.http.metrics import DIALS
from offhook.telephony.ports import CallDialer, CarrierAccount, CarrierFailed, DialRequest


async def place_counted_call(dialer: CallDialer, account: CarrierAccount, request: DialRequest) -> str:
    """Places the call as ``CallDialer.place_call`` does."""
    result = "error"
    try:
        call_id = await dialer.place_call(account, request)
        result = "accepted"
        return call_id
    except CarrierFailed as failure:
        result = failure.code
        raise
    finally:
        DIALS.labels(account.provider, result).inc()
