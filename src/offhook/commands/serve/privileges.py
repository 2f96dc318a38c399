"""Checks which user a process runs as."""

import os
from typing import Literal

ROOT_ID = 0


def describe_user(user_id: int | None = None) -> tuple[Literal["ok", "warning"], str]:
    """Returns "warning" for root and "ok" for any other user, with a sentence about the user."""
    effective = os.geteuid() if user_id is None else user_id
    if effective != ROOT_ID:
        return "ok", f"user id {effective}, not root"
    return (
        "warning",
        "root: a flaw in Offhook puts the whole machine at risk. Run it as a separate user, as deploy/systemd does.",
    )
