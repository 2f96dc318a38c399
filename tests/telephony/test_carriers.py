"""What the platform derives from the list of its carriers."""

from pathlib import Path

import pytest
from httpx2 import AsyncClient

from offhook.bootstrap import build_root
from offhook.root import Root
from offhook.settings import Settings, SettingsError
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.ports import CarrierRegistry
from tests.fixtures_orgs import OrgFixture
from tests.telephony.conftest import Agent


async def test_every_carrier_is_a_mode_of_runs(root: Root, client: AsyncClient, org: OrgFixture, agent: Agent) -> None:
    url, headers = f"/workflow/{agent.id}/runs", org.headers_for("member")
    for name in root.get(CarrierRegistry).names:
        made = await client.post(url, json={"mode": name}, headers=headers)
        assert (made.status_code, made.json()["mode"]) == (200, name)
    refused = await client.post(url, json={"mode": "pigeon"}, headers=headers)
    assert refused.status_code == 422
    assert refused.json()["code"] == "unknown_mode"


def test_the_platform_buys_of_the_built_in_carrier_unless_another_is_set(root: Root) -> None:
    assert root.get(CarrierAccounts).platform_carrier == root.get(CarrierRegistry).built_in.name


@pytest.mark.parametrize("name", ["pigeon", "cloudonix"])
def test_the_platforms_carrier_sells_numbers(name: str, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, platform_carrier=name)
    with pytest.raises(SettingsError, match=r"OFFHOOK_PLATFORM_CARRIER must be one of: .*twilio"):
        build_root(settings, "postgresql+asyncpg://nobody@localhost/none")
