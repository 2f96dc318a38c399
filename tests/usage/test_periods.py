"""Days and months by the clocks of an organization, where clocks jump and where midnights are left out."""

from datetime import UTC, date, datetime, timedelta

import pytest

from offhook.usage.periods import bucket_of, day_boundaries, day_start, last_days, load_time_zone, month_of


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc,arg-type]


def test_a_month_begins_at_the_organizations_midnight() -> None:
    period = month_of(utc(2026, 11, 30, 19), load_time_zone("Asia/Kolkata"))  # half past midnight on 1 December there
    assert (period.start, period.end) == (utc(2026, 11, 30, 18, 30), utc(2026, 12, 31, 18, 30))


def test_december_is_followed_by_january() -> None:
    assert month_of(utc(2026, 12, 31, 23, 59), load_time_zone("UTC")).end == utc(2027, 1, 1)


@pytest.mark.parametrize(("day", "hours"), [(date(2026, 3, 29), 23), (date(2026, 10, 25), 25), (date(2026, 7, 1), 24)])
def test_days_have_the_length_that_the_clocks_give_them(day: date, hours: int) -> None:
    start, end = day_boundaries([day], load_time_zone("Europe/Berlin"))
    assert end - start == timedelta(hours=hours)


def test_a_day_whose_midnight_is_left_out_begins_when_the_clocks_go_on() -> None:
    assert day_start(date(2026, 4, 24), load_time_zone("Africa/Cairo")) == utc(2026, 4, 23, 22)


def test_the_last_day_is_today_over_there() -> None:
    assert last_days(utc(2026, 3, 1, 2), 3, load_time_zone("America/New_York")) == [
        date(2026, 2, 26),
        date(2026, 2, 27),
        date(2026, 2, 28),
    ]


def test_days_follow_each_other_without_a_gap() -> None:
    where = load_time_zone("America/Sao_Paulo")
    days = last_days(utc(2026, 11, 21), 366, where)
    edges = day_boundaries(days, where)
    assert len(edges) == 367
    assert edges == sorted(set(edges))


@pytest.mark.parametrize("name", ["Asia/Kathmandu", "Pacific/Chatham", "Australia/Lord_Howe", "America/St_Johns"])
def test_every_midnight_is_the_edge_of_a_bucket(name: str) -> None:
    where = load_time_zone(name)
    for edge in day_boundaries(last_days(utc(2026, 11, 21), 366, where), where):
        assert bucket_of(edge) == edge


def test_an_unknown_zone_counts_in_utc() -> None:
    assert load_time_zone("Mars/Olympus").key == load_time_zone("../etc/passwd").key == "UTC"
