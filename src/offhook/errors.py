"""The base error of services: it carries its own stable code and HTTP status."""

from typing import Any, ClassVar


class DomainError(Exception):
    """Base of every error that a caller may see, rendered as ``{"detail": …, "code": …}``, with ``field`` where one field is wrong.

    Subclasses live beside their service, set ``code`` and ``status`` and use the first paragraph of their docstring
    as the default
    message. ``detail`` replaces the sentence where the answer is an object (a failed publish). ``field`` is dotted, as in
    the request or its configuration: ``models.llm.model``.
    """

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 400

    def __init__(
        self,
        message: str | None = None,
        *,
        detail: Any = None,
        field: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        self.message = message or " ".join((self.__doc__ or self.code).split("\n\n")[0].split())
        self.detail = detail
        self.field = field
        self.headers = headers
        super().__init__(self.message)


class NotFound(DomainError):
    """Not found."""

    code = "not_found"
    status = 404


class Unauthorized(DomainError):
    """A valid credential is required. Send X-API-Key or Authorization: Bearer."""

    code = "unauthorized"
    status = 401


class Forbidden(DomainError):
    """Your role does not allow this."""

    code = "forbidden"
    status = 403


class Conflict(DomainError):
    """The current state does not allow this."""

    code = "conflict"
    status = 409


class UnprocessableRequest(DomainError):
    """The request cannot be used."""

    code = "unprocessable"
    status = 422


class TooManyRequests(DomainError):
    """Too many requests. Wait and try again."""

    code = "too_many_requests"
    status = 429


class NotReady(DomainError):
    """The service is not ready."""

    code = "not_ready"
    status = 503
