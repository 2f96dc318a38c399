"""Cloudonix signs nothing: a key that is always the same, and the secrets in addresses of ours, are all the proof there
is."""

from offhook.telephony.carrier_kit.http import get_setting
from offhook.telephony.carrier_kit.signatures import matches_any
from offhook.telephony.ports import CarrierAccount, CarrierWebhook, WebhookProof


class CloudonixVerifier:
    """A key that is sent must be right. None need be sent to an address that carries a run's secret."""

    def verify(self, account: CarrierAccount, webhook: CarrierWebhook, now_s: float) -> WebhookProof | None:
        key, claimed = get_setting(account, "webhook_api_key"), webhook.headers.get("x-cx-apikey")
        if claimed is not None:
            return WebhookProof() if key is not None and matches_any([key], [claimed]) else None
        return WebhookProof() if webhook.has_secret else None
