"""The door of the media path: a single-use token opens it for one run, and nothing happens before that."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final

from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Database
from offhook.kit.database.group_commit import GroupCommit
from offhook.runs import service as runs
from offhook.runs.errors import RunNotConnectable
from offhook.runs.live import leases, media_tokens
from offhook.runs.live.calls import LiveCall, LiveCallRegistry
from offhook.telephony.accounts.credentials import SANDBOX
from offhook.telephony.calls.status_reports import CallReports
from offhook.telephony.errors import CarrierUnknown
from offhook.telephony.media.carrier_signals import CarrierCallControl
from offhook.telephony.media.session import START_TIMEOUT_S, EventListener, MediaLeg, OpenMedia, carry_media
from offhook.telephony.ports import CarrierRegistry, CarrierSpec, DialRequest, StatusUpdate
from offhook.telephony.providers.sandbox import remote_media, repository
from offhook.telephony.providers.sandbox.call_script import CallScript, read_script
from offhook.telephony.providers.sandbox.network import CallRecord
from offhook.voice.ports import CallResult
from offhook.workflows import service as workflows

# How long a phone may ring at a carrier that connects the media before it is answered.
RING_TIMEOUT_S: Final = 650.0


@dataclass(frozen=True, slots=True)
class AdmittedCall:
    """A media connection whose token was right and is now spent."""

    organization_id: int
    run_id: int
    spec: CarrierSpec


class MediaAdmission:
    """``claim`` first, then ``carry_media``: between the two a websocket is accepted."""

    def __init__(
        self,
        db: Database,
        carriers: CarrierRegistry,
        live: LiveCallRegistry,
        reports: CallReports,
        line: CarrierCallControl,
    ) -> None:
        self._db = db
        self._carriers = carriers
        self._live = live
        self._reports = reports
        self._line = line

    async def claim_token(self, run_id: int, token: str, provider: str) -> AdmittedCall:
        """Spend the token. CarrierUnknown (404) or MediaTokenRefused (401), and then nothing was changed."""
        spec = self._carriers.find(provider)
        if spec is None or spec.wire is None:
            raise CarrierUnknown
        async with self._db.transaction() as session:
            run = await media_tokens.claim_token(session, token, run_id=run_id, mode=provider)
        return AdmittedCall(run.organization_id, run.id, spec)

    async def carry_call(
        self, admission: AdmittedCall, open_media: OpenMedia, listener: EventListener | None = None
    ) -> CallResult | None:
        """Carry the admitted call to its end; a run whose media never came to be is over and has failed.

        Not so where the media comes before the answer: that it never began is then the carrier's to explain. A second
        socket of a run that another one carries is closed, and changes nothing.
        """
        spec = admission.spec
        assert spec.wire is not None
        is_told_otherwise = spec.has_early_media
        has_begun = False
        heard = ExitStack()

        async def connect_leg(leg: MediaLeg) -> LiveCall:
            nonlocal is_told_otherwise, has_begun
            has_begun = True
            try:
                call = await self._live.connect_leg(admission.run_id, leg)
            except RunNotConnectable:
                is_told_otherwise = True
                raise
            is_told_otherwise = False
            heard.enter_context(self._line.listen_while_live(spec, admission.organization_id, admission.run_id, leg))
            return call

        result = None
        try:
            within_s = RING_TIMEOUT_S if spec.has_early_media else START_TIMEOUT_S
            with heard:
                result = await carry_media(
                    open_media, spec.wire(), connect_leg, listener=listener, start_within_s=within_s
                )
        finally:
            if not has_begun and not is_told_otherwise:
                is_told_otherwise = await self._is_carried(admission)
            if result is not None or not is_told_otherwise:
                await self._line.end_call(spec, admission.organization_id, admission.run_id, result)
            if result is None and not is_told_otherwise:
                update = StatusUpdate("failed", end_reason="media_lost")
                await self._reports.report_status(admission.organization_id, admission.run_id, update)
        return result

    async def _is_carried(self, admission: AdmittedCall) -> bool:
        """By another socket than the one that never began."""
        async with self._db.transaction() as session:
            return await leases.is_carried(session, admission.organization_id, admission.run_id)


class SandboxExchange:
    """The platform as the sandbox's network reaches it: the same doors that carriers use.

    In the process that serves, the media path is a pipe to its own gate; in a job process it is the media socket of the
    server, found by ``server`` (its base address, or None when there is none).
    """

    def __init__(
        self,
        db: Database,
        gate: MediaAdmission,
        reports: CallReports,
        live: LiveCallRegistry,
        server: Callable[[], str | None],
    ) -> None:
        self._db = db
        self._gate = gate
        self._reports = reports
        self._live = live
        self._server = server
        self._is_remote = False

    async def use_remote_server(self) -> None:
        """This process carries no voices: its phones call the server's socket."""
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
            admission = await self._gate.claim_token(request.run_id, request.media_token, SANDBOX)
            return await self._gate.carry_call(admission, open_media, listener)
        base = self._server()
        if base is None:
            raise remote_media.RemoteMediaFailed("No server runs here: set OFFHOOK_SERVER_URL to where it listens.")
        path = f"/api/v1/telephony/media/{SANDBOX}/{request.run_id}/{request.media_token}"
        await remote_media.carry_remote(f"ws{base.rstrip('/').removeprefix('http')}{path}", open_media, listener)
        return None

    async def load_script(self, organization_id: int, run_id: int) -> CallScript:
        async with self._db.transaction() as session:
            run = await runs.get_run(session, organization_id, run_id)
            version = await workflows.version_to_run(session, organization_id, run.version_id)
        return read_script(version.definition)


class SandboxCallLog:
    """Implements the sandbox network's ``CallLog`` in the database. What is written at the same time is one transaction;
    each entry is durable before its phone rings."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._writing: GroupCommit[CallRecord, None] = GroupCommit(self._write_batch)
        self._ending: GroupCommit[tuple[str, str], None] = GroupCommit(self._end_batch)

    async def record_call(self, record: CallRecord) -> None:
        await self._writing.submit(record)

    async def record_end(self, call_id: str, status: str) -> None:
        await self._ending.submit((call_id, status))

    async def find_by_run(self, organization_id: int, run_id: int) -> CallRecord | None:
        async with _book_transaction(self._db) as session:
            return await repository.find_sandbox_call(session, organization_id, run_id)

    async def _write_batch(self, records: Sequence[CallRecord]) -> list[None]:
        async with _book_transaction(self._db) as session:
            await repository.write_sandbox_calls(session, records)
        return [None] * len(records)

    async def _end_batch(self, calls: Sequence[tuple[str, str]]) -> list[None]:
        async with _book_transaction(self._db) as session:
            await repository.end_sandbox_calls(session, calls)
        return [None] * len(calls)


@asynccontextmanager
async def _book_transaction(db: Database) -> AsyncIterator[AsyncSession]:
    try:
        async with db.transaction() as session:
            yield session
    except (DBAPIError, OSError) as error:
        raise ConnectionError(type(error).__name__) from None
