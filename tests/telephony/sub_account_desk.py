"""The platform's account at an emulated carrier with sub-accounts, organizations that buy there, and an operator."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from httpx2 import ASGITransport, AsyncClient, Response
from pydantic import SecretStr
from sqlalchemy import text

from offhook.root import Root
from offhook.settings import Settings
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.accounts.sub_accounts import SubAccounts
from offhook.telephony.ports import CarrierAccount
from offhook.telephony.services import TelephonyServices
from offhook_lab.carriers import OutgoingCallback
from offhook_lab.carriers.core.sub_accounts import EmulatedSubAccount, SubAccountEmulator
from tests.fixtures_orgs import OrgFixture
from tests.telephony.sub_account_wires import Wire


@dataclass
class Carrier:
    """A carrier, whose requests reach the application that is put into ``apps``."""

    wire: Wire
    apps: list[FastAPI] = field(default_factory=list)
    emulator: SubAccountEmulator = field(init=False)

    def __post_init__(self) -> None:
        self.emulator = self.wire.build()

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Carrier"]:
        async def app(scope: Any, receive: Any, send: Any) -> None:
            await self.apps[-1](scope, receive, send)

        self.emulator.callback_sender.transport = ASGITransport(
            app=app, raise_app_exceptions=False, client=("127.0.0.1", 4000)
        )
        self.emulator.limits.calls_per_second = self.emulator.limits.requests_per_second = None
        async with self.emulator.running():
            yield self

    def settings(self, data_dir: Path) -> Settings:
        return Settings(
            data_dir=data_dir,
            public_url="http://testserver",
            platform_carrier=self.emulator.name,
            platform_carrier_account=SecretStr(json.dumps({**self.emulator.credentials, "amd_enabled": True})),
            carrier_urls={self.emulator.name: self.emulator.base_url},
        )


@dataclass
class Desk:
    root: Root
    client: AsyncClient
    carrier: SubAccountEmulator
    wire: Wire
    boss: dict[str, str]

    @property
    def service(self) -> SubAccounts:
        return self.root.get(TelephonyServices).sub_accounts

    async def switch(self, *, is_on: bool = True) -> Response:
        body = {"uses_sub_accounts": is_on}
        return await self.client.request("PATCH", "/superuser/managed-carrier", json=body, headers=self.boss)

    async def buy(self, org: OrgFixture, workflow_id: int | None = None, number: str | None = None) -> Response:
        body = {"mode": "new", "workflow_id": workflow_id, "phone_number": number}
        return await self.client.post("/telephony/quick-connect", json=body, headers=org.owner_headers)

    async def for_sale(self, org: OrgFixture) -> list[str]:
        found = await self.client.get("/telephony/available-numbers?country=US", headers=org.owner_headers)
        return [one["phone_number"] for one in found.json()["numbers"]]

    async def release(self, org: OrgFixture, bought: Response) -> None:
        path = f"/telephony/managed-numbers/{bought.json()['phone_number_id']}"
        assert (await self.client.delete(path, headers=org.owner_headers)).status_code == 204

    def owner_of(self, bought: Response) -> str:
        """The account that has the number at the carrier."""
        return self.carrier.account_of_number(bought.json()["phone_number"])

    def sub_account_of(self, bought: Response) -> EmulatedSubAccount:
        return self.carrier.sub_accounts[self.owner_of(bought)]

    async def accounts(self, org: OrgFixture) -> list[dict[str, Any]]:
        """The organization's accounts with their masked fields, as its owner sees them."""
        listed = await self.client.get("/organizations/telephony-configs", headers=org.owner_headers)
        path = "/organizations/telephony-configs"
        return [
            (await self.client.get(f"{path}/{row['id']}", headers=org.owner_headers)).json()
            for row in listed.json()["configurations"]
            if row["is_managed"]
        ]

    async def opened(self, org: OrgFixture, configuration_id: int) -> CarrierAccount:
        async with self.root.db.transaction() as session:
            return await self.root.get(CarrierAccounts).account_for(session, org.id, configuration_id=configuration_id)

    async def listed(self) -> list[dict[str, Any]]:
        """The sub-accounts that the operator sees."""
        answer = await self.client.get("/superuser/managed-carrier/sub-accounts", headers=self.boss)
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()
        return found

    async def rows(self, query: str, **values: Any) -> list[Any]:
        async with self.root.db.transaction() as session:
            return list((await session.execute(text(query), values)).all())

    async def audited(self, org: OrgFixture) -> list[str]:
        query = (
            "SELECT action FROM audit_entries WHERE organization_id = :id AND action LIKE 'carrier_sub%' ORDER BY id"
        )
        return [row[0] for row in await self.rows(query, id=org.id)]

    async def send(self, callback: OutgoingCallback, headers: dict[str, str]) -> Response:
        return await self.client.request(
            callback.method,
            callback.url,
            content=callback.body,
            headers={"Content-Type": callback.content_type, **headers},
        )
