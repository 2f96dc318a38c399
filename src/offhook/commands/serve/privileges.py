"""What the user of a process may do on its machine."""

import os
from typing import Literal

ROOT_ID = 0


def describe_user(user_id: int | None = None) -> tuple[Literal["ok", "warning"], str]:
    """Says whether a fault in Offhook would be one of the whole machine; returns the result and a sentence about it."""
    effective = os.geteuid() if user_id is None else user_id
    if effective != ROOT_ID:
        return "ok", f"user id {effective}, not root"
    return (
        "warning",
        "root: a fault in Offhook puts the whole machine at risk. Run it as a user of its own, as deploy/systemd does.",
    )
