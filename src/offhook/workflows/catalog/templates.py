"""The templates of the catalog, one folder for each: ``template.json``, ``definition.json``, ``analysis.json`` with the
results of calls, ``scenarios.json`` and ``documents/``.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Annotated, Final, Literal, TypedDict

from pydantic import ConfigDict, Field

from offhook.kit.json_values import JsonObject
from offhook.kit.schema import Schema
from offhook.tools.definitions import ToolDefinition
from offhook.workflows.results.definitions import SETTING, CallAnalysis

# The order of the gallery: what most people look for comes first.
TEMPLATE_IDS: Final = (
    "reception",
    "appointment_booking",
    "order_status",
    "support_triage",
    "after_hours",
    "lead_qualification",
    "survey",
    "no_show_recall",
    "payment_reminder",
    "event_reminder",
    "delivery_window",
    "recruiting_screen",
)
_FOLDER: Final = "agents"
# Kinds of nodes that look things up in documents.
_READERS: Final = frozenset({"startCall", "agentNode"})


class TemplateTool(Schema):
    """A tool that is created together with the agent. Nodes name it by ``id``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    name: str
    description: str
    definition: ToolDefinition


class TemplateCard(Schema):
    """What the gallery says about a template. ``agent_name`` is the name of an agent that is created without one.

    ``before_use`` says what to replace before the agent talks to real callers.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: Annotated[str, Field(max_length=40)]
    summary: Annotated[str, Field(max_length=140)]
    agent_name: str
    call_type: Literal["inbound", "outbound"]
    works_offline: bool
    before_use: str
    tools: tuple[TemplateTool, ...] = ()


class NodePosition(TypedDict):
    x: float
    y: float


class TemplateNode(TypedDict):
    id: str
    type: str
    position: NodePosition
    data: JsonObject


class TemplateEdge(TypedDict):
    id: str
    source: str
    target: str
    data: JsonObject


class TemplateDefinition(TypedDict):
    """A stored definition; ``demo_caller`` are a simulated caller's answers."""

    nodes: list[TemplateNode]
    edges: list[TemplateEdge]
    viewport: JsonObject
    demo_caller: list[JsonObject]


@dataclass(frozen=True, slots=True)
class TemplateDocument:
    """A text file for the knowledge base. ``name`` is its title there."""

    filename: str
    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class AgentTemplate:
    """One template. It is shared: do not change what it holds. ``scenarios`` are those of the scenarios domain,
    ``configurations`` the settings of an agent that is created from it."""

    id: str
    card: TemplateCard
    definition: TemplateDefinition
    configurations: JsonObject
    documents: Sequence[TemplateDocument]
    scenarios: Sequence[JsonObject]


def list_templates() -> list[AgentTemplate]:
    """Returns all templates in the order of the gallery."""
    return [load_template(template_id) for template_id in TEMPLATE_IDS]


def find_template(template_id: str) -> AgentTemplate | None:
    return load_template(template_id) if template_id in TEMPLATE_IDS else None


@cache
def load_template(template_id: str) -> AgentTemplate:
    """Loads a template of :data:`TEMPLATE_IDS`. Raises ValueError when its files are not what they must be."""
    folder = files(__package__) / _FOLDER / template_id
    definition: TemplateDefinition = json.loads((folder / "definition.json").read_text("utf-8"))
    analysis = CallAnalysis.model_validate_json((folder / "analysis.json").read_text("utf-8"))
    return AgentTemplate(
        id=template_id,
        card=TemplateCard.model_validate_json((folder / "template.json").read_text("utf-8")),
        definition=definition,
        configurations={SETTING: analysis.model_dump(mode="json", exclude_unset=True)},
        documents=tuple(_load_documents(folder / "documents")),
        scenarios=tuple(json.loads((folder / "scenarios.json").read_text("utf-8"))),
    )


def definition_with(
    template: AgentTemplate, *, document_ids: Sequence[str], tool_ids: Mapping[str, str]
) -> TemplateDefinition:
    """Returns the template's definition with documents at every node that callers ask questions at, and with tools.

    ``tool_ids``: the id of each tool by its id in the template; other ids stay as they are.
    """

    def complete_node(node: TemplateNode) -> TemplateNode:
        data = dict(node["data"])
        if document_ids and node["type"] in _READERS:
            data["document_refs"] = list(document_ids)
        named = data.get("tool_uuids")
        if isinstance(named, list):
            data["tool_uuids"] = [tool_ids.get(str(name), name) for name in named]
        return {**node, "data": data}

    definition = template.definition
    return {**definition, "nodes": [complete_node(node) for node in definition["nodes"]]}


def _load_documents(folder: Traversable) -> Iterator[TemplateDocument]:
    if not folder.is_dir():
        return
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        content = file.read_bytes()
        title = content.decode("utf-8").splitlines()[0].lstrip("# ").strip()
        yield TemplateDocument(file.name, title, content)
