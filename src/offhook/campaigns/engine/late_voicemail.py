"""Corrects a contact counted as reached when the carrier reports a machine after the call."""

from typing import Final

from offhook.campaigns.engine import statements as sql
from offhook.campaigns.engine.store import PostgresCampaignStore
from offhook.campaigns.rules.outcomes import VOICEMAIL
from offhook.campaigns.rules.retry import retry_at, retry_policy
from offhook.kit.clock import Clock
from offhook.telephony import OutcomeCorrected

# In these the contact is called again as after any voicemail; an ended campaign stays ended.
_RETRYABLE_STATUSES: Final = frozenset({"running", "paused"})


class LateVoicemailCorrection:
    """Corrects contacts. Idempotent: of two equal events, one changes the attempt."""

    def __init__(self, store: PostgresCampaignStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def on_outcome_corrected(self, event: OutcomeCorrected) -> None:
        """Records the attempt as voicemail and, where the campaign retries voicemail, makes the contact due again."""
        async with self._store.transaction() as tx:
            attempts = await tx.fetch_rows(
                sql.ANSWERED_ATTEMPT, run_id=event.run_id, organization_id=event.organization_id
            )
            for attempt in attempts:
                await tx.execute_update(sql.CORRECT_ATTEMPT, id=attempt.id, outcome=VOICEMAIL)
                due_at = (
                    retry_at(retry_policy(attempt.retry_config), VOICEMAIL, attempt.dials, self._clock.now())
                    if attempt.status in _RETRYABLE_STATUSES
                    else None
                )
                if due_at is None:
                    await tx.execute_update(sql.CORRECT_CONTACT, id=attempt.contact_id, outcome=VOICEMAIL)
                    continue
                because = VOICEMAIL if attempt.reason is None else f"{VOICEMAIL}: {attempt.reason}"
                await tx.execute_update(sql.REOPEN_CONTACT, id=attempt.contact_id, because=because[:64], due_at=due_at)
                await tx.schedule_dialing(event.organization_id, due_at)
