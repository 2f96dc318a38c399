"""The wire shape of ``GET /node-types``. Client libraries refuse additional keys, so these models name every one."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

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


class _StrictModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DisplayOptions(_StrictModel):
    """``show``: visible when every named field has one of the values; ``hide``: hidden when any has."""

    show: dict[str, list[Any]] | None = None
    hide: dict[str, list[Any]] | None = None


class PropertyOption(_StrictModel):
    value: str | int | bool | float
    label: str
    description: str | None = None


class NumberInputOptions(_StrictModel):
    fractional: bool | None = False


class PropertyLayoutOptions(_StrictModel):
    column_span: int | None = Field(default=None, ge=1, le=12)


class PropertyRendererOptions(_StrictModel):
    layout: PropertyLayoutOptions | None = None
    number_input: NumberInputOptions | None = None


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
    renderer_options: PropertyRendererOptions | None = None


class NodeExample(_StrictModel):
    name: str
    description: str | None = None
    data: dict[str, Any]


class GraphConstraints(_StrictModel):
    min_incoming: int | None = None
    max_incoming: int | None = None
    min_outgoing: int | None = None
    max_outgoing: int | None = None
    min_instances: int | None = None
    max_instances: int | None = None


class NodeSpec(_StrictModel):
    name: str
    display_name: str
    description: str = Field(min_length=1)
    llm_hint: str | None = None
    docs_url: str | None = None
    category: NodeCategory
    icon: str
    version: str | None = SPEC_VERSION
    properties: list[PropertySpec]
    examples: list[NodeExample] | None = None
    graph_constraints: GraphConstraints | None = None


class NodeTypesResponse(BaseModel):
    spec_version: str
    node_types: list[NodeSpec]


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """Something wrong with one field; ``field`` is dotted and begins with ``data``."""

    field: str
    code: str
    message: str


def no_further_check(data: Mapping[str, Any]) -> Iterator[FieldProblem]:
    yield from ()


@dataclass(frozen=True, slots=True)
class NodeKind:
    """A kind of node: what it declares, and what its declaration cannot say.

    ``is_conversational``: callers talk at it, so it takes part in the flow. ``secrets``: data keys that are masked
    when they are read. ``is_offered``: editors are told of it; a kind that is not does nothing here. ``prompt_name`` is set where a prompt (or a fixed sentence) is needed, as messages name it.
    """

    spec: NodeSpec
    is_conversational: bool = False
    prompt_name: str | None = None
    secrets: tuple[str, ...] = ()
    is_offered: bool = True
    check: Callable[[Mapping[str, Any]], Iterator[FieldProblem]] = no_further_check

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def constraints(self) -> GraphConstraints:
        return self.spec.graph_constraints or GraphConstraints()
