"""Ids in paths: one typed form each, so that an id that no row can have is 404 and never a database error."""

import re
from typing import Annotated, Any, Final

from fastapi import Path
from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

_WHOLE_NUMBER: Final = re.compile(r"-?[0-9]+")
_DIGITS: Final = re.compile(r"[0-9]{1,18}")


def require_digits(value: Any) -> Any:
    """Rejects what Python reads as a number although no link of ours is written like it: ``1_0``, ``+10``, ``1.0``.

    A negative number is left to the bounds: it is a number that names nothing.
    """
    if isinstance(value, str) and not _WHOLE_NUMBER.fullmatch(value):
        raise PydanticCustomError("int_parsing", "Input should be written in the digits 0 to 9")
    return value


def read_id(text: str) -> int | None:
    """Returns the id that a part of a websocket's path names, None when it names none."""
    return int(text) if _DIGITS.fullmatch(text) else None


# An id outside the column's range names nothing: the validation handler of ``kit.http`` answers 404 for these bounds,
# and 422 for a path part that is no number at all.
Id = Annotated[int, Path(ge=1, le=2**31 - 1), BeforeValidator(require_digits)]
LongId = Annotated[int, Path(ge=1, le=2**63 - 1), BeforeValidator(require_digits)]
