"""Requests and responses of the template catalog."""

from typing import Literal

from offhook.kit.schema import Schema
from offhook.workflows.catalog.templates import AgentTemplate
from offhook.workflows.nodes import KINDS
from offhook.workflows.schemas import Name


class TemplateNodeResponse(Schema):
    """A node that callers talk with; ``x`` and ``y`` are its place in the editor."""

    id: str
    type: str
    name: str
    x: float
    y: float


class TemplateEdgeResponse(Schema):
    source: str
    target: str


class TemplateResponse(Schema):
    """A template without its texts. ``before_use`` says what to replace before the agent talks to real callers."""

    id: str
    title: str
    summary: str
    agent_name: str
    call_type: Literal["inbound", "outbound"]
    works_offline: bool
    before_use: str
    documents: list[str]
    tools: list[str]
    scenario_count: int
    nodes: list[TemplateNodeResponse]
    edges: list[TemplateEdgeResponse]

    @classmethod
    def from_template(cls, template: AgentTemplate) -> "TemplateResponse":
        card, definition = template.card, template.definition
        return cls(
            id=template.id,
            title=card.title,
            summary=card.summary,
            agent_name=card.agent_name,
            call_type=card.call_type,
            works_offline=card.works_offline,
            before_use=card.before_use,
            documents=[document.name for document in template.documents],
            tools=[tool.name for tool in card.tools],
            scenario_count=len(template.scenarios),
            nodes=[
                TemplateNodeResponse(
                    id=node["id"], type=node["type"], name=str(node["data"]["name"]), **node["position"]
                )
                for node in definition["nodes"]
                if KINDS[node["type"]].is_conversational
            ],
            edges=[TemplateEdgeResponse(source=edge["source"], target=edge["target"]) for edge in definition["edges"]],
        )


class CreateFromTemplateRequest(Schema):
    """Without a name, the agent gets the name that the template suggests."""

    name: Name | None = None
