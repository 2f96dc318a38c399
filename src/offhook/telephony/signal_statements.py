"""The statement that wakes other processes."""

import json
from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

CHANNEL: Final = "offhook_calls"


async def send_signal(session: AsyncSession, kind: str, key: object, message: str = "") -> None:
    """Wakes the subscribers of ``kind`` and ``key`` in every process, once this transaction is committed."""
    payload = json.dumps([kind, str(key), message])
    await session.execute(text("SELECT pg_notify(:channel, :payload)"), {"channel": CHANNEL, "payload": payload})
