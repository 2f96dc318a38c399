"""Live calls whose stream has ended at a carrier that is controlled by requests: connected again, or left to end."""

from collections.abc import Awaitable, Callable

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Database
from offhook.runs import Run
from offhook.runs import service as runs
from offhook.runs.live import media_tokens
from offhook.runs.resuming.handovers import CallHandovers
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.accounts.public_urls import PublicAddress
from offhook.telephony.events import CallStreamEnded
from offhook.telephony.ports import CarrierAccount, CarrierFailed, CarrierRegistry, MediaReconnector
from offhook.telephony.webhooks.resumed_calls import MAX_ATTEMPTS

log = structlog.get_logger(__name__)


class CallReconnector:
    """Acts on :class:`CallStreamEnded`. ``has_joined`` returns whether the run's caller was connected to the
    destination of a transfer, where a stream ends too."""

    def __init__(
        self,
        db: Database,
        carriers: CarrierRegistry,
        accounts: CarrierAccounts,
        address: PublicAddress,
        handovers: CallHandovers,
        has_joined: Callable[[AsyncSession, Run], Awaitable[bool]],
    ) -> None:
        self._db = db
        self._carriers = carriers
        self._accounts = accounts
        self._address = address
        self._handovers = handovers
        self._has_joined = has_joined

    async def on_stream_ended(self, event: CallStreamEnded) -> None:
        """Connects the call again, unless our side or the caller ended it. An event that comes twice, or after the next
        stream, changes nothing."""
        attempt = self._address.media_attempt(event.run_id, event.media_url, MAX_ATTEMPTS) + 1
        async with self._db.transaction(event.organization_id) as session:
            run = await runs.get_run(session, event.organization_id, event.run_id)
            spec = self._carriers.find(run.mode)
            if spec is None or spec.calls.reconnector is None or run.call_id is None:
                return
            token = self._address.media_token(run.id, attempt)
            if await media_tokens.is_spent(session, run, token) or await self._has_joined(session, run):
                return
            account = await self._accounts.account_of_run(session, run)
        if attempt > MAX_ATTEMPTS:
            log.warning("call_not_resumed", run_id=run.id, attempts=attempt)
            return
        try:
            await self._connect_again(spec.calls.reconnector, account, run, run.call_id, attempt)
        except CarrierFailed as failure:
            log.warning("call_not_connected", run_id=run.id, code=failure.code)

    async def _connect_again(
        self, reconnector: MediaReconnector, account: CarrierAccount, run: Run, call_id: str, attempt: int
    ) -> None:
        async def has_caller() -> bool:
            return await reconnector.has_caller(account, call_id)

        if await self._handovers.decide(run.organization_id, run.id, confirm=has_caller) == "hang_up":
            return  # whoever ended the call hangs up
        token = self._address.media_token(run.id, attempt)
        async with self._db.transaction(run.organization_id) as session:
            await media_tokens.reissue_token(session, run, token)
        links = self._address.call_links(run.mode, run.id, token, attempt=attempt)
        await reconnector.reconnect_media(account, call_id, links, attempt)
        log.info("call_connected_again", run_id=run.id, attempt=attempt)
