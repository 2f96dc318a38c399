"""Cloudonix signs nothing: a constant key and the secrets in our URLs are the only proof."""

from offhook.telephony.carrier_kit.http import get_setting
from offhook.telephony.carrier_kit.signatures import matches_any
from offhook.telephony.ports import CarrierAccount, CarrierWebhook, WebhookProof


class CloudonixVerifier:
    """Verifies Cloudonix requests. A key that is sent must be right; a URL that carries a run's secret needs none."""

    def verify(self, account: CarrierAccount, webhook: CarrierWebhook, now_s: float) -> WebhookProof | None:
        key, claimed = get_setting(account, "webhook_api_key"), webhook.headers.get("x-cx-apikey")
        if claimed is not None:
            return WebhookProof() if key is not None and matches_any([key], [claimed]) else None
        return WebhookProof() if webhook.has_secret else None
