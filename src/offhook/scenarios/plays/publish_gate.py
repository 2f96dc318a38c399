"""The publish gate: refuses a draft that has no passing verdict about exactly what it is."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_values import JsonObject
from offhook.orgs import Caller, write_audit_entry
from offhook.orgs.caller import ADMINS
from offhook.scenarios.errors import AgentNotTestable, GateOverrideForbidden, PublishGateFailed, PublishNotTested
from offhook.scenarios.plays import repository
from offhook.scenarios.plays.content import PlayContent, gather_content
from offhook.scenarios.tables import ScenarioPlay
from offhook.workflows.hooks import PublishAttempt
from offhook.workflows.version_scenarios import gate_settings

REQUIRED: Final = "is_required"
MAX_SHOWN_REASONS: Final = 20


@dataclass(frozen=True, slots=True)
class GateState:
    """What the gate says about the draft now. ``content`` is None without a draft, ``play`` without a verdict about it."""

    gate: JsonObject
    content: PlayContent | None
    play: ScenarioPlay | None

    @property
    def may_publish(self) -> bool:
        is_passed = self.play is not None and self.play.state == "passed"
        return self.content is not None and (not self.gate.get(REQUIRED) or is_passed)


async def read_gate(session: AsyncSession, organization_id: int, workflow_id: int) -> GateState:
    """Raises WorkflowNotFound (404)."""
    gate = await gate_settings.get_gate(session, organization_id, workflow_id)
    draft_id, _ = await gate_settings.current_version_ids(session, organization_id, workflow_id)
    if draft_id is None:
        return GateState(gate, None, None)
    try:
        content = await gather_content(session, organization_id, draft_id)
    except AgentNotTestable:
        # a draft without a start: there is nothing to play, nor to publish
        return GateState(gate, None, None)
    return GateState(
        gate, content, await repository.latest_verdict(session, organization_id, workflow_id, content.hash)
    )


async def require_passing_verdict(session: AsyncSession, caller: Caller, attempt: PublishAttempt) -> None:
    """Implements ``PublishCheck``. Raises PublishNotTested, PublishGateFailed (409), GateOverrideForbidden (403)."""
    if not attempt.gate.get(REQUIRED):
        return
    content = await gather_content(session, caller.organization_id, attempt.draft_id)
    play = await repository.latest_verdict(session, caller.organization_id, attempt.workflow_id, content.hash)
    if play is not None and play.state == "passed":
        return
    if attempt.override_reason is None:
        raise _refusal(content, play)
    if caller.role not in ADMINS:
        raise GateOverrideForbidden
    data = {
        "reason": attempt.override_reason,
        "hash": content.hash,
        "play": play.id if play is not None else None,
        "fell": [reason["code"] for reason in _reasons_of(play)],
    }
    await write_audit_entry(session, caller, "workflow.gate_overridden", f"workflow:{attempt.workflow_id}", data)


def _refusal(content: PlayContent, play: ScenarioPlay | None) -> PublishNotTested | PublishGateFailed:
    kind = PublishNotTested if play is None else PublishGateFailed
    message = (kind.__doc__ or "").strip()
    detail = {
        "message": message,
        "hash": content.hash,
        "play_id": play.id if play is not None else None,
        "reasons": _reasons_of(play)[:MAX_SHOWN_REASONS],
    }
    return kind(message, detail=detail)


def _reasons_of(play: ScenarioPlay | None) -> list[JsonObject]:
    verdict = play.verdict if play is not None else None
    return list(verdict["reasons"]) if verdict is not None else []
