"""What a seed is about: drawn once, before anything happens."""

import random
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

from offhook.campaigns.engine.ports import CampaignPlan, DialRoute
from offhook.campaigns.rules.breaker import BreakerConfig
from offhook.campaigns.rules.destinations import check_destination, parse_destinations
from offhook.campaigns.rules.hours import CallingSchedule, WeeklySlot
from offhook.campaigns.rules.retry import RetryPolicy
from offhook.campaigns.rules.slots import effective_cap
from tests.campaigns.sim.far_end import Limits

ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC")
# Beside clocks that are turned, and on an ordinary day.
DAYS = (
    date(2026, 3, 28),
    date(2026, 10, 24),
    date(2026, 3, 7),
    date(2026, 10, 31),
    date(2026, 4, 4),
    date(2026, 6, 10),
)
FAULTS = (
    "drop", "commit_lost", "commit_unheard", "stall", "request_lost", "answer_lost", "slow", "callback_lost",
    "callback_late", "callback_double", "hang_up_fails", "away", "refuses",
)  # fmt: skip
# Somewhere in the United States, in Germany, toll-free (many zones), and a satellite's, which has none.
PREFIXES = ("+1415555", "+1212555", "+4930555", "+8001234", "+881612345")


@dataclass
class Scenario:
    begins_at: datetime
    workers: int
    storm_s: float
    kill_every_s: float
    tick_s: float
    storm: dict[str, float]
    can_say: bool
    pause_chance: float
    jumps: list[tuple[float, timedelta]]
    organizations: dict[int, int]
    plans: dict[int, CampaignPlan] = field(default_factory=dict)
    routes: dict[int, Any] = field(default_factory=dict)
    limits: dict[int, Limits] = field(default_factory=dict)
    numbers: dict[int, list[str]] = field(default_factory=dict)
    pauses: dict[int, list[float]] = field(default_factory=dict)
    do_not_call: set[str] = field(default_factory=set)


def scenario_of(rng: random.Random) -> Scenario:
    day = rng.choice(DAYS)
    made = Scenario(
        begins_at=datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(seconds=rng.random() * 2 * 86400),
        workers=rng.choice([1, 2, 3]),
        storm_s=rng.choice([120.0, 600.0, 1800.0]),
        kill_every_s=rng.choice([0.0, 3.0, 20.0]),
        # Nothing that must hold may hang on how often somebody looks.
        tick_s=rng.choice([5.0, 15.0, 40.0]),
        storm={name: rng.choice([0.0, 0.0, 0.03, 0.3]) for name in FAULTS},
        can_say=rng.random() < 0.6,
        pause_chance=rng.choice([0.0, 0.0, 0.1]),
        jumps=[],
        organizations={number: rng.choice([1, 2, 5]) for number in range(1, rng.choice([2, 2, 3]))},
    )
    for name in ("drop", "commit_lost", "commit_unheard"):
        made.storm[name] /= 4
    if rng.random() < 0.3:
        made.jumps = [
            (rng.random() * made.storm_s, timedelta(seconds=rng.choice([-7200, -60, -2, 2, 90, 3600, 9000])))
            for _ in range(rng.choice([1, 2]))
        ]
    for campaign_id in range(1, rng.choice([2, 2, 3, 4])):
        _campaign(rng, made, campaign_id)
    return made


def _campaign(rng: random.Random, made: Scenario, campaign_id: int) -> None:
    organization_id = rng.choice(sorted(made.organizations))
    prefixes = rng.sample(PREFIXES, rng.choice([1, 1, 2, 5]))
    count = rng.choice([1, 3, 6, 10])
    # A few are no numbers at all.
    numbers = [
        f"{rng.choice(prefixes)}{campaign_id}{index:03d}{'99999999' if rng.random() < 0.05 else ''}"
        for index in range(count)
    ]
    lines = rng.choice([None, None, 2])
    per_second = rng.choice([None, None, None, 0.5, 3.0])
    cap = rng.choice([1, 2, 4])
    hours = _hours(rng, made.begins_at)
    made.plans[campaign_id] = CampaignPlan(
        id=campaign_id,
        organization_id=organization_id,
        workflow_id=1,
        max_concurrency=cap,
        running_since=None,
        hours=hours,
        retry=RetryPolicy(
            is_enabled=rng.random() < 0.8,
            max_retries=rng.choice([0, 1, 3]),
            delay_s=rng.choice([0.0, 5.0, 60.0]),
            backoff_factor=rng.choice([1.0, 2.0]),
        ),
        breaker=BreakerConfig(is_enabled=rng.random() < 0.1),
    )
    made.numbers[campaign_id] = numbers
    # Campaigns of one organization whose calls are limited by numbers alone go by one account.
    is_shared = lines is not None and per_second is None
    account = f"account of {organization_id}" if is_shared else f"account{campaign_id}"
    made.routes[campaign_id] = DialRoute(account, lines, per_second)
    made.limits[campaign_id] = Limits(
        organization_id,
        effective_cap(cap, made.organizations[organization_id], lines),
        hours,
        {number: check_destination(parse_destinations(None), number).zones for number in numbers},
        per_second=per_second,
        account=account,
        lines=lines,
    )
    made.pauses[campaign_id] = [rng.random() * min(made.storm_s, 300) for _ in range(rng.choice([0, 1, 3, 6]))]
    made.do_not_call |= {number for number in numbers if rng.random() < 0.05}


def share_lines(made: Scenario, lines: int) -> None:
    """Let every organization have one carrier account, whose numbers are all that limits its campaigns together."""
    made.organizations = dict.fromkeys(made.organizations, 10)
    for campaign_id, plan in made.plans.items():
        account = f"account of {plan.organization_id}"
        made.routes[campaign_id] = DialRoute(account, lines, None)
        its = made.limits[campaign_id]
        its.account, its.lines, its.per_second, its.cap = account, lines, None, min(plan.max_concurrency, lines)


def _hours(rng: random.Random, begins_at: datetime) -> CallingSchedule | None:
    if rng.random() < 0.4:
        return None
    slots = []
    for day in range(7):
        start = rng.randrange(0, 1440)
        slots.append(WeeklySlot(day, start, (start + rng.choice([20, 60, 300, 700])) % 1440))
        if rng.random() < 0.5:
            # One that is open about now and closes while calls are being placed.
            minute = begins_at.hour * 60 + begins_at.minute
            slots.append(
                WeeklySlot(begins_at.weekday(), (minute - 600) % 1440, (minute + rng.choice([1, 3, 10])) % 1440)
            )
    slots = [slot for slot in slots if slot.start != slot.end]
    holidays = frozenset({begins_at.date()}) if rng.random() < 0.1 else frozenset()
    return CallingSchedule(rng.choice(ZONES), tuple(slots), holidays, in_callee_zone=rng.random() < 0.3)
