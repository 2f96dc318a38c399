"""The base of the API's schemas and of stored definitions."""

from pydantic import BaseModel, ConfigDict


class Schema(BaseModel):
    """A model whose validator is built when it is first used: a start would spend an eighth of its time on them, and few
    processes use more than some.
    """

    model_config = ConfigDict(defer_build=True)
