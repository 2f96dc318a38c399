"""An organization with an account at the fake carrier, and what that carrier sends us."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from httpx2 import AsyncClient, Response
from sqlalchemy import func

from offhook.root import Root
from offhook.runs import Run
from offhook.runs import service as runs
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.accounts.public_urls import PublicAddress
from offhook.telephony.tables import PhoneNumber, TelephonyConfiguration
from tests.fakes.carrier import NAME, FakeCarrier
from tests.fixtures_orgs import OrgFixture

BASE = "http://testserver/api/v1"
OURS = "+12015550150"
THEIRS = "+12015550199"
TOKEN = "s3cret-token"


@dataclass
class Account:
    """``number_id`` is a number whose agent is ``workflow_id``."""

    root: Root
    client: AsyncClient
    carrier: FakeCarrier
    org: OrgFixture
    workflow_id: int
    id: int
    number_id: int
    token: str = TOKEN
    reference: str = "acme"
    sent: list[Response] = field(default_factory=list)

    async def says(
        self,
        path: str,
        body: Mapping[str, Any] | bytes,
        *,
        token: str | None = None,
        nonce: str | None = None,
        **more: Any,
    ) -> Response:
        """A signed request of the carrier to a path under ``/telephony``; ``headers`` are added last. The addresses of
        runs are completed by the run's secret, as the carrier got them, unless they have a query."""
        if (run := re.fullmatch(r"/fakecom/events/(\d+)", path)) is not None:
            path = f"{path}?token={self.root.get(PublicAddress).run_secret(int(run[1]))}"
        raw, headers = self.carrier.signed(f"{BASE}/telephony{path}", body, token or self.token, nonce)
        headers |= more.pop("headers", {})
        return await self.client.post(
            f"/telephony{path}", content=raw, headers={"Content-Type": "application/json", **headers}, **more
        )

    async def calls_in(
        self, call_id: str = "IN1", *, to: str = OURS, path: str = "/inbound/run", **more: Any
    ) -> Response:
        body = {"account": self.reference, "direction": "inbound", "call_id": call_id, "from": THEIRS, "to": to}
        return await self.says(path, body, **more)

    async def dial(self) -> int:
        body = {"workflow_id": self.workflow_id, "phone_number": THEIRS, "telephony_configuration_id": self.id}
        answer = await self.client.post("/telephony/initiate-call", json=body, headers=self.org.owner_headers)
        assert answer.status_code == 200, answer.text
        return int(answer.json()["workflow_run_id"])

    async def run(self, run_id: int) -> Run:
        async with self.root.db.transaction() as session:
            return await runs.get_run(session, self.org.id, run_id)

    async def runs(self) -> list[dict[str, Any]]:
        answer = await self.client.get(f"/workflow/{self.workflow_id}/runs", headers=self.org.owner_headers)
        return list(answer.json()["runs"])

    async def refusals(self) -> list[dict[str, Any]]:
        answer = await self.client.get("/telephony/refused-calls", headers=self.org.owner_headers)
        return list(answer.json()["refused_calls"])


async def make_account(
    root: Root,
    client: AsyncClient,
    carrier: FakeCarrier,
    org: OrgFixture,
    workflow_id: int,
    *,
    token: str = TOKEN,
    reference: str = "acme",
    number: str = OURS,
    is_verified: bool = True,
) -> Account:
    async with root.db.transaction() as session:
        row = TelephonyConfiguration(
            organization_id=org.id,
            name=f"Fakecom {reference}",
            provider=NAME,
            config={"account": reference},
            account_reference=reference,
            verified_at=func.now() if is_verified else None,
            secrets=root.get(CarrierAccounts).seal_secrets(org.id, {"token": token}),
        )
        session.add(row)
        await session.flush()
        line = PhoneNumber(
            organization_id=org.id,
            telephony_configuration_id=row.id,
            address=number,
            address_normalized=number,
            address_type="pstn",
            country_code="US",
            inbound_workflow_id=workflow_id,
        )
        session.add(line)
        await session.flush()
        return Account(root, client, carrier, org, workflow_id, row.id, line.id, token, reference)


def spoken(answer: Response) -> str:
    """What the caller of an inbound call hears; fails when the call was connected."""
    found: str = json.loads(answer.content)["say"]
    return found
