"""Run outcomes by day and by agent: the increments of finished runs."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.usage import repository
from offhook.usage.tables import AgentDay, OutcomeBucket, RunUsage

_AGENT_SUMS: Final = ("calls", "duration_ms", "cost_cents")


class OutcomeSums:
    """Increments of outcome sums; a run that is recorded again is subtracted as it was and added as it is."""

    def __init__(self) -> None:
        self._outcomes: Counter[tuple[datetime, str]] = Counter()
        self._agents: dict[tuple[date, int, str], Counter[str]] = defaultdict(Counter)

    def add_run(self, counted: RunUsage, sign: int = 1) -> None:
        """Adds a run, or subtracts it with the sign -1."""
        self._outcomes[counted.bucket_at, counted.outcome] += sign
        agent = self._agents[counted.bucket_at.astimezone(UTC).date(), counted.workflow_id, counted.outcome]
        agent.update(
            {
                "calls": sign,
                "duration_ms": sign * counted.duration_ms,
                "cost_cents": sign * counted.cost_cents,
            }
        )

    async def write(self, session: AsyncSession, organization_id: int) -> None:
        """Writes the increments. The caller holds the lock on the organization's account, so there is one writer at
        a time."""
        outcomes = [
            {"bucket_at": bucket_at, "outcome": outcome, "calls": calls}
            for (bucket_at, outcome), calls in self._outcomes.items()
            if calls
        ]
        agents = [
            {"day": day, "workflow_id": workflow_id, "outcome": outcome} | {name: sums[name] for name in _AGENT_SUMS}
            for (day, workflow_id, outcome), sums in self._agents.items()
            if any(sums.values())
        ]
        await repository.add_to_sums(session, organization_id, OutcomeBucket, outcomes, ("calls",))
        await repository.add_to_sums(session, organization_id, AgentDay, agents, _AGENT_SUMS)


def sort_by_frequency(outcomes: Mapping[str, int | Decimal]) -> dict[str, int]:
    """Sorts outcomes by frequency, highest first; those without runs are left out."""
    return dict(Counter({outcome: int(calls) for outcome, calls in outcomes.items() if calls}).most_common())
