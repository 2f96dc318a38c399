"""The invariants that an audit checks, as queries whose rows are violations."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncSession

# rule: (query whose rows are violations, sentence formatted with each row)
INVARIANT_QUERIES: Final = {
    "one final state per contact": (
        (
            "SELECT id, state, outcome FROM campaign_contacts WHERE campaign_id = :id AND organization_id = :org"
            " AND ((state = 'done') <> (outcome IS NOT NULL) OR state NOT IN ('pending', 'calling', 'done')) LIMIT :limit"
        ),
        "contact {id} is {state} with outcome {outcome}",
    ),
    "a completed campaign has no contacts left": (
        (
            "SELECT contact.id, contact.state, campaign.status FROM campaigns campaign JOIN campaign_contacts contact"
            " ON contact.campaign_id = campaign.id WHERE campaign.id = :id AND campaign.organization_id = :org"
            " AND campaign.status = 'completed' AND contact.state <> 'done' LIMIT :limit"
        ),
        "contact {id} is {state} although the campaign is {status}",
    ),
    "never two live dials to one contact": (
        (
            "SELECT one.contact_id, one.id AS first, two.id AS second FROM campaign_attempts one JOIN campaign_attempts two"
            " ON two.contact_id = one.contact_id AND two.number > one.number"
            " AND two.reserved_at < coalesce(one.ended_at, 'infinity')"
            " WHERE one.campaign_id = :id AND one.organization_id = :org LIMIT :limit"
        ),
        "attempts {first} and {second} of contact {contact_id} overlap",
    ),
    "contacts being called have one open attempt, others none": (
        (
            "SELECT contact.id, contact.state, count(attempt.id) AS open FROM campaign_contacts contact"
            " LEFT JOIN campaign_attempts attempt ON attempt.contact_id = contact.id AND attempt.state <> 'final'"
            " WHERE contact.campaign_id = :id AND contact.organization_id = :org GROUP BY contact.id"
            " HAVING count(attempt.id) <> CASE WHEN contact.state = 'calling' THEN 1 ELSE 0 END LIMIT :limit"
        ),
        "contact {id} is {state} and has {open} open attempts",
    ),
    "no contact is dialed again without a reason": (
        (
            "SELECT id, contact_id, number FROM campaign_attempts WHERE campaign_id = :id AND organization_id = :org"
            " AND number > 1 AND coalesce(because, '') = '' LIMIT :limit"
        ),
        "attempt {id} is dial {number} of contact {contact_id} and has no reason",
    ),
    "attempts are numbered without a gap": (
        (
            "SELECT contact_id, count(*) AS made, max(number) AS highest FROM campaign_attempts WHERE campaign_id = :id"
            " AND organization_id = :org GROUP BY contact_id HAVING count(*) <> max(number) LIMIT :limit"
        ),
        "contact {contact_id} has {made} attempts, the last one is number {highest}",
    ),
    "dial counts match the attempts": (
        (
            "SELECT contact.id, contact.dials, count(attempt.id) AS made FROM campaign_contacts contact"
            " LEFT JOIN campaign_attempts attempt ON attempt.contact_id = contact.id"
            " AND coalesce(attempt.reason, '') <> ALL(:free)"
            " WHERE contact.campaign_id = :id AND contact.organization_id = :org AND coalesce(contact.reason, '') <> ALL(:free)"
            " GROUP BY contact.id HAVING contact.dials <> count(attempt.id) LIMIT :limit"
        ),
        "contact {id} says {dials} dials and has {made} attempts",
    ),
    "how a contact ended is how its last attempt ended": (
        (
            "SELECT contact.id, contact.outcome, last.outcome AS attempted FROM campaign_contacts contact"
            " JOIN LATERAL (SELECT outcome, reason FROM campaign_attempts WHERE contact_id = contact.id"
            "   ORDER BY number DESC LIMIT 1) last ON true"
            " WHERE contact.campaign_id = :id AND contact.organization_id = :org AND contact.state = 'done'"
            " AND contact.outcome <> last.outcome AND coalesce(last.reason, '') <> ALL(:free)"
            " AND contact.outcome NOT IN ('do_not_call', 'invalid_number', 'canceled')"
            " AND contact.reason IS NOT DISTINCT FROM last.reason LIMIT :limit"
        ),
        "contact {id} is {outcome}, its last attempt {attempted}",
    ),
}


async def find_violating_rows(
    session: AsyncSession,
    query: str,
    organization_id: int,
    campaign_id: int,
    undialed_reasons: Sequence[str],
    limit: int,
) -> Sequence[Row[Any]]:
    """Returns the first rows that break an invariant. Attempts with one of ``undialed_reasons`` rang no phone."""
    values: dict[str, object] = {"id": campaign_id, "org": organization_id, "limit": limit}
    if ":free" in query:
        values["free"] = list(undialed_reasons)
    return (await session.execute(text(query), values)).all()
