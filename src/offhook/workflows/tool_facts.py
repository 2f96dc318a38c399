"""Facts about custom tools that graphs need without knowing tools. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """Facts about a custom tool for validation. ``timeout_s`` is None when the tool may wait forever.

    ``functions`` are those of an MCP server by the server's names, with the names that models see, as of the last
    catalog; None for a tool that is one function.
    """

    name: str
    timeout_s: float | None = None
    is_transfer: bool = False
    has_fallback: bool = False
    ends_call: bool = False
    is_archived: bool = False
    functions: Mapping[str, str] | None = None

    def offered_functions(self, wanted: object) -> Sequence[str]:
        """Returns the functions of an MCP tool that a node offers; ``wanted`` is its filter, ignored if not a list."""
        found = self.functions or {}
        return [shown for name, shown in found.items() if not isinstance(wanted, list) or name in wanted]
