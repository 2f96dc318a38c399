"""The platform as the simulated network reaches it: the same interfaces that carriers use."""

from collections.abc import Callable

from offhook.kit.database.database import Database
from offhook.runs import service as runs
from offhook.runs.live.calls import LiveCallRegistry
from offhook.telephony.calls.status_reports import CallReports
from offhook.telephony.media.admission import MediaAdmission
from offhook.telephony.media.leg import EventListener
from offhook.telephony.media.session import OpenMedia
from offhook.telephony.ports import DialRequest, StatusUpdate
from offhook.telephony.providers.sandbox import remote_media
from offhook.telephony.providers.sandbox.call_script import CallScript, read_script
from offhook.telephony.providers.sandbox.config import NAME
from offhook.voice.ports import CallResult
from offhook.workflows import service as workflows


class SandboxExchange:
    """Implements ``network.PlatformExchange``.

    In the serving process, the media path is a pipe to its own admission; in a job process it is the media socket of
    the server, found by ``find_server_url`` (its base address, or None when there is none).
    """

    def __init__(
        self,
        db: Database,
        admission: MediaAdmission,
        reports: CallReports,
        live: LiveCallRegistry,
        find_server_url: Callable[[], str | None],
    ) -> None:
        self._db = db
        self._admission = admission
        self._reports = reports
        self._live = live
        self._find_server_url = find_server_url
        self._is_remote = False

    async def use_remote_server(self) -> None:
        """Makes this process use the server's media socket for its phones, because it carries no voice itself."""
        self._is_remote = True

    async def start_ringing(self, run_id: int) -> None:
        await self._live.lease_ringing_run(run_id)

    def stop_ringing(self, run_id: int) -> None:
        self._live.stop_ringing(run_id)

    async def report_status(self, organization_id: int, run_id: int, update: StatusUpdate) -> bool:
        return await self._reports.report_status(organization_id, run_id, update)

    async def carry_media(
        self, organization_id: int, request: DialRequest, open_media: OpenMedia, listener: EventListener
    ) -> CallResult | None:
        if not self._is_remote:
            session = await self._admission.admit_call(request.run_id, request.media_token, NAME, listener)
            return await session.run(open_media)
        base = self._find_server_url()
        if base is None:
            raise remote_media.RemoteMediaFailed("No server runs here: set OFFHOOK_SERVER_URL to where it listens.")
        path = f"/api/v1/telephony/media/{NAME}/{request.run_id}/{request.media_token}"
        await remote_media.carry_remote(f"ws{base.rstrip('/').removeprefix('http')}{path}", open_media, listener)
        return None

    async def load_script(self, organization_id: int, run_id: int) -> CallScript:
        async with self._db.transaction() as session:
            run = await runs.get_run(session, organization_id, run_id)
            version = await workflows.version_to_run(session, organization_id, run.version_id)
        return read_script(version.definition)
