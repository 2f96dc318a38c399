"""An organization's account at an emulated carrier: its configuration, its number, and where the carrier finds us."""

from sqlalchemy import func

from offhook.root import Root
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.ports import CarrierRegistry
from offhook.telephony.tables import PhoneNumber, TelephonyConfiguration
from offhook_lab.carriers import CarrierEmulator, ProxyTunnel

PUBLIC = "https://voice.example.org"
OURS, THEIRS, AGENT = "+14155550100", "+12125550199", "+12125550177"


def prepare(carrier: CarrierEmulator) -> None:
    """A number that leads to us, and as many calls as are wanted."""
    carrier.limits.calls_per_second = None
    carrier.limits.concurrent_calls = None
    carrier.add_number(OURS)
    carrier.point_at(f"{PUBLIC}/api/v1/telephony/inbound/run")


async def open_account(
    root: Root, organization_id: int, carrier: CarrierEmulator, workflow_id: int, server_url: str, number: str = OURS
) -> int:
    """The configuration's id; the carrier's number is answered by the agent. ``server_url``: where we really are."""
    carrier.callback_sender.tunnels.append(ProxyTunnel(PUBLIC, server_url))
    spec = root.get(CarrierRegistry).find(carrier.name)
    assert spec is not None
    assert spec.account.config is not None
    names = {field.name for field in spec.account.config.fields if "secret" in field.kind}
    secrets = {name: value for name, value in carrier.credentials.items() if name in names}
    plain = {name: value for name, value in carrier.credentials.items() if name not in names}
    async with root.db.transaction() as session:
        row = TelephonyConfiguration(
            organization_id=organization_id,
            name=carrier.name,
            provider=carrier.name,
            config={**plain, "max_concurrent_calls": 10, "amd_enabled": True},
            account_reference=spec.account.config.canonical_account(
                str(carrier.credentials[spec.account.config.account_field])
            ),
            verified_at=func.now(),
            secrets=root.get(CarrierAccounts).seal_secrets(organization_id, secrets),
        )
        session.add(row)
        await session.flush()
        session.add(
            PhoneNumber(
                organization_id=organization_id,
                telephony_configuration_id=row.id,
                address=number,
                address_normalized=number,
                address_type="pstn",
                country_code="US",
                inbound_workflow_id=workflow_id,
                is_default_caller_id=True,
            )
        )
        return row.id
