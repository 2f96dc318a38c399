"""How runs ended, by day and by agent: what finished runs add."""

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
    """What runs add to the sums of outcomes; a run that is told again is taken out as it was and given as it is."""

    def __init__(self) -> None:
        self._outcomes: Counter[tuple[datetime, str]] = Counter()
        self._agents: dict[tuple[date, int, str], Counter[str]] = defaultdict(Counter)

    def subtract_run(self, counted: RunUsage) -> None:
        self._apply_run(counted, -1)

    def add_run(self, counted: RunUsage) -> None:
        self._apply_run(counted, 1)

    def _apply_run(self, counted: RunUsage, sign: int) -> None:
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
        """The caller holds the lock on the organization's account, so that nobody else adds at the same time."""
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
    """The most frequent first; those that no run has any more are left out."""
    return dict(Counter({outcome: int(calls) for outcome, calls in outcomes.items() if calls}).most_common())
