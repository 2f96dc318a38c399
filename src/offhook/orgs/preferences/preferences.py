"""An organization's name, preferences and limits."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, StringConstraints
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.time_zones import find_zone
from offhook.orgs import service
from offhook.orgs.audit_trail.recorder import write_change_entry
from offhook.orgs.caller import Caller
from offhook.orgs.tables import Organization


def _require_time_zone(name: str) -> str:
    zone = find_zone(name)
    if zone is None:
        raise ValueError("not an IANA time zone such as Europe/Berlin")
    return zone.key


TimeZoneName = Annotated[str, StringConstraints(min_length=1, max_length=64), AfterValidator(_require_time_zone)]
"""A body field with the name of an IANA time zone; other values are rejected with 422."""


async def change_organization(
    session: AsyncSession, caller: Caller, values: Mapping[str, str | bool | None], action: str
) -> Organization:
    """Sets these columns and records the names of the changed ones in the audit log as ``action``."""
    organization = await service.get_organization(session, caller.organization_id)
    changed = [name for name, value in values.items() if getattr(organization, name) != value]
    for name in changed:
        setattr(organization, name, values[name])
    if changed:
        # Texts are the customer's own and stay out of the log.
        data = {"fields": changed, **{name: values[name] for name in changed if isinstance(values[name], bool)}}
        await write_change_entry(session, caller, action, f"organization:{organization.id}", data)
    return organization
