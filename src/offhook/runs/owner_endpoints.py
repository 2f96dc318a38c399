"""Answers other processes of the installation: whether this one carries a call. Needs no database."""

from fastapi import Request, Response

from offhook.kit.http.path_ids import LongId
from offhook.kit.http.routing import Router
from offhook.runs.resuming.call_owners import PATH, is_owner_token
from offhook.runs.services import Services

router = Router()


@router.get(f"{PATH}/{{run_id}}/{{token}}", status_code=204, response_model=None, include_in_schema=False)
async def answer_whether_call_is_carried(run_id: LongId, token: str, request: Request, services: Services) -> Response:
    """Returns 204 for a call of this process, and 404 for others and without the right token."""
    is_asked = is_owner_token(services.keyring, request.app.state.root.node_id, run_id, token)
    return Response(status_code=204 if is_asked and services.live.slots.holds(run_id) else 404)
