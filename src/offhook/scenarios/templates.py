"""The scenarios of the catalog's templates, and of the demo agents that are made from them."""

from functools import cache

from offhook.scenarios.definition import Scenario
from offhook.scenarios.engine.agent import ScenarioAgent, ScenarioTool, build_scenario_agent
from offhook.scenarios.files import parse_scenarios
from offhook.workflows.catalog.templates import AgentTemplate, definition_with, load_template


@cache
def template_scenarios(template_id: str) -> tuple[Scenario, ...]:
    """Returns the scenarios of a template of the catalog."""
    return parse_scenarios(load_template(template_id).scenarios)


def build_template_agent(template: AgentTemplate) -> ScenarioAgent:
    """Returns the agent that the template makes, with its documents and tools under their own names."""
    documents = {document.filename: document.content.decode() for document in template.documents}
    return build_scenario_agent(
        template.card.agent_name,
        definition_with(template, document_ids=list(documents), tool_ids={}),
        configurations=template.configurations,
        tools=[ScenarioTool(tool.id, tool.name, tool.description, tool.definition) for tool in template.card.tools],
        documents=documents,
    )
