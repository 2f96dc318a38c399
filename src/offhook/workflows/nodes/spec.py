"""The wire shape of ``GET /node-types``. Client libraries refuse additional keys, so these models name every one."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from pydantic import ConfigDict, Field

from offhook.kit.schema import Schema

SPEC_VERSION: Final = "1.0.0"

PropertyType = Literal[
    "string",
    "number",
    "boolean",
    "options",
    "multi_options",
    "fixed_collection",
    "json",
    "tool_refs",
    "document_refs",
    "recording_ref",
    "credential_ref",
    "mention_textarea",
    "url",
]
NodeCategory = Literal["call_node", "global_node", "trigger", "integration"]


class _StrictModel(Schema):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DisplayOptions(_StrictModel):
    """``show``: visible when every named field has one of the values; ``hide``: hidden when any has."""

    show: dict[str, list[Any]] | None = None
    hide: dict[str, list[Any]] | None = None


class PropertyOption(_StrictModel):
    value: str | int | bool | float
    label: str
    description: str | None = None


class PropertyExtra(_StrictModel):
    """Hints for editors; client libraries read ``extra`` as any object and can ignore it."""

    fractional: bool | None = Field(default=None, description="Whether a number can have decimals")


class PropertySpec(_StrictModel):
    """One field of a node's ``data``. ``description`` is for people, ``llm_hint`` for programs that write agents."""

    name: str
    type: PropertyType
    display_name: str
    description: str = Field(min_length=1)
    llm_hint: str | None = None
    default: Any | None = None
    required: bool | None = False
    placeholder: str | None = None
    display_options: DisplayOptions | None = None
    options: list[PropertyOption] | None = None
    properties: list["PropertySpec"] | None = None
    min_value: float | None = None
    max_value: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    editor: str | None = None
    extra: PropertyExtra | None = None


class NodeExample(_StrictModel):
    name: str
    description: str | None = None
    data: dict[str, Any]


class GraphConstraints(_StrictModel):
    min_incoming: int | None = None
    max_incoming: int | None = None
    min_outgoing: int | None = None
    max_outgoing: int | None = None


class InstanceLimits(_StrictModel):
    """How many nodes of one kind a workflow has; null: any number."""

    min_instances: int | None = None
    max_instances: int | None = None


class NodeSpec(_StrictModel):
    name: str
    display_name: str
    description: str = Field(min_length=1)
    llm_hint: str | None = None
    category: NodeCategory
    icon: str
    version: str | None = SPEC_VERSION
    properties: list[PropertySpec]
    examples: list[NodeExample] | None = None
    graph_constraints: GraphConstraints | None = None


class NodeTypesResponse(Schema):
    """``instance_limits`` by name of the kind, beside the kinds: client libraries refuse a key that they do not know in a
    kind, and ignore one here."""

    spec_version: str
    node_types: list[NodeSpec]
    instance_limits: dict[str, InstanceLimits]


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """A problem with one field; ``field`` is dotted and begins with ``data``."""

    field: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class NodeKind:
    """A kind of node: what it declares, and what its declaration cannot say.

    ``is_conversational``: callers talk at it, so it takes part in the flow. ``secrets``: data keys that are masked when
    they are read. ``is_offered``: editors list it; a kind that is not does nothing here. ``prompt_name`` is set where a
    prompt (or a fixed sentence) is needed, as messages name it.
    """

    spec: NodeSpec
    is_conversational: bool = False
    prompt_name: str | None = None
    secrets: tuple[str, ...] = ()
    is_offered: bool = True
    instances: InstanceLimits = field(default_factory=InstanceLimits)
    check: Callable[[Mapping[str, Any]], Iterator[FieldProblem]] | None = None

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def constraints(self) -> GraphConstraints:
        return self.spec.graph_constraints or GraphConstraints()
