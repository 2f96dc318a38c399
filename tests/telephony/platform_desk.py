"""The whole platform without a port, and one emulated carrier whose signed requests reach it. Its media sockets find
somebody who says nothing."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from httpx2 import ASGITransport, AsyncClient, Response
from sqlalchemy import text
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from offhook.bootstrap import build_root, stop_domains
from offhook.orgs import Caller
from offhook.orgs import service as orgs
from offhook.root import Root
from offhook.settings import Settings
from offhook.telephony.events import CallEnded
from offhook.workflows import publication, service
from offhook.workflows.ports import NoTools
from offhook_lab.carriers import CarrierEmulator, EmulatedCall, OutgoingCallback, phones
from offhook_lab.carriers.core.callbacks import route_through
from tests.applications import lend_application
from tests.calls.carrier_desk import PUBLIC, THEIRS, open_account, prepare
from tests.telephony.emulator_desk import EMULATORS
from tests.voice.phone import simple_agent

# Long enough for what a carrier says of a machine.
SCRIPT = phones.hangs_up_after(2.0).script
ONE_WHO_HANGS_UP = phones.PhonePlan(script=SCRIPT, verdict="human", verdict_s=0.0)
MACHINE = phones.PhonePlan(script=SCRIPT, verdict="machine", verdict_s=0.0)


@dataclass
class Platform:
    """``ended``: the calls whose end was told to the domains above."""

    root: Root
    app: FastAPI
    client: AsyncClient
    carrier: CarrierEmulator
    organization_id: int = 0
    workflow_id: int = 0
    configuration_id: int = 0
    real_url: str = ""
    ended: list[CallEnded] = field(default_factory=list)

    async def organization(self, name: str, carrier: CarrierEmulator | None = None) -> tuple[int, int, dict[str, str]]:
        """(organization, its agent, the headers that act for it)."""
        async with self.root.db.transaction() as session:
            organization_id = await orgs.create_organization(session, name)
            key = (await orgs.create_key(session, organization_id=organization_id, name="Test")).key
            caller = Caller.system(organization_id, role="owner")
            agent = await service.create_workflow(session, caller, "Agent", simple_agent())
            await publication.publish_draft(session, NoTools(), caller, agent.id)
        return organization_id, agent.id, {"X-API-Key": key}

    async def dial(self, number: str = THEIRS) -> tuple[int, EmulatedCall | None]:
        """(run, the emulator's call), placed."""
        body = {
            "workflow_id": self.workflow_id,
            "phone_number": number,
            "telephony_configuration_id": self.configuration_id,
        }
        answer = await self.client.post("/telephony/initiate-call", json=body)
        assert answer.status_code == 200, answer.text
        said = answer.json()
        return said["workflow_run_id"], self.carrier.find_call(said["call_id"]) if said["call_id"] else None

    async def held_of(self, *, plan: phones.PhonePlan, calls: int) -> list[tuple[int, list[OutgoingCallback]]]:
        """Place so many calls to a phone and keep what the carrier says of them: (run, callbacks)."""
        self.carrier.chaos.holds_callbacks = True
        self.carrier.phones[THEIRS] = plan
        places = asyncio.Semaphore(16)

        async def one() -> tuple[int, EmulatedCall | None]:
            async with places:
                return await self.dial()

        placed = await asyncio.gather(*(one() for _ in range(calls)))
        for _, call in placed:
            assert call is not None
            async with asyncio.timeout(60):
                await call.ended.wait()
        await self.carrier.wait_settled(60)
        held: dict[str, list[OutgoingCallback]] = {}
        for callback in self.carrier.held_callbacks:
            held.setdefault(callback.call_id, []).append(callback)
        return [(run_id, held[call.id]) for run_id, call in placed if call is not None]

    async def send(
        self,
        callback: OutgoingCallback,
        *,
        url: str | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        through_proxy: str = "127.0.0.1",
    ) -> Response:
        """The carrier's request once more, with something changed after it was signed. ``headers`` are added last."""
        address, forwarded = route_through(self.carrier.callback_sender.tunnels, url or callback.url)
        transport = ASGITransport(app=self.app, raise_app_exceptions=False, client=(through_proxy, 4002))
        async with AsyncClient(transport=transport) as client:
            return await client.request(
                callback.method,
                address,
                content=callback.body if body is None else body,
                headers={"Content-Type": callback.content_type, **callback.headers, **forwarded, **(headers or {})},
            )

    async def rows(self, query: str, **values: Any) -> list[Any]:
        async with self.root.db.transaction() as session:
            return list((await session.execute(text(query), values)).all())

    async def state(self) -> dict[str, list[Any]]:
        """Everything that a request about a call may change."""
        tables = {
            "runs": "id, status, outcome, end_reason, call_id, gathered_context, ended_at, cost_cents",
            "run_events": "run_id, seq, type",
            "run_usage": "run_id, cost_cents",
            "ledger_entries": "id",
            "refused_calls": "id",
            "seen_webhooks": "nonce_sha256",
        }
        return {
            name: sorted(await self.rows(f"SELECT {columns} FROM {name}"), key=repr) for name, columns in tables.items()
        }


@asynccontextmanager
async def platform_of(name: str, database_url: str, data_dir: Path) -> AsyncIterator[Platform]:
    """The platform with an account at this carrier and an agent that answers its number."""
    carrier = EMULATORS[name]()
    holder: list[FastAPI] = []

    async def app_of(scope: Any, receive: Any, send: Any) -> None:
        await holder[0](scope, receive, send)

    carrier.callback_sender.transport = ASGITransport(
        app=app_of, raise_app_exceptions=False, client=("127.0.0.1", 4000)
    )

    async def listens(socket: ServerConnection) -> None:
        with suppress(ConnectionClosed):
            async for _ in socket:  # whoever does not read does not hear the goodbye either, which is waited for
                pass

    async with serve(listens, "127.0.0.1", 0) as media, carrier.running(), AsyncExitStack() as stack:
        prepare(carrier)
        settings = Settings(
            trusted_proxies="127.0.0.1",
            data_dir=data_dir,
            public_url=PUBLIC,
            carrier_urls={name: carrier.base_url},
            org_concurrency_limit=1000,
        )
        root = build_root(settings, database_url)
        app = stack.enter_context(lend_application(root))
        holder.append(app)
        transport = ASGITransport(app=app, raise_app_exceptions=False, client=("127.0.0.1", 4001))
        client = AsyncClient(transport=transport, base_url="http://testserver/api/v1", timeout=60)
        async with app.router.lifespan_context(app), client:
            platform = Platform(root, app, client, carrier)

            async def keep(event: CallEnded) -> None:
                platform.ended.append(event)

            root.events.subscribe(CallEnded, keep)
            platform.organization_id, platform.workflow_id, headers = await platform.organization("Acme")
            client.headers.update(headers)
            platform.configuration_id = await open_account(
                root,
                platform.organization_id,
                carrier,
                platform.workflow_id,
                f"http://127.0.0.1:{next(iter(media.sockets)).getsockname()[1]}",
            )
            yield platform
        await stop_domains(root)
        await root.db.dispose()
