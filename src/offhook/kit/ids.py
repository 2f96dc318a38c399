"""Ids in paths: one typed form each, so that an id that no row can have is 404 and never a database error."""

from typing import Annotated

from fastapi import Path

# An id outside the column's range names nothing: the validation handler of ``kit.http`` answers 404 for these bounds,
# and 422 for a path part that is no number at all.
Id = Annotated[int, Path(ge=1, le=2**31 - 1)]
LongId = Annotated[int, Path(ge=1, le=2**63 - 1)]
