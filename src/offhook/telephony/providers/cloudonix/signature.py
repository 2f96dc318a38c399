"""Cloudonix signs nothing: a key that is always the same, and the secrets in addresses of ours, are all the proof there
is."""

from offhook.telephony.carrier_kit.http import optional
from offhook.telephony.carrier_kit.signatures import is_any
from offhook.telephony.ports import CarrierAccount, Proof, Webhook


class CloudonixVerifier:
    """A key that is sent must be right. None need be sent to an address that carries a run's secret."""

    def verify(self, account: CarrierAccount, webhook: Webhook, now_s: float) -> Proof | None:
        key, claimed = optional(account, "webhook_api_key"), webhook.headers.get("x-cx-apikey")
        if claimed is not None:
            return Proof() if key is not None and is_any([key], [claimed]) else None
        return Proof() if webhook.has_secret else None
