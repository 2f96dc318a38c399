"""Verifies that a request comes from a carrier: its signature, its first use, and the secret in its URL."""

import hashlib
from datetime import timedelta
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.json_values import JsonObject
from offhook.telephony.errors import WebhookRefused
from offhook.telephony.ports import CarrierAccount, CarrierSpec, CarrierWebhook, WebhookProof
from offhook.telephony.webhooks import repository

# Longer than carriers retry; schemes with a timestamp are refused long before by their verifier.
NONCE_RETENTION: Final = timedelta(days=7)
log = structlog.get_logger(__name__)


class ReplayGuard:
    """Verifies signatures before anything is parsed; each counts once."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    def verify_signature(self, spec: CarrierSpec, account: CarrierAccount, webhook: CarrierWebhook) -> WebhookProof:
        """Raises WebhookRefused (401) unless the account's carrier signed exactly this request."""
        if spec.webhooks.verifier is None:
            raise WebhookRefused
        try:
            proof = spec.webhooks.verifier.verify(account, webhook, self._clock.now().timestamp())
        except Exception as error:  # noqa: BLE001 - the vendor boundary: malformed input must not be a fault of ours
            log.warning("webhook_verification_failed", provider=spec.name, error=type(error).__name__)
            proof = None
        if proof is None:
            raise WebhookRefused
        return proof

    async def record_once(
        self, session: AsyncSession, account: CarrierAccount, webhook: CarrierWebhook, proof: WebhookProof
    ) -> bool:
        """Returns False when exactly this request arrived before. Raises WebhookRefused (401) when its nonce arrived
        with other content.

        Of two concurrent requests one waits for the other's transaction, and counts as new if that one fails.
        """
        if proof.nonce is None:
            return True
        claim = f"{account.provider}\n{account.id}\n{proof.nonce}"
        nonce = hashlib.sha256(claim.encode("utf-8", "surrogatepass")).digest()
        body = hashlib.sha256(webhook.url.encode() + b"\n" + webhook.body).digest()
        if await repository.record_nonce(session, nonce, body):
            return True
        if await repository.find_body_hash(session, nonce) != body:
            raise WebhookRefused
        return False

    async def forget_expired(self, _: JsonObject) -> None:
        """Runs the job ``telephony.forget_webhooks``, which deletes old nonces."""
        async with self._db.transaction() as session:
            await repository.delete_nonces(session, self._clock.now() - NONCE_RETENTION)
