"""Superuser endpoints of the voice packs on this machine."""

from typing import Annotated

from fastapi import Path, Query

from offhook.kit.database.database import Session
from offhook.kit.http.openapi import error_responses
from offhook.kit.http.routing import Router
from offhook.models.services import Services
from offhook.models.voice_packs.schemas import (
    InstallPackRequest,
    PackContent,
    PackRemoved,
    PutMirrorsRequest,
    VoicePacksResponse,
)
from offhook.orgs import RequireSuperuser

router = Router(prefix="/superuser/voice-packs", tags=["voice packs"])

PackName = Annotated[str, Path(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]


@router.get("", response_model=VoicePacksResponse, operation_id="list_voice_packs")
async def list_voice_packs(caller: RequireSuperuser, session: Session, models: Services) -> VoicePacksResponse:
    """Lists the packs on this machine, including unfinished ones, and the running installation. Does not contact a
    mirror."""
    return VoicePacksResponse.of(await models.voice_packs.describe(session))


@router.put("/mirrors", response_model=VoicePacksResponse, operation_id="put_voice_mirrors")
async def put_voice_mirrors(
    body: PutMirrorsRequest, caller: RequireSuperuser, session: Session, models: Services
) -> VoicePacksResponse:
    """Replaces the addresses that packs come from, for the entire installation."""
    await models.voice_packs.replace_mirrors(session, caller, body.addresses)
    return VoicePacksResponse.of(await models.voice_packs.describe(session))


@router.get("/offer", response_model=PackContent, responses=error_responses(502), operation_id="get_voice_pack_offer")
async def get_voice_pack_offer(caller: RequireSuperuser, models: Services) -> PackContent:
    """Asks the mirrors which pack they have, with its size and licenses."""
    return PackContent.of(await models.voice_packs.load_offer())


@router.post(
    "/installation",
    status_code=202,
    response_model=VoicePacksResponse,
    responses=error_responses(502, 507),
    operation_id="start_voice_pack_installation",
)
async def start_voice_pack_installation(
    body: InstallPackRequest, caller: RequireSuperuser, models: Services
) -> VoicePacksResponse:
    """Starts installing the mirrors' pack on this machine, from where an earlier installation stopped. It runs in the
    background; `GET` shows its progress."""
    return VoicePacksResponse.of(await models.voice_packs.start_installation(caller, body.digest))


@router.delete("/installation", response_model=VoicePacksResponse, operation_id="cancel_voice_pack_installation")
async def cancel_voice_pack_installation(
    caller: RequireSuperuser, session: Session, models: Services
) -> VoicePacksResponse:
    """Stops the installation. Downloaded files are kept for the next one."""
    await models.voice_packs.cancel_installation(session, caller)
    return VoicePacksResponse.of(await models.voice_packs.describe(session))


@router.delete("/{name}", response_model=PackRemoved, responses=error_responses(507), operation_id="remove_voice_pack")
async def remove_voice_pack(
    name: PackName,
    caller: RequireSuperuser,
    session: Session,
    models: Services,
    unfinished_only: Annotated[
        bool, Query(description="Only the downloaded files of an unfinished installation")
    ] = False,
) -> PackRemoved:
    """Removes a pack from this machine. Calls that already use it keep it; others get their fallback."""
    freed = await models.voice_packs.remove_pack(session, caller, name, is_unfinished_only=unfinished_only)
    return PackRemoved(name=name, freed_bytes=freed)
