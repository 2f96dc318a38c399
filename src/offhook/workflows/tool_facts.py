"""What graphs must know of custom tools, without knowing tools. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """What validation must know of a custom tool. ``timeout_s`` is None when the tool may wait for ever."""

    name: str
    timeout_s: float | None = None
    is_transfer: bool = False
    has_fallback: bool = False
    ends_call: bool = False
