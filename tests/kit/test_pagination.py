"""Pages."""

from hypothesis import given
from hypothesis import strategies as st

from offhook.kit.http.pagination import PageRequest


@given(st.integers(1, 1_000_000), st.integers(1, 100), st.integers(0, 10_000))
def test_pages_cover_every_row_once(page: int, limit: int, total: int) -> None:
    pages = PageRequest(page, limit).total_pages(total)
    assert pages * limit >= total > (pages - 1) * limit or total == pages == 0
    assert PageRequest(page, limit).offset == (page - 1) * limit < 2**31
