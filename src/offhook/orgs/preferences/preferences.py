"""An organization's name, preferences and limits."""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, StringConstraints
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.time_zones import find_zone
from offhook.orgs import service
from offhook.orgs.tables import Organization
from offhook.settings import Settings


def _require_time_zone(name: str) -> str:
    found = find_zone(name)
    if found is None:
        raise ValueError("not an IANA time zone, as Europe/Berlin is one")
    return found.key


TimeZoneName = Annotated[str, StringConstraints(min_length=1, max_length=64), AfterValidator(_require_time_zone)]
"""A body field that names an IANA time zone; anything else is 422."""


@dataclass(frozen=True, slots=True)
class OrganizationLimits:
    """``concurrent_calls``: how many calls may live at once; ``source`` says who set it."""

    concurrent_calls: int
    source: str


async def change_organization(
    session: AsyncSession, organization_id: int, values: dict[str, Any]
) -> tuple[Organization, list[str]]:
    """Set these columns; the organization and the names of those that were different before."""
    organization = await service.get_organization(session, organization_id)
    changed = [name for name, value in values.items() if getattr(organization, name) != value]
    for name in changed:
        setattr(organization, name, values[name])
    return organization, changed


def organization_limits(organization: Organization, settings: Settings) -> OrganizationLimits:
    own = organization.concurrency_limit
    if own is None:
        return OrganizationLimits(settings.org_concurrency_limit, "installation")
    return OrganizationLimits(own, "organization")
