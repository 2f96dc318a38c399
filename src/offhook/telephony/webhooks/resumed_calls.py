"""Calls whose media has ended while their carrier still has the caller: connected again, or hung up."""

from typing import Final

import structlog

from offhook.kit.database.database import Database
from offhook.runs.live import media_tokens
from offhook.runs.resuming.handovers import CallHandovers
from offhook.telephony.accounts.public_urls import PublicAddress
from offhook.telephony.errors import CarrierUnknown, WebhookNotReadable
from offhook.telephony.ports import (
    CallAnswerer,
    CarrierDocument,
    CarrierFailed,
    CarrierRegistry,
    CarrierWebhook,
    WebhookUnreadable,
)
from offhook.telephony.webhooks.rejections import UNAVAILABLE
from offhook.telephony.webhooks.status_callbacks import CallbackRequest, CarrierCallbacks
from offhook.telephony.webhooks.verification import ReplayGuard

# How often one call is connected again: a stream that never opens must not go round for ever.
MAX_ATTEMPTS: Final = 10
# Answers reports, which want no document.
_NOTED: Final = CarrierDocument("application/json", b"", 204)
log = structlog.get_logger(__name__)


class ResumedCalls:
    """Answers carriers that ask what follows the media of a call."""

    def __init__(
        self,
        db: Database,
        carriers: CarrierRegistry,
        address: PublicAddress,
        proofs: ReplayGuard,
        callbacks: CarrierCallbacks,
        handovers: CallHandovers,
    ) -> None:
        self._db = db
        self._carriers = carriers
        self._address = address
        self._proofs = proofs
        self._callbacks = callbacks
        self._handovers = handovers

    async def build_document(
        self, provider: str, run_id: int, attempt: int, callback: CallbackRequest
    ) -> CarrierDocument:
        """Builds the document. Raises CarrierUnknown or RunNotFound (404), WebhookRefused (401) without the run's
        secret or the right signature, and WebhookNotReadable (422)."""
        spec = self._carriers.find(provider)
        answerer = spec.webhooks.answerer if spec is not None and spec.media.asks_again else None
        hang_up = answerer.hang_up_document() if answerer is not None else None
        if spec is None or answerer is None or hang_up is None:
            raise CarrierUnknown
        run, account, webhook, proof = await self._callbacks.verify_for_run(spec, run_id, callback)
        token = self._address.media_token(run.id, attempt)
        async with self._db.transaction(run.organization_id) as session:
            await self._proofs.record_once(session, account, webhook, proof)
            is_repeated = await media_tokens.is_spent(session, run, token)
        if not _asks_what_follows(answerer, webhook):
            return _NOTED
        step = await self._handovers.decide(run.organization_id, run.id, is_repeated=is_repeated)
        if step == "hang_up":
            return hang_up
        if attempt > MAX_ATTEMPTS:
            log.warning("call_not_resumed", run_id=run.id, attempts=attempt)
            return answerer.unavailable_document(UNAVAILABLE)
        async with self._db.transaction(run.organization_id) as session:
            await media_tokens.reissue_token(session, run, token)
        links = self._address.call_links(provider, run.id, token, attempt=attempt)
        log.info("call_connected_again", run_id=run.id, attempt=attempt)
        try:
            return await answerer.answer_call(account, run.call_id or "", links)
        except CarrierFailed as failure:
            log.warning("call_not_connected", run_id=run.id, code=failure.code)
            return answerer.unavailable_document(UNAVAILABLE)


def _asks_what_follows(answerer: CallAnswerer, webhook: CarrierWebhook) -> bool:
    try:
        return answerer.asks_what_follows(webhook)
    except WebhookUnreadable as error:
        raise WebhookNotReadable(str(error) or None) from None
