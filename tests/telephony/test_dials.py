"""What monitors see of dials."""

from prometheus_client import REGISTRY

from offhook.telephony.ports import CarrierFailed
from tests.telephony.fakecom import THEIRS, Account


async def test_dials_are_counted_by_carrier_and_result(account: Account) -> None:
    def count(result: str) -> float:
        return REGISTRY.get_sample_value("offhook_dials_total", {"carrier": "fakecom", "result": result}) or 0.0

    before = count("accepted"), count("insufficient_funds")
    await account.dial()
    account.carrier.refuses["dial"] = CarrierFailed("insufficient_funds", "No money.", retryable=False)
    body = {"workflow_id": account.workflow_id, "phone_number": THEIRS, "telephony_configuration_id": account.id}
    refused = await account.client.post("/telephony/initiate-call", json=body, headers=account.org.owner_headers)
    assert refused.status_code == 502
    assert (count("accepted") - before[0], count("insufficient_funds") - before[1]) == (1, 1)
