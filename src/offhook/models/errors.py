"""What can be wrong with a choice of models."""

from offhook.errors import Unprocessable


class UnknownModel(Unprocessable):
    """There is no such model provider."""

    code = "unknown_model"
