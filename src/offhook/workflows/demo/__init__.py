"""Three agents of the catalog that a new organization has: appointment booking, order status with a tool, a survey.

``demo_caller`` in a definition holds a simulated caller's answers at each node.
"""

from collections.abc import Sequence
from typing import Final, TypedDict

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_values import JsonObject, as_json_list
from offhook.orgs import Caller, write_audit_entry
from offhook.workflows import publication, repository, service
from offhook.workflows.catalog.templates import TemplateDefinition, load_template
from offhook.workflows.ports import NoTools, ToolCatalog

SLUGS: Final = ("appointment_booking", "order_status", "survey")


_QUESTION: Final = "question"


class DemoAgent(TypedDict):
    name: str
    definition: TemplateDefinition
    configurations: JsonObject
    scenarios: Sequence[JsonObject]


def demo_agent(slug: str) -> DemoAgent:
    """Returns one demo agent. It is shared: do not change it."""
    template = load_template(slug)
    # the demo agents have no documents: nothing answers a question
    scenarios = [scenario for scenario in template.scenarios if _QUESTION not in as_json_list(scenario.get("tags"))]
    return {
        "name": f"{template.card.agent_name} (demo)",
        "definition": template.definition,
        "configurations": template.configurations,
        "scenarios": scenarios,
    }


async def ensure_demo(
    session: AsyncSession, organization_id: int, created_by: int | None, *, tools: ToolCatalog | None = None
) -> list[int]:
    """Creates and publishes the demo agents in an organization without workflows; returns their ids.

    Processes may call it concurrently: one of them creates the agents.
    """
    await repository.lock_demo(session, organization_id)
    if await repository.has_workflow(session, organization_id):
        return []
    caller = Caller(organization_id=organization_id, user_id=created_by, key_id=None, role="owner", is_superuser=False)
    created = []
    for slug in reversed(SLUGS):  # lists show the newest first
        agent = demo_agent(slug)
        workflow = await service.create_workflow(
            session,
            caller,
            agent["name"],
            agent["definition"],
            configurations=agent["configurations"],
            scenarios=agent["scenarios"],
        )
        await publication.publish_draft(session, tools or NoTools(), caller, workflow.id)
        created.append(workflow.id)
    await write_audit_entry(session, caller, "workflow.demo_created", data={"workflow_ids": created})
    return created
