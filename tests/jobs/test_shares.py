"""How the places of one kind of job are shared between organizations."""

import pytest

from offhook.jobs.shares import WAITING_S, OrganizationShares, delay_after

BUSY, OTHER, THIRD = 1, 2, 3


class Watch:
    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at


def begin_many(shares: OrganizationShares, organization_id: int, count: int = 40) -> int:
    return sum(shares.begin(organization_id) for _ in range(count))


def test_one_organization_alone_has_its_share() -> None:
    assert begin_many(OrganizationShares(8, 4), BUSY) == 4


def test_another_one_always_finds_a_place() -> None:
    shares = OrganizationShares(3, 2)
    assert begin_many(shares, BUSY) == 2
    assert shares.begin(OTHER)
    assert not shares.begin(OTHER)


def test_parts_are_equal_while_others_wait() -> None:
    watch = Watch()
    shares = OrganizationShares(4, 3, watch)
    assert begin_many(shares, BUSY) == 3
    assert begin_many(shares, OTHER) == 1
    shares.end(BUSY)
    assert not shares.begin(BUSY), "two of four are its part now"
    assert not shares.begin(OTHER), "the last place is for one who has none"
    assert shares.begin(THIRD)
    for _ in range(2):
        shares.end(BUSY)
    shares.end(THIRD)
    watch.at = 1.0
    assert begin_many(shares, BUSY) == 2, "half, while the other wants its half"


def test_who_waited_long_ago_is_forgotten() -> None:
    watch = Watch()
    shares = OrganizationShares(4, 3, watch)
    assert begin_many(shares, OTHER, 4) == 3
    for _ in range(3):
        shares.end(OTHER)
    assert begin_many(shares, BUSY) == 2
    watch.at = WAITING_S + 1
    assert begin_many(shares, BUSY) == 1


def test_a_share_is_smaller_than_everything() -> None:
    with pytest.raises(ValueError, match="smaller than all"):
        OrganizationShares(2, 2)


def test_what_finds_no_place_comes_back_later_and_later() -> None:
    assert [delay_after(tries) for tries in (0, 1, 4, 9, 1000)] == [1, 2, 16, 30, 30]
