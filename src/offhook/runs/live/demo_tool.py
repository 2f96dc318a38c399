"""The demo agents' order system: a tool that needs no account and no network."""

import asyncio
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from offhook.kit.json_values import JsonObject
from offhook.models.ports import ToolSpec
from offhook.voice.ports import NO_ANNOUNCEMENT, ToolAnnouncement, ToolError

DEMO_ORDER_STATUS: Final = "demo_order_status"
_STAGES: Final = (
    ("processing", "is being packed and leaves our warehouse tomorrow", 3),
    ("shipped", "has left our warehouse", 2),
    ("out_for_delivery", "is out for delivery and arrives today before six", 0),
    ("delivered", "was delivered yesterday and left at the front door", -1),
    ("delayed", "is held up at the carrier, who expects two more days", 4),
)
_ITEMS: Final = (
    "a coffee grinder",
    "two desk lamps",
    "a pair of running shoes",
    "a garden hose",
    "a mechanical keyboard",
)


_SPEC: Final = ToolSpec(
    DEMO_ORDER_STATUS,
    "Look up where an order is. Ask for the order number first; it has four to ten digits.",
    {
        "type": "object",
        "properties": {"order_number": {"type": "string", "description": "The digits of the order number"}},
        "required": ["order_number"],
    },
)


@dataclass(frozen=True, slots=True)
class DemoOrderStatusTool:
    """An order system that always has a result: the same order number always gets the same answer."""

    spec: ToolSpec = _SPEC
    examples: tuple[str, ...] = ("where is my order", "track my order", "order status", "has my parcel been shipped")
    has_side_effects: bool = False
    blocks_barge_in: bool = False
    timeout_s: float = 5.0
    announcement: ToolAnnouncement = NO_ANNOUNCEMENT
    success_announcement: ToolAnnouncement = NO_ANNOUNCEMENT

    async def call(self, arguments: Mapping[str, Any]) -> JsonObject:
        digits = "".join(char for char in str(arguments.get("order_number") or "") if char.isdigit())
        if not 4 <= len(digits) <= 10:
            raise ToolError("An order number has four to ten digits. Ask the caller to say it again, digit by digit.")
        seed = zlib.crc32(digits.encode())
        # As slow as a typical shop system.
        await asyncio.sleep(0.35 + seed % 500 / 1000)
        if digits.startswith("0000"):
            raise ToolError(f"There is no order {digits}.")
        status, sentence, days = _STAGES[seed % len(_STAGES)]
        return {
            "order_number": digits,
            "status": status,
            "item": _ITEMS[seed // 7 % len(_ITEMS)],
            "days_until_delivery": days,
            "summary": f"Order {digits} {sentence}.",
        }
