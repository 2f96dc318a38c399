"""What an agent does when a machine answers a campaign's call; whether the contact is called again is ``retry``'s part."""

from collections.abc import Mapping
from typing import Any


def voicemail_overrides(stored: Mapping[str, Any] | None) -> dict[str, Any]:
    """``campaigns.voicemail`` (``{"action": "hang_up" | "leave_message", "message"?}``) in the voice loop's terms;
    empty = whatever the workflow says."""
    if not stored:
        return {}
    message = stored.get("message")
    if stored.get("action") == "leave_message" and message:
        return {"voicemail_detection": {"enabled": True, "action": "message", "message": message}}
    return {"voicemail_detection": {"enabled": True, "action": "hang_up"}}
