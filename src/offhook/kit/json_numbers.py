"""Numbers in bodies: JSON's true and false are none, although Python takes them for 1 and 0."""

from typing import Annotated, Any

from pydantic import BeforeValidator


def reject_boolean(value: Any) -> Any:
    """Rejects booleans where numbers are expected: ``Annotated[Decimal, BeforeValidator(reject_boolean)]``."""
    if isinstance(value, bool):
        raise ValueError("Input should be a number, not true or false")
    return value


Number = Annotated[float, BeforeValidator(reject_boolean)]
WholeNumber = Annotated[int, BeforeValidator(reject_boolean)]
