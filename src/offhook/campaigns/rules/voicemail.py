"""The voicemail settings of a campaign's calls; ``retry`` decides if the contact is called again."""

from collections.abc import Mapping
from typing import Any

from offhook.kit.json_values import JsonObject


def voicemail_overrides(stored: Mapping[str, Any] | None) -> JsonObject:
    """Translates ``campaigns.voicemail`` (``{"action": "hang_up" | "leave_message", "message"?}``) for the voice loop.

    Empty: the workflow's own setting applies.
    """
    if not stored:
        return {}
    message = stored.get("message")
    if stored.get("action") == "leave_message" and message:
        return {"voicemail_detection": {"enabled": True, "action": "message", "message": message}}
    return {"voicemail_detection": {"enabled": True, "action": "hang_up"}}
