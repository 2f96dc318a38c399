"""Numbers in bodies: rejects JSON's true and false, which Python treats as 1 and 0."""

from typing import Annotated, Any

from pydantic import BeforeValidator


def reject_boolean(value: Any) -> Any:
    """Rejects booleans where numbers are expected: ``Annotated[Decimal, BeforeValidator(reject_boolean)]``."""
    if isinstance(value, bool):
        raise ValueError("Input should be a number, not true or false")
    return value


Number = Annotated[float, BeforeValidator(reject_boolean)]
WholeNumber = Annotated[int, BeforeValidator(reject_boolean)]
