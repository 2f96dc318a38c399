"""The engine's statements. Each touches a bounded number of rows by an index, however long the list is."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import TextClause, bindparam, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import BigInteger, Text


def _sql(statement: str, *arrays: str, texts: Sequence[str] = ()) -> TextClause:
    return text(statement).bindparams(
        *(bindparam(name, type_=ARRAY(BigInteger)) for name in arrays),
        *(bindparam(name, type_=ARRAY(Text)) for name in texts),
    )


RUNNING: Final = text(
    "SELECT id, organization_id, workflow_id, max_concurrency, running_since, telephony_configuration_id, calling_hours,"
    " retry_config, circuit_breaker, destinations, voicemail, spend_cap_cents FROM campaigns"
    " WHERE organization_id = :organization_id AND status = 'running' ORDER BY id FOR NO KEY UPDATE"
)
WORK: Final = text(
    "SELECT (SELECT due_at FROM campaign_contacts WHERE campaign_id = :campaign_id AND state = 'pending'"
    "   ORDER BY due_at, id LIMIT 1) AS next_due,"
    " (SELECT count(*) FROM campaign_attempts WHERE organization_id = :organization_id AND campaign_id = :campaign_id"
    "   AND state <> 'final') AS open_attempts"
)
CLAIM: Final = _sql(
    "SELECT id, phone_number, variables, dials, reason FROM campaign_contacts"
    " WHERE campaign_id = :campaign_id AND state = 'pending' AND due_at <= :now AND id <> ALL(:but)"
    " ORDER BY due_at, id LIMIT :limit FOR UPDATE SKIP LOCKED",
    "but",
)
RESERVE: Final = _sql(
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
PLACING: Final = _sql(
    "UPDATE campaign_attempts SET state = 'placing', run_id = made.run_id"
    " FROM unnest(:attempt_ids, :run_ids) AS made (attempt_id, run_id)"
    " WHERE id = made.attempt_id AND state = 'reserved'",
    "attempt_ids",
    "run_ids",
)
DIAL: Final = text(
    "SELECT a.id, a.organization_id, a.campaign_id, a.contact_id, a.run_id, a.number, a.state, c.dials, a.check_at,"
    "  a.reserved_at, a.may_dial_until, campaigns.status AS campaign_status, campaigns.retry_config"
    " FROM campaign_attempts a JOIN campaign_contacts c ON c.id = a.contact_id"
    " JOIN campaigns ON campaigns.id = a.campaign_id"
    " WHERE a.run_id = :run_id AND a.organization_id = :organization_id AND a.state <> 'final' FOR UPDATE OF a"
)
CLOSE: Final = text(
    "UPDATE campaign_attempts SET state = 'final', outcome = :outcome, reason = :reason,"
    " ended_at = :now WHERE id = :id AND state <> 'final'"
)
FINISH: Final = text(
    "UPDATE campaign_contacts SET state = 'done', outcome = :outcome, reason = :reason, hold = NULL, done_at = :now"
    " WHERE id = :id AND state = :source"
)
AGAIN: Final = text(
    "UPDATE campaign_contacts SET state = 'pending', due_at = :due_at, reason = :because, hold = :hold,"
    " dials = dials - :not_dialled WHERE id = :id AND state = 'calling'"
)
PLACED: Final = text(
    "UPDATE campaign_attempts SET state = 'placed', placed_at = :now WHERE id = :id AND state = 'placing'"
)
TOKENS: Final = text(
    "INSERT INTO campaign_dial_buckets AS bucket (organization_id, account, tokens, at)"
    " VALUES (:organization_id, :account, :burst, :now)"
    " ON CONFLICT (organization_id, account) DO UPDATE SET at = bucket.at RETURNING tokens, at"
)
SAVE_TOKENS: Final = text(
    "UPDATE campaign_dial_buckets SET tokens = :tokens, at = :at"
    " WHERE organization_id = :organization_id AND account = :account"
)
OPEN: Final = text(
    "SELECT id, organization_id, run_id, check_at < :now AS is_silent FROM campaign_attempts"
    " WHERE state <> 'final' AND run_id IS NOT NULL ORDER BY check_at LIMIT :limit"
)
