"""Errors of credit and billing."""

from offhook.errors import DomainError, NotFound


class OutOfCredit(DomainError):
    """Your organization is out of credit. Add credit to place calls."""

    code = "out_of_credit"
    status = 402


class OrganizationNotFound(NotFound):
    """Organization not found."""

    code = "organization_not_found"
