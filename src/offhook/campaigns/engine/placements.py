"""What is kept with a run about the check that allowed its call."""

from datetime import datetime

from offhook.campaigns.engine.ports import CampaignPlan, ClaimedContact
from offhook.runs.records.placement import CallingWindowCheck, CallPlacement


def describe_placement(plan: CampaignPlan, contact: ClaimedContact, now: datetime) -> CallPlacement:
    """Returns what :class:`ContactCheck` found, with the campaign's calling hours as they are now."""
    checked, hours = contact.checked, plan.hours
    window = None
    if checked is not None and hours is not None:
        window = CallingWindowCheck(
            is_open=checked.window.is_open,
            schedule_zone=hours.zone,
            in_callee_zone=hours.in_callee_zone,
            callee_zones=checked.zones,
            closes_at=checked.window.until,
        )
    at = checked.at if checked is not None else now
    return CallPlacement(placed_by="campaign", checked_at=at, calling_window=window)
