"""One turn of a conversation played again with the draft, over HTTP."""

from offhook.chat.recorded_turns import TurnOutcome
from offhook.chat.schemas import ReplayedOutcome, TurnReplayResponse
from offhook.chat.services import Chats
from offhook.kit.http.openapi import error_responses
from offhook.kit.http.path_ids import Id, LongId
from offhook.kit.http.routing import Router
from offhook.orgs import RequireMember

router = Router(prefix="/workflow/{workflow_id}/runs/{run_id}/turns", tags=["runs"])


@router.post(
    "/{turn}/replay",
    response_model=TurnReplayResponse,
    operation_id="replay_run_turn",
    responses=error_responses(402, 504),
)
async def replay_run_turn(
    workflow_id: Id,
    run_id: LongId,
    turn: Id,
    org: RequireMember,
    chats: Chats,
) -> TurnReplayResponse:
    """Plays one turn of a run again with the agent's draft, as text, from the history and the variables that the
    conversation had before it. Turns are counted from 1 by what the caller said. Nothing is stored. Tools are not
    called: they return what they returned in the run."""
    found = await chats.replayer.replay_turn(org, workflow_id, run_id, turn)
    recorded, replayed = found.recorded, found.replayed
    return TurnReplayResponse(
        turn=turn,
        heard=found.heard,
        step=found.step,
        version_number=found.version_number,
        recorded=_present(recorded),
        replayed=_present(replayed),
        is_same_path=recorded.path == replayed.path,
        is_same_answer=_words(recorded.answer) == _words(replayed.answer),
    )


def _present(outcome: TurnOutcome) -> ReplayedOutcome:
    return ReplayedOutcome.model_validate(outcome, from_attributes=True)


def _words(text: str) -> str:
    return " ".join(text.split()).casefold()
