"""The organization whose number is called in the cluster bench, and what the database says about its runs."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import func, text

from offhook.bootstrap import build_root
from offhook.kit.database import migrations
from offhook.orgs import Caller
from offhook.orgs import service as orgs
from offhook.root import Root
from offhook.settings import Settings
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.ports import CarrierRegistry
from offhook.telephony.tables import PhoneNumber, TelephonyConfiguration
from offhook.workflows import publication, service
from offhook.workflows.ports import NoTools
from offhook_lab.carriers import TwilioEmulator

CALLED: Final = "+14155550100"
_NODE: Final[dict[str, Any]] = {
    "id": "start",
    "type": "startCall",
    "position": {"x": 0, "y": 0},
    "data": {
        "name": "Start",
        "prompt": "Take the order.",
        "greeting": "Hello, what can I do for you today?",
        "allow_interrupt": True,
    },
}


@dataclass
class Tenant:
    root: Root
    organization_id: int
    workflow_id: int
    key: str

    async def runs(self, ids: Sequence[int]) -> list[Any]:
        return await self.rows(
            "SELECT id, status, outcome, end_reason FROM runs WHERE organization_id = :org AND id = ANY(:ids) ORDER BY id",
            org=self.organization_id,
            ids=list(ids),
        )

    async def live_runs(self) -> int:
        found = await self.rows(
            "SELECT count(*) AS n FROM runs WHERE organization_id = :org"
            " AND status IN ('initiated', 'ringing', 'in_progress')",
            org=self.organization_id,
        )
        return int(found[0].n)

    async def rows(self, query: str, **values: Any) -> list[Any]:
        async with self.root.db.transaction() as session:
            return list((await session.execute(text(query), values)).all())


@asynccontextmanager
async def make_tenant(
    folder: Path, database_url: str, environment: dict[str, str], carrier: TwilioEmulator
) -> AsyncIterator[Tenant]:
    """Migrates the database and creates an organization whose number is answered by an agent."""
    settings = Settings(
        data_dir=folder / "bench",
        secret_key=environment["OFFHOOK_SECRET_KEY"],
        public_url=environment["OFFHOOK_PUBLIC_URL"],
        carrier_urls={"twilio": carrier.base_url},
    )
    root = build_root(settings, database_url)
    try:
        await migrations.upgrade_database(root.db, lambda _: None)
        async with root.db.transaction() as session:
            organization_id = await orgs.create_organization(session, "Cluster")
            key = (await orgs.create_key(session, organization_id=organization_id, name="bench", role="admin")).key
            caller = Caller.system(organization_id, role="owner")
            agent = await service.create_workflow(session, caller, "Orders", {"nodes": [_NODE], "edges": []})
            await publication.publish_draft(session, NoTools(), caller, agent.id)
        tenant = Tenant(root, organization_id, agent.id, key)
        await _open_account(tenant, carrier)
        yield tenant
    finally:
        await root.db.dispose()


async def _open_account(tenant: Tenant, carrier: TwilioEmulator) -> None:
    spec = tenant.root.get(CarrierRegistry).find(carrier.name)
    assert spec is not None
    assert spec.account.config is not None
    secret = {field.name for field in spec.account.config.fields if "secret" in field.kind}
    sealed = {name: value for name, value in carrier.credentials.items() if name in secret}
    plain = {name: value for name, value in carrier.credentials.items() if name not in secret}
    accounts = tenant.root.get(CarrierAccounts)
    async with tenant.root.db.transaction() as session:
        row = TelephonyConfiguration(
            organization_id=tenant.organization_id,
            name=carrier.name,
            provider=carrier.name,
            config=plain,
            account_reference=spec.account.config.canonical_account(
                str(carrier.credentials[spec.account.config.account_field])
            ),
            verified_at=func.now(),
            secrets=accounts.seal_secrets(tenant.organization_id, sealed),
        )
        session.add(row)
        await session.flush()
        session.add(
            PhoneNumber(
                organization_id=tenant.organization_id,
                telephony_configuration_id=row.id,
                address=CALLED,
                address_normalized=CALLED,
                address_type="pstn",
                country_code="US",
                inbound_workflow_id=tenant.workflow_id,
                is_default_caller_id=True,
            )
        )
