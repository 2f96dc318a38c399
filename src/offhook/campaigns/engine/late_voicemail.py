"""A contact that counted as reached, of whose call the carrier says after its end that a machine took it."""

from typing import Any, Final

from sqlalchemy import TextClause, text

from offhook.campaigns.engine.store import PostgresCampaignStore
from offhook.campaigns.rules.outcomes import ANSWERED, VOICEMAIL
from offhook.campaigns.rules.retry import retry_at, retry_policy
from offhook.kit.clock import Clock
from offhook.telephony import OutcomeCorrected

# In these the contact is called again as after any voicemail; a campaign that is over stays over.
_RETRYABLE_STATUSES: Final = frozenset({"running", "paused"})
# Who was reached is not called again, so that this attempt is the contact's last. The campaign is held: it may not end
# while a contact of it becomes pending.
_SELECT_REACHED: Final = text(
    "SELECT a.id, a.contact_id, a.reason, c.dials, campaigns.status, campaigns.retry_config FROM campaign_attempts a"
    " JOIN campaign_contacts c ON c.id = a.contact_id JOIN campaigns ON campaigns.id = a.campaign_id"
    " WHERE a.run_id = :run_id AND a.organization_id = :organization_id AND a.state = 'final' AND a.outcome = :answered"
    "   AND c.state = 'done' AND c.outcome = :answered"
    " FOR NO KEY UPDATE OF a, c FOR SHARE OF campaigns"
)
_UPDATE_ATTEMPT: Final = text("UPDATE campaign_attempts SET outcome = :outcome WHERE id = :id")
_RETRY_CONTACT: Final = text(
    "UPDATE campaign_contacts SET state = 'pending', outcome = NULL, reason = :because, hold = 'retry_delay',"
    " done_at = NULL, due_at = :due_at WHERE id = :id"
)
_CLOSE_CONTACT: Final = text("UPDATE campaign_contacts SET outcome = :outcome WHERE id = :id")


class LateVoicemailCorrection:
    """Idempotent: of two that say the same, one changes the attempt."""

    def __init__(self, store: PostgresCampaignStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def on_outcome_corrected(self, news: OutcomeCorrected) -> None:
        now = self._clock.now()
        async with self._store.transaction() as tx:

            async def execute(statement: TextClause, **values: Any) -> Any:
                return await tx.session.execute(statement, values)

            key = {"run_id": news.run_id, "organization_id": news.organization_id}
            reached = (await execute(_SELECT_REACHED, **key, answered=ANSWERED)).one_or_none()
            if reached is None:
                return
            again = None
            if reached.status in _RETRYABLE_STATUSES:
                again = retry_at(retry_policy(reached.retry_config), VOICEMAIL, reached.dials, now)
            await execute(_UPDATE_ATTEMPT, id=reached.id, outcome=VOICEMAIL)
            if again is None:
                await execute(_CLOSE_CONTACT, id=reached.contact_id, outcome=VOICEMAIL)
            else:
                because = VOICEMAIL if reached.reason is None else f"{VOICEMAIL}: {reached.reason}"
                await execute(_RETRY_CONTACT, id=reached.contact_id, because=because[:64], due_at=again)
                await tx.schedule_dialing(news.organization_id, again)
