"""What graphs must know of custom tools, without knowing tools. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """What validation must know of a custom tool. ``timeout_s`` is None when the tool may wait for ever.

    ``functions`` are those of an MCP server by the server's names, with the names that models see, as the catalog last
    said; None for a tool that is one function.
    """

    name: str
    timeout_s: float | None = None
    is_transfer: bool = False
    has_fallback: bool = False
    ends_call: bool = False
    is_archived: bool = False
    functions: Mapping[str, str] | None = None

    def offered_functions(self, wanted: object) -> Sequence[str]:
        """The functions of an MCP tool that a node offers; ``wanted`` is its filter, and anything but a list is none."""
        found = self.functions or {}
        return [shown for name, shown in found.items() if not isinstance(wanted, list) or name in wanted]
