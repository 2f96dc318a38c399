"""Calling hours at every edge: midnight, weekdays, holidays, clocks that are turned, zones that nobody knows."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook.campaigns.rules.hours import (
    WEEKDAYS,
    CallingSchedule,
    WeeklySlot,
    calling_window,
    is_zone,
    parse_calling_hours,
)

BERLIN, NEW_YORK = "Europe/Berlin", "America/New_York"


def hours(*slots: tuple[str, str, str], zone: str = BERLIN, **more: object) -> CallingSchedule:
    made = parse_calling_hours(
        {"timezone": zone, "slots": [{"day": day, "start": start, "end": end} for day, start, end in slots], **more}
    )
    assert made is not None
    return made


def at(text: str, zone: str = BERLIN, fold: int = 0) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold).astimezone(UTC)


WORKDAY = ("monday", "09:00", "17:00")


@pytest.mark.parametrize(
    ("when", "is_open"),
    [
        ("2026-01-05T08:59:59", False),
        ("2026-01-05T09:00:00", True),
        ("2026-01-05T16:59:59", True),
        ("2026-01-05T17:00:00", False),
        ("2026-01-06T12:00:00", False),
    ],
)
def test_a_slot_begins_at_its_start_and_is_over_at_its_end(when: str, is_open: bool) -> None:
    assert calling_window(hours(WORKDAY), at(when)).is_open is is_open


def test_closed_says_when_it_opens_and_open_says_when_it_closes() -> None:
    assert calling_window(hours(WORKDAY), at("2026-01-05T17:00")).until == at("2026-01-12T09:00")
    assert calling_window(hours(WORKDAY), at("2026-01-05T10:00")).until == at("2026-01-05T17:00")


def test_no_hours_are_any_time() -> None:
    assert calling_window(None, at("2026-01-01T03:00")).is_open


def test_a_slot_may_cross_midnight() -> None:
    late = hours(("sunday", "22:00", "02:00"))
    assert calling_window(late, at("2026-01-05T01:59")).is_open
    assert not calling_window(late, at("2026-01-05T02:00")).is_open
    assert calling_window(late, at("2026-01-04T23:00")).until == at("2026-01-05T02:00")


def test_slots_that_touch_are_one() -> None:
    whole = hours(("monday", "09:00", "12:00"), ("monday", "12:00", "15:00"))
    assert calling_window(whole, at("2026-01-05T11:00")).until == at("2026-01-05T15:00")


def test_a_plan_without_a_gap_is_open() -> None:
    always = hours(*[(day, "00:00", "00:00") for day in WEEKDAYS])
    assert calling_window(always, at("2026-01-05T11:00")).is_open


def test_on_a_holiday_nobody_is_called_also_not_after_midnight() -> None:
    late = hours(("sunday", "22:00", "02:00"), WORKDAY, holidays=["2026-01-05"])
    assert calling_window(late, at("2026-01-04T23:00")).until == at("2026-01-05T00:00")
    found = calling_window(late, at("2026-01-05T01:00"))
    assert not found.is_open
    assert found.until == at("2026-01-11T22:00")


class TestClocksAreTurned:
    """29 March 2026: 02:00 becomes 03:00. 25 October 2026: 03:00 becomes 02:00."""

    def test_a_skipped_start_is_an_hour_later(self) -> None:
        slot = hours(("sunday", "02:30", "05:00"))
        assert calling_window(slot, at("2026-03-29T01:00")).until == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)

    def test_a_skipped_end_ends_before_the_hour_that_is_not_there(self) -> None:
        slot = hours(("sunday", "01:00", "02:30"))
        assert calling_window(slot, at("2026-03-29T01:10")).until == datetime(2026, 3, 29, 0, 30, tzinfo=UTC)

    def test_a_repeated_end_is_its_first_time(self) -> None:
        slot = hours(("sunday", "01:00", "02:30"))
        assert not calling_window(slot, at("2026-10-25T02:10", fold=1)).is_open

    def test_a_repeated_start_is_its_second_time(self) -> None:
        slot = hours(("sunday", "02:30", "05:00"))
        assert not calling_window(slot, at("2026-10-25T02:40", fold=0)).is_open
        assert calling_window(slot, at("2026-10-25T02:40", fold=1)).is_open


class TestCalleeZones:
    BOTH = hours(WORKDAY, in_callee_zone=True)

    def test_both_must_be_open(self) -> None:
        assert not calling_window(self.BOTH, at("2026-01-05T10:00"), [NEW_YORK]).is_open
        assert calling_window(self.BOTH, at("2026-01-05T15:30"), [NEW_YORK]).is_open
        assert calling_window(self.BOTH, at("2026-01-05T15:30"), [NEW_YORK]).until == at("2026-01-05T17:00")

    def test_it_says_when_both_are_open(self) -> None:
        assert calling_window(self.BOTH, at("2026-01-05T10:00"), [NEW_YORK]).until == at("2026-01-05T15:00")

    def test_of_several_the_most_restrictive_counts(self) -> None:
        zones = [NEW_YORK, "America/Los_Angeles"]
        found = calling_window(self.BOTH, at("2026-01-05T15:30"), zones)
        assert (found.is_open, found.reason) == (False, "outside_callee_hours")

    @pytest.mark.parametrize("zones", [[], ["Mars/Olympus"], [NEW_YORK, "Mars/Olympus"]])
    def test_an_unknown_zone_is_closed(self, zones: list[str]) -> None:
        found = calling_window(self.BOTH, at("2026-01-05T15:30"), zones)
        assert (found.is_open, found.until, found.reason) == (False, None, "unknown_zone")

    def test_hours_that_never_meet_never_open(self) -> None:
        far = hours(("monday", "09:00", "10:00"), in_callee_zone=True)
        assert calling_window(far, at("2026-01-05T09:30"), [NEW_YORK]).until is None


@pytest.mark.parametrize(
    ("name", "known"), [("Europe/Berlin", True), ("", False), ("localtime", False), ("../x", False)]
)
def test_which_zones_there_are(name: str, known: bool) -> None:
    assert is_zone(name) is known


@given(
    when=st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31)),  # noqa: DTZ001 - becomes UTC below
    slots=st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 1439), st.integers(0, 1439)).filter(lambda s: s[1] != s[2]),
        min_size=1,
        max_size=4,
    ),
    zone=st.sampled_from([BERLIN, NEW_YORK, "Asia/Kolkata", "Australia/Lord_Howe", "Africa/Casablanca", "UTC"]),
    off=st.frozensets(st.dates(date(2026, 1, 1), date(2026, 3, 1)), max_size=3),
)
def test_whatever_is_open_is_open_on_the_wall_clock_too(
    when: datetime, slots: list[tuple[int, int, int]], zone: str, off: frozenset[date]
) -> None:
    """The witness reads the wall clock and nothing else; the rule may be narrower where clocks are turned, never wider."""
    plan = CallingSchedule(zone, tuple(WeeklySlot(*slot) for slot in slots), off)
    now = when.replace(tzinfo=UTC)
    found = calling_window(plan, now)
    if found.is_open:
        assert _on_the_wall(plan, now)
    if found.until is not None:
        assert found.until > now
        assert calling_window(plan, found.until).is_open is not found.is_open
        assert calling_window(plan, found.until - timedelta(microseconds=1)).is_open is found.is_open


def _on_the_wall(plan: CallingSchedule, now: datetime) -> bool:
    local = now.astimezone(ZoneInfo(plan.zone))
    if local.date() in plan.holidays:
        return False
    minute = local.hour * 60 + local.minute
    for slot in plan.slots:
        if slot.end > slot.start:
            if local.weekday() == slot.day and slot.start <= minute < slot.end:
                return True
        elif (local.weekday() == slot.day and minute >= slot.start) or (
            local.weekday() == (slot.day + 1) % 7 and minute < slot.end
        ):
            return True
    return False
