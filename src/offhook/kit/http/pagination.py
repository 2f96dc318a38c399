"""List pages: page and limit for paged lists, optional limit and offset for lists that return an array."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query, Response

# Keeps the offset of the last page far within PostgreSQL's bigint.
_MAX_PAGE = 1_000_000
_MAX_OFFSET = 2**31 - 1


@dataclass(frozen=True, slots=True)
class PageRequest:
    """``page`` counts from 1, ``limit`` is 1 to 100."""

    page: int
    limit: int

    @property
    def offset(self) -> int:
        return (self.page - 1) * self.limit

    def total_pages(self, total: int) -> int:
        """Returns how many pages ``total`` rows fill; 0 when there are none."""
        return -(-total // self.limit)


@dataclass(frozen=True, slots=True)
class SliceRequest:
    """``limit`` None means every row."""

    limit: int | None
    offset: int


# async without an await: the framework runs plain functions in a thread.
async def _page_query(
    page: Annotated[int, Query(ge=1, le=_MAX_PAGE)] = 1,
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
) -> PageRequest:
    return PageRequest(page, limit)


async def _slice_query(
    limit: Annotated[int | None, Query(ge=1, le=100)] = None,
    offset: Annotated[int, Query(ge=0, le=_MAX_OFFSET)] = 0,
) -> SliceRequest:
    return SliceRequest(limit, offset)


PageParams = Annotated[PageRequest, Depends(_page_query)]
SliceParams = Annotated[SliceRequest, Depends(_slice_query)]


def set_total(response: Response, total: int) -> None:
    """Sets ``X-Total-Count``, the length of the whole list, for responses that are arrays."""
    response.headers["X-Total-Count"] = str(total)
