"""Ids in paths: one typed form each, so that an impossible id is 404 and never a database error."""

import re
from typing import Annotated, Any, Final

from fastapi import Path
from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

_WHOLE_NUMBER: Final = re.compile(r"-?[0-9]+")
_DIGITS: Final = re.compile(r"[0-9]{1,18}")


def require_digits(value: Any) -> Any:
    """Rejects what Python reads as a number but our links never contain: ``1_0``, ``+10``, ``1.0``.

    Negative numbers are left to the bounds: they are numbers that cannot exist as ids.
    """
    if isinstance(value, str) and not _WHOLE_NUMBER.fullmatch(value):
        raise PydanticCustomError("int_parsing", "Input should be written in the digits 0 to 9")
    return value


def read_id(text: str) -> int | None:
    """Returns the id in a part of a WebSocket's path, None if it is not one."""
    return int(text) if _DIGITS.fullmatch(text) else None


# An id outside the column's range cannot exist: the validation handler of ``kit.http`` responds 404 for these bounds,
# and 422 for a path part that is not a number at all.
Id = Annotated[int, Path(ge=1, le=2**31 - 1), BeforeValidator(require_digits)]
LongId = Annotated[int, Path(ge=1, le=2**63 - 1), BeforeValidator(require_digits)]
