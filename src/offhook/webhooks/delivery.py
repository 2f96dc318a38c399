"""One delivery attempt: sign, send with no transaction open, record the response and schedule the next attempt.

A job is one attempt. It carries the round and the number of earlier attempts; if the row disagrees, another job was
faster and this one does nothing. A worker that dies between sending and recording leaves the row unchanged: the
attempt is repeated with the same ``webhook-id``, by which receivers recognize duplicates. The sweep finds
deliveries whose job was lost.
"""

import json
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession
from standardwebhooks import Webhook

from offhook.jobs.registry import read_number
from offhook.jobs.shares import OrganizationShares
from offhook.kit.clock import Clock
from offhook.kit.crypto import Keyring, SecretUnreadable
from offhook.kit.database.database import Database
from offhook.kit.egress import EgressClient, EgressError
from offhook.kit.json_values import JsonObject
from offhook.orgs import Caller, write_audit_entry
from offhook.orgs.data_keys.sealed_rows import open_row, seal_values
from offhook.orgs.errors import WordsUnreadable
from offhook.webhooks import repository, service
from offhook.webhooks.errors import WebhookDisabled, WebhookSecretUnreadable
from offhook.webhooks.repository import DueDelivery
from offhook.webhooks.retry_schedule import SWITCH_OFF_AFTER, next_delay_s
from offhook.webhooks.tables import ATTEMPT_ANSWER, WebhookAttempt, WebhookDelivery, WebhookEndpoint, WebhookEvent

TIMEOUT_S: Final = 15.0
MAX_ANSWER_BYTES: Final = 64 * 1024
_MAX_SHOWN_ANSWER: Final = 500
_GONE: Final = 410
# Limits attempts per endpoint and organization, so that slow ones cannot occupy the workers.
MAX_CONCURRENT_PER_ENDPOINT: Final = 4
MAX_CONCURRENT_PER_ORGANIZATION: Final = 6
MAX_CONCURRENT: Final = 8
BUSY_DELAY_S: Final = 2.0
OVERDUE_AFTER: Final = timedelta(minutes=5)
_SWEEP_BATCH: Final = 500
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SignedDelivery:
    """The request: the same body at every attempt, with fresh signature headers."""

    organization_id: int
    endpoint_id: int
    url: str
    message_id: str
    body: bytes
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class DeliveryOutcome:
    """``status_code`` None: no response. ``retry_after_s`` is the endpoint's Retry-After."""

    status_code: int | None
    error: str | None
    answer: str | None
    duration_ms: int
    retry_after_s: float | None = None

    @property
    def is_success(self) -> bool:
        return self.error is None


class WebhookDeliverer:
    """Makes delivery attempts; one per process, so that it can bound how many run at once."""

    def __init__(self, db: Database, clock: Clock, keyring: Keyring, egress: EgressClient) -> None:
        self._db = db
        self._clock = clock
        self._keyring = keyring
        self._egress = egress
        self._under_way: Counter[int] = Counter()
        self._shares = OrganizationShares(MAX_CONCURRENT, MAX_CONCURRENT_PER_ORGANIZATION)

    async def handle_job(self, payload: JsonObject) -> None:
        """Handles the job ``webhook.deliver``."""
        delivery_id, in_round, attempts = (read_number(payload, name) for name in ("delivery_id", "round", "attempts"))
        async with self._db.transaction() as session:
            due = await repository.find_delivery_of_job(session, delivery_id)
            if not _is_current(due, in_round, attempts):
                return
            assert due is not None
            endpoint_id, organization_id = due.endpoint.id, due.endpoint.organization_id
            try:
                if due.endpoint.status != service.ENABLED:
                    raise WebhookDisabled("The webhook is disabled.")
                data = (await open_row(session, due.event))["data"]
                signed = self.sign_delivery(due.endpoint, due.event, data, due.delivery.sequence, attempts + 1)
            except (WebhookDisabled, WebhookSecretUnreadable, WordsUnreadable) as error:
                due = await repository.find_delivery_of_job(session, delivery_id, lock=True)
                if due is not None and _is_current(due, in_round, attempts):
                    _mark_dead(due, error.message)
                return
            if self._under_way[endpoint_id] >= MAX_CONCURRENT_PER_ENDPOINT or not self._shares.begin(organization_id):
                await service.enqueue_attempt(session, delivery_id, in_round, attempts, delay_s=BUSY_DELAY_S)
                return
            self._under_way[endpoint_id] += 1
        try:
            outcome = await self.send(signed)
        finally:
            self._under_way[endpoint_id] -= 1
            self._shares.end(organization_id)
        await self._record_outcome(delivery_id, in_round, attempts, outcome)

    async def sweep_overdue(self, _: JsonObject) -> None:
        """Handles the job ``webhook.sweep``: long overdue deliveries, which lost their job, get a new one."""
        async with self._db.transaction() as session:
            before = self._clock.now() - OVERDUE_AFTER
            for delivery_id, in_round, attempts in await repository.find_overdue(session, before, limit=_SWEEP_BATCH):
                await service.enqueue_attempt(session, delivery_id, in_round, attempts)

    def sign_delivery(
        self, endpoint: WebhookEndpoint, event: WebhookEvent, data: JsonObject, sequence: int, attempt: int
    ) -> SignedDelivery:
        """Returns the signed request with the event's readable data; an endpoint with a recently rotated secret gets a signature by each secret.

        Raises WebhookSecretUnreadable when the key that sealed its secret is gone.
        """
        message_id = f"evt_{event.id}"
        content = {
            "id": message_id,
            "type": event.type,
            "timestamp": event.created_at.isoformat(),
            "organization_id": event.organization_id,
            "sequence": sequence,
            "data": data,
        }
        body = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        now = self._clock.now()
        secrets = self._signing_secrets(endpoint, now)
        headers = {
            "content-type": "application/json",
            "user-agent": "Offhook-Webhooks/1",
            "webhook-id": message_id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": " ".join(Webhook(one).sign(message_id, now, body) for one in secrets),
            "offhook-event": event.type,
            "offhook-sequence": str(sequence),
            "offhook-attempt": str(attempt),
        }
        return SignedDelivery(endpoint.organization_id, endpoint.id, endpoint.url, message_id, body.encode(), headers)

    def _signing_secrets(self, endpoint: WebhookEndpoint, now: datetime) -> list[str]:
        try:
            secrets = [service.open_secret(self._keyring, endpoint.organization_id, endpoint.secret)]
        except SecretUnreadable as error:
            raise WebhookSecretUnreadable from error
        until = endpoint.old_secret_until
        if endpoint.old_secret is not None and until is not None and until > now:
            with suppress(SecretUnreadable):  # its key is lost: the new one signs alone
                secrets.append(service.open_secret(self._keyring, endpoint.organization_id, endpoint.old_secret))
        return secrets

    async def send_test(self, organization_id: int, endpoint_id: int) -> DeliveryOutcome:
        """Sends an event of type ``webhook.test``, which is not listed and takes no sequence number.

        Raises WebhookNotFound (404) and WebhookSecretUnreadable.
        """
        async with self._db.transaction() as session:
            endpoint = await service.get_endpoint(session, organization_id, endpoint_id)
            event = WebhookEvent(
                id=0,
                organization_id=organization_id,
                type=service.TEST_EVENT,
                data={"webhook_id": endpoint.id, "message": "This is a test."},
                created_at=self._clock.now(),
            )
            signed = self.sign_delivery(endpoint, event, event.data, 0, 1)
        return await self.send(signed)

    async def send(self, signed: SignedDelivery) -> DeliveryOutcome:
        """Sends the request; every result is an outcome. A redirect is a failure: it would send the event elsewhere."""
        started = self._clock.now()
        try:
            answer = await self._egress.request(
                "POST",
                signed.url,
                headers=signed.headers,
                content=signed.body,
                timeout_s=TIMEOUT_S,
                max_bytes=MAX_ANSWER_BYTES,
                max_redirects=0,
            )
        except EgressError as error:
            elapsed = self._clock.now() - started
            return DeliveryOutcome(None, str(error)[:500], None, max(0, round(elapsed.total_seconds() * 1000)))
        shown = answer.text[:_MAX_SHOWN_ANSWER].replace("\0", "") or None
        error_text = None if answer.is_success else f"The endpoint answered {answer.status}."
        retry_after = str(answer.headers.get("retry-after", ""))
        retry_after_s = float(retry_after) if retry_after.isdecimal() and len(retry_after) < 7 else None
        return DeliveryOutcome(answer.status, error_text, shown, answer.elapsed_ms, retry_after_s)

    async def _record_outcome(self, delivery_id: int, in_round: int, attempts: int, outcome: DeliveryOutcome) -> None:
        async with self._db.transaction() as session:
            due = await repository.find_delivery_of_job(session, delivery_id, lock=True)
            if not _is_current(due, in_round, attempts):
                return  # another worker made the same attempt, or it was resent from the beginning
            assert due is not None
            now = self._clock.now()
            delivery = due.delivery
            delivery.attempts = attempts + 1
            delivery.last_status_code, delivery.last_error = outcome.status_code, outcome.error
            await _log_attempt(session, delivery, outcome, now)
            if outcome.is_success:
                delivery.status, delivery.delivered_at, delivery.next_attempt_at = service.DELIVERED, now, None
                due.endpoint.failing_since, due.endpoint.last_success_at = None, now
                return
            due.endpoint.failing_since = due.endpoint.failing_since or now
            delay_s = next_delay_s(attempts + 1, requested_s=outcome.retry_after_s)
            if outcome.status_code == _GONE or now - due.endpoint.failing_since >= SWITCH_OFF_AFTER:
                await _switch_off(session, due.endpoint, outcome)
                delay_s = None
            if delay_s is None:
                _mark_dead(due, outcome.error or "")
                return
            delivery.next_attempt_at = now + timedelta(seconds=delay_s)
            await service.enqueue_attempt(session, delivery_id, in_round, attempts + 1, delay_s=delay_s)


def _is_current(due: DueDelivery | None, in_round: int, attempts: int) -> bool:
    return (
        due is not None
        and due.delivery.status == service.PENDING
        and due.delivery.round == in_round
        and due.delivery.attempts == attempts
    )


async def _log_attempt(
    session: AsyncSession, delivery: WebhookDelivery, outcome: DeliveryOutcome, now: datetime
) -> None:
    answers = [(delivery.id, {"answer": outcome.answer})]
    (answer,) = await seal_values(session, ATTEMPT_ANSWER, delivery.organization_id, answers)
    session.add(
        WebhookAttempt(
            organization_id=delivery.organization_id,
            delivery_id=delivery.id,
            attempt=delivery.attempts,
            status_code=outcome.status_code,
            error=outcome.error,
            duration_ms=outcome.duration_ms,
            created_at=now,
            **answer,
        )
    )


def _mark_dead(due: DueDelivery, error: str) -> None:
    due.delivery.status, due.delivery.next_attempt_at = service.DEAD, None
    due.delivery.last_error = error[:500]
    log.info("webhook_dead", endpoint_id=due.endpoint.id, delivery_id=due.delivery.id)


async def _switch_off(session: Any, endpoint: WebhookEndpoint, outcome: DeliveryOutcome) -> None:
    """Disables the endpoint until a user enables it; its events stay in ``GET /events``."""
    endpoint.status = service.FAILING
    reason = "gone" if outcome.status_code == _GONE else "failed for three days"
    caller = Caller.system(endpoint.organization_id)
    await write_audit_entry(session, caller, "webhook.switched_off", f"webhook:{endpoint.id}", {"reason": reason})
    log.warning("webhook_switched_off", endpoint_id=endpoint.id, reason=reason)
