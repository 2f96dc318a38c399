"""The engine's statements. Each touches a bounded number of rows by an index, however long the list is."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import TextClause, bindparam, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import BigInteger, Boolean, DateTime, Text


def _bind_arrays(statement: str, *arrays: str, texts: Sequence[str] = ()) -> TextClause:
    return text(statement).bindparams(
        *(bindparam(name, type_=ARRAY(BigInteger)) for name in arrays),
        *(bindparam(name, type_=ARRAY(Text)) for name in texts),
    )


LOCK_RUNNING: Final = text(
    "SELECT id, organization_id, workflow_id, max_concurrency, running_since, telephony_configuration_id, calling_hours,"
    " retry_config, circuit_breaker, destinations, voicemail, spend_cap_cents FROM campaigns"
    " WHERE organization_id = :organization_id AND status = 'running' AND (CAST(:only AS integer) IS NULL OR id = :only)"
    " ORDER BY id FOR NO KEY UPDATE"
)
REMAINING_WORK: Final = text(
    "SELECT (SELECT due_at FROM campaign_contacts WHERE campaign_id = :campaign_id AND state = 'pending'"
    "   ORDER BY due_at, id LIMIT 1) AS next_due,"
    " (SELECT count(*) FROM campaign_attempts WHERE organization_id = :organization_id AND campaign_id = :campaign_id"
    "   AND state <> 'final') AS open_attempts"
)
CLAIM_CONTACTS: Final = _bind_arrays(
    "SELECT id, phone_number, variables, dials, reason FROM campaign_contacts"
    " WHERE campaign_id = :campaign_id AND state = 'pending' AND due_at <= :now AND id <> ALL(:excluded_ids)"
    " ORDER BY due_at, id LIMIT :limit FOR UPDATE SKIP LOCKED",
    "excluded_ids",
)
CREATE_ATTEMPTS: Final = _bind_arrays(
    "WITH chosen AS ("
    "  SELECT * FROM unnest(:contact_ids, :because) WITH ORDINALITY AS t (contact_id, because, position)"
    "), called AS ("
    "  UPDATE campaign_contacts SET state = 'calling', dials = dials + 1, hold = NULL"
    "  FROM chosen WHERE id = chosen.contact_id AND state = 'pending' RETURNING id"
    ") INSERT INTO campaign_attempts (organization_id, campaign_id, contact_id, number, state, because, reserved_at,"
    "   may_dial_until, check_at)"
    " SELECT :organization_id, :campaign_id, contact_id, 1 + coalesce("
    "   (SELECT max(number) FROM campaign_attempts before WHERE before.contact_id = chosen.contact_id), 0),"
    "   'reserved', because, :now, :may_dial_until, :check_at"
    " FROM chosen JOIN called ON called.id = chosen.contact_id ORDER BY position RETURNING id, contact_id",
    "contact_ids",
    texts=["because"],
)
START_PLACING: Final = _bind_arrays(
    "UPDATE campaign_attempts SET state = 'placing', run_id = made.run_id"
    " FROM unnest(:attempt_ids, :run_ids) AS made (attempt_id, run_id)"
    " WHERE id = made.attempt_id AND state = 'reserved'",
    "attempt_ids",
    "run_ids",
)
LOCK_OPEN_ATTEMPTS: Final = _bind_arrays(
    "SELECT a.id, a.organization_id, a.campaign_id, a.contact_id, a.run_id, a.number, a.state, c.dials, a.check_at,"
    "  a.reserved_at, a.may_dial_until, campaigns.status AS campaign_status, campaigns.retry_config"
    " FROM campaign_attempts a JOIN campaign_contacts c ON c.id = a.contact_id"
    " JOIN campaigns ON campaigns.id = a.campaign_id"
    " WHERE a.run_id = ANY(:run_ids) AND a.organization_id = ANY(:organization_ids) AND a.state <> 'final'"
    " ORDER BY a.id FOR UPDATE OF a",
    "run_ids",
    "organization_ids",
)
# Writes lost in a database crash are recovered (the run is final, the carrier can be asked), so their commits do not
# wait for the disk. The next reservation does, and persists everything before it.
FINALIZE_ATTEMPTS: Final = text(
    "WITH settled AS ("
    "  SELECT * FROM unnest(:attempt_ids, :contact_ids, :outcomes, :reasons, :again_at, :because, :were_dialed)"
    "   AS settled (attempt_id, contact_id, outcome, reason, again_at, because, was_dialed)"
    "), closed AS ("
    "  UPDATE campaign_attempts SET state = 'final', outcome = settled.outcome, reason = settled.reason, ended_at = :now"
    "  FROM settled, (SELECT set_config('synchronous_commit', 'off', true)) AS without_waiting"
    "  WHERE campaign_attempts.id = settled.attempt_id AND state <> 'final' RETURNING campaign_attempts.id"
    ") UPDATE campaign_contacts c SET"
    "   state = CASE WHEN again_at IS NULL THEN 'done' ELSE 'pending' END,"
    "   outcome = CASE WHEN again_at IS NULL THEN settled.outcome ELSE c.outcome END,"
    "   reason = CASE WHEN again_at IS NULL THEN settled.reason ELSE settled.because END,"
    "   hold = CASE WHEN again_at IS NOT NULL AND was_dialed THEN 'retry_delay' END,"
    "   done_at = CASE WHEN again_at IS NULL THEN :now ELSE c.done_at END,"
    "   due_at = coalesce(again_at, c.due_at),"
    "   dials = c.dials - CASE WHEN was_dialed THEN 0 ELSE 1 END"
    " FROM settled JOIN closed ON closed.id = settled.attempt_id WHERE c.id = settled.contact_id AND c.state = 'calling'"
).bindparams(
    bindparam("attempt_ids", type_=ARRAY(BigInteger)),
    bindparam("contact_ids", type_=ARRAY(BigInteger)),
    bindparam("outcomes", type_=ARRAY(Text)),
    bindparam("reasons", type_=ARRAY(Text)),
    bindparam("again_at", type_=ARRAY(DateTime(timezone=True))),
    bindparam("because", type_=ARRAY(Text)),
    bindparam("were_dialed", type_=ARRAY(Boolean)),
    bindparam("now", type_=DateTime(timezone=True)),
)
REFUSE_CONTACTS: Final = text(
    "UPDATE campaign_contacts c SET"
    "   state = CASE WHEN until IS NULL THEN 'done' ELSE state END,"
    "   outcome = CASE WHEN until IS NULL THEN refused.outcome ELSE c.outcome END,"
    "   reason = CASE WHEN until IS NULL THEN refused.reason ELSE c.reason END,"
    "   hold = CASE WHEN until IS NULL THEN NULL ELSE refused.reason END,"
    "   done_at = CASE WHEN until IS NULL THEN :now ELSE c.done_at END,"
    "   due_at = coalesce(until, c.due_at)"
    " FROM unnest(:contact_ids, :outcomes, :reasons, :until) AS refused (contact_id, outcome, reason, until)"
    " WHERE c.id = contact_id AND c.state = 'pending'"
).bindparams(
    bindparam("contact_ids", type_=ARRAY(BigInteger)),
    bindparam("outcomes", type_=ARRAY(Text)),
    bindparam("reasons", type_=ARRAY(Text)),
    bindparam("until", type_=ARRAY(DateTime(timezone=True))),
    bindparam("now", type_=DateTime(timezone=True)),
)
MARK_PLACED: Final = _bind_arrays(
    "UPDATE campaign_attempts SET state = 'placed', placed_at = :now"
    " FROM (SELECT set_config('synchronous_commit', 'off', true)) AS without_waiting"
    " WHERE id IN (SELECT id FROM campaign_attempts WHERE id = ANY(:ids) AND state = 'placing'"
    "   ORDER BY id FOR NO KEY UPDATE) AND state = 'placing'",
    "ids",
)
LOCK_BUCKET: Final = text(
    "INSERT INTO campaign_dial_buckets AS bucket (organization_id, account, tokens, at)"
    " VALUES (:organization_id, :account, :burst, :now)"
    " ON CONFLICT (organization_id, account) DO UPDATE SET at = bucket.at RETURNING tokens, at"
)
SAVE_BUCKET: Final = text(
    "UPDATE campaign_dial_buckets SET tokens = :tokens, at = :at"
    " WHERE organization_id = :organization_id AND account = :account"
)
BEGIN_PASS: Final = text(
    "INSERT INTO campaign_dial_passes AS pass (organization_id, unfinished)"
    " SELECT id, 1 FROM organizations, (SELECT set_config('synchronous_commit', 'off', true)) AS without_waiting"
    " WHERE id = :organization_id"
    " ON CONFLICT (organization_id) DO UPDATE SET unfinished = pass.unfinished + 1 RETURNING unfinished"
)
END_PASS: Final = text(
    "UPDATE campaign_dial_passes SET unfinished = 0"
    " FROM (SELECT set_config('synchronous_commit', 'off', true)) AS without_waiting"
    " WHERE organization_id = :organization_id AND unfinished <> 0"
)
OPEN_ATTEMPTS: Final = text(
    "SELECT id, organization_id, campaign_id, run_id, check_at < :now AS is_silent FROM campaign_attempts"
    " WHERE state <> 'final' AND run_id IS NOT NULL ORDER BY check_at LIMIT :limit"
)
LIST_RUNNING: Final = text(
    "SELECT id FROM campaigns WHERE organization_id = :organization_id AND status = 'running' ORDER BY id"
)
RUNNING_ORGANIZATIONS: Final = text(
    "SELECT DISTINCT organization_id FROM campaigns WHERE status = 'running' ORDER BY 1"
)
FAILED_WITH_PENDING: Final = text(
    "SELECT organization_id, id FROM campaigns WHERE status = 'failed' AND EXISTS (SELECT FROM campaign_contacts"
    " WHERE campaign_id = campaigns.id AND state = 'pending')"
)
RECENT_OUTCOMES: Final = text(
    "SELECT outcome FROM campaign_attempts WHERE campaign_id = :campaign_id AND ended_at >= :since"
    " ORDER BY ended_at DESC LIMIT :limit"
)
SET_STATUS: Final = text(
    "UPDATE campaigns SET status = :target, failure_reason = CAST(:reason AS varchar), completed_at = :completed_at"
    " WHERE id = :id AND status = 'running' RETURNING id, organization_id, name"
)
POSTPONE_CHECK: Final = text("UPDATE campaign_attempts SET check_at = :check_at WHERE id = :id")

# A carrier's late verdict that a machine took the call. A reached contact is not called again, so this attempt is its
# last. The campaign is locked: it must not end while one of its contacts becomes pending.
ANSWERED_ATTEMPT: Final = text(
    "SELECT a.id, a.contact_id, a.reason, c.dials, campaigns.status, campaigns.retry_config FROM campaign_attempts a"
    " JOIN campaign_contacts c ON c.id = a.contact_id JOIN campaigns ON campaigns.id = a.campaign_id"
    " WHERE a.run_id = :run_id AND a.organization_id = :organization_id AND a.state = 'final' AND a.outcome = 'answered'"
    "   AND c.state = 'done' AND c.outcome = 'answered'"
    " FOR NO KEY UPDATE OF a, c FOR SHARE OF campaigns"
)
CORRECT_ATTEMPT: Final = text("UPDATE campaign_attempts SET outcome = :outcome WHERE id = :id")
REOPEN_CONTACT: Final = text(
    "UPDATE campaign_contacts SET state = 'pending', outcome = NULL, reason = :because, hold = 'retry_delay',"
    " done_at = NULL, due_at = :due_at WHERE id = :id"
)
CORRECT_CONTACT: Final = text("UPDATE campaign_contacts SET outcome = :outcome WHERE id = :id")
