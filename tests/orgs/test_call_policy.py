"""Where calls may go: the rules against a second implementation, and the endpoints."""

import random
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import pytest
from httpx2 import AsyncClient, Response

from offhook.orgs.call_policy.rules import CallPolicy, judge_destination
from tests.fixtures_orgs import OrgFixture

POLICY: Final = "/organizations/call-policy"
BLOCKED: Final = "/organizations/blocked-callers"


@dataclass(frozen=True)
class Range:
    """Numbers that begin alike: how many digits follow, whose they are, and what is known of them."""

    prefix: str
    digits: int
    country: str | None
    nature: str = "ordinary"


# From the published numbering plans, by hand: not from the library that the product asks.
RANGES: Final = (
    Range("+1212555", 4, "US"),
    Range("+1415555", 4, "US"),
    Range("+1416555", 4, "CA"),
    Range("+1809555", 4, "DO"),
    Range("+1876555", 4, "JM"),
    Range("+1900555", 4, "US", "premium"),
    Range("+1976555", 4, "US", "premium"),
    Range("+1800555", 4, "US"),
    Range("+4420794601", 2, "GB"),
    Range("+4477009001", 2, "GB"),
    Range("+44909879", 4, "GB", "premium"),
    Range("+447011200", 3, "GB", "personal"),
    Range("+4930123", 5, "DE"),
    Range("+4915112345", 3, "DE"),
    Range("+49900123", 4, "DE", "premium"),
    Range("+331234567", 2, "FR"),
    Range("+3389912345", 1, "FR", "premium"),
    Range("+41900123", 3, "CH", "premium"),
    Range("+4121123", 4, "CH"),
    Range("+4721123", 3, "NO"),
    Range("+8131234", 4, "JP"),
    Range("+6129374", 4, "AU"),
    Range("+5511961", 6, "BR"),
    Range("+2392221", 3, "ST", "high_risk"),
    Range("+2526151", 5, "SO", "high_risk"),
    Range("+535123", 4, "CU", "high_risk"),
    Range("+6857234", 3, "WS", "high_risk"),
    Range("+24722", 3, "AC", "high_risk"),
    Range("+8816315", 5, None, "satellite"),
    Range("+88213300", 6, None, "satellite"),
    Range("+870773", 6, None, "satellite"),
    Range("+883510", 9, None, "satellite"),
)
COUNTRIES: Final = sorted({one.country for one in RANGES if one.country is not None})


def expected_refusal(where: Range, policy: CallPolicy) -> str | None:
    """The second implementation: what each nature of number needs, written as a table of gates."""
    named = policy.countries is not None and where.country in policy.countries
    gates = {
        "ordinary": (),
        "premium": (("premium", policy.allows_premium),),
        "satellite": (("satellite", policy.allows_satellite),),
        "high_risk": (("high_risk", policy.allows_high_risk or named),),
        "personal": (("high_risk", policy.allows_high_risk),),
    }[where.nature]
    in_reach = ("country", policy.countries is None or where.country is None or named)
    # What a number is comes before where it is, except for the risk of its country.
    order = [*gates, in_reach] if where.nature in {"premium", "satellite"} else [in_reach, *gates]
    return next((reason for reason, is_open in order if not is_open), None)


def check_cases(seed: int, count: int) -> None:
    dice = random.Random(seed)
    wrong = []
    for _ in range(count):
        where = dice.choice(RANGES)
        number = where.prefix + "".join(dice.choice("0123456789") for _ in range(where.digits))
        countries = None if dice.random() < 0.4 else frozenset(dice.sample(COUNTRIES, dice.randrange(len(COUNTRIES))))
        policy = CallPolicy(
            countries,
            allows_premium=dice.random() < 0.4,
            allows_satellite=dice.random() < 0.4,
            allows_high_risk=dice.random() < 0.4,
        )
        found = judge_destination(policy, number).refusal
        if found != expected_refusal(where, policy):
            wrong.append((number, policy, found, expected_refusal(where, policy)))
    assert wrong[:3] == []


def test_ten_thousand_cases_against_a_second_implementation() -> None:
    check_cases(1, 10_000)


# Two minutes of work, and other tests run beside.
@pytest.mark.timeout(900)
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_a_million_cases(seed: int) -> None:
    check_cases(seed, 100_000)


@pytest.mark.parametrize("number", ["", "12015550101", "+1", "+", "+999123456789", "+1 201 555 0101", "sip:bob@x.org"])
def test_what_is_no_number_goes_nowhere(number: str) -> None:
    everything = CallPolicy(None, allows_premium=True, allows_satellite=True, allows_high_risk=True)
    assert judge_destination(everything, number).refusal == "invalid_number"


class TestOverHttp:
    async def put(self, client: AsyncClient, org: OrgFixture, role: str = "admin", **body: object) -> Response:
        return await client.put(POLICY, json=body, headers=org.headers_for(role))

    async def test_it_is_closed_to_fraud_by_default(self, client: AsyncClient, org: OrgFixture) -> None:
        shown = await client.get(POLICY, headers=org.headers_for("viewer"))
        assert shown.json() == {
            "countries": None,
            "allows_premium": False,
            "allows_satellite": False,
            "allows_high_risk": False,
            "max_cents_per_minute": None,
            "max_live_calls_per_caller": None,
            "max_hourly_calls_per_caller": None,
        }

    async def test_who_may_change_it(self, client: AsyncClient, org: OrgFixture, other_org: OrgFixture) -> None:
        assert (await client.put(POLICY, json={})).status_code == 401
        assert (await client.get(POLICY)).status_code == 401
        assert (await self.put(client, org, "member")).status_code == 403
        changed = await self.put(client, org, countries=["de", "US", "DE"], max_cents_per_minute="2.5")
        assert (changed.json()["countries"], changed.json()["max_cents_per_minute"]) == (["DE", "US"], "2.5000")
        assert (await client.get(POLICY, headers=other_org.owner_headers)).json()["countries"] is None
        log = (await client.get("/organizations/audit-log", headers=org.owner_headers)).text
        assert "call_policy.updated" in log

    async def test_bad_input(self, client: AsyncClient, org: OrgFixture) -> None:
        for body in (
            {"countries": ["ZZ"]},
            {"max_cents_per_minute": 0},
            {"max_live_calls_per_caller": 0},
            {"max_live_calls_per_caller": True},
            {"allows_everything": True},
        ):
            assert (await self.put(client, org, **body)).status_code == 422, body

    async def test_blocked_callers(self, client: AsyncClient, org: OrgFixture, other_org: OrgFixture) -> None:
        body = {"phone_number": "+1 201 555 0199", "reason": "Threats"}
        assert (await client.post(BLOCKED, json=body)).status_code == 401
        assert (await client.post(BLOCKED, json=body, headers=org.headers_for("viewer"))).status_code == 403
        assert (await client.post(BLOCKED, json={"phone_number": "x"}, headers=org.owner_headers)).status_code == 422
        made = (await client.post(BLOCKED, json=body, headers=org.owner_headers)).json()
        assert (made["phone_number"], made["reason"]) == ("+12015550199", "Threats")
        assert (await client.post(BLOCKED, json=body, headers=org.owner_headers)).json()["id"] == made["id"]
        assert (await client.get(BLOCKED, headers=org.headers_for("viewer"))).json()["total_count"] == 1
        assert (await client.get(BLOCKED, headers=other_org.owner_headers)).json()["total_count"] == 0
        foreign = await client.delete(f"{BLOCKED}/{made['id']}", headers=other_org.owner_headers)
        assert (foreign.status_code, foreign.json()["code"]) == (404, "blocked_caller_not_found")
        assert (await client.delete(f"{BLOCKED}/{made['id']}", headers=org.owner_headers)).status_code == 204
        assert (await client.delete(f"{BLOCKED}/{made['id']}", headers=org.owner_headers)).status_code == 404


def test_a_price_is_no_matter_of_the_numbering_plan() -> None:
    assert judge_destination(CallPolicy(max_cents_per_minute=Decimal("0.01")), "+12125550101").refusal is None
