"""Errors of credit and billing."""

from offhook.errors import DomainError, NotFound


class OutOfCredit(DomainError):
    """Your organization is out of credit. Add credit to continue."""

    code = "out_of_credit"
    status = 402


class DailySpendLimitReached(DomainError):
    """Your organization has reached today's spend limit. Wait until midnight UTC, or raise the limit."""

    code = "daily_spend_limit"
    status = 402


class OrganizationNotFound(NotFound):
    """Organization not found."""

    code = "organization_not_found"
