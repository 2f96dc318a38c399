"""Three agents that work without an account: appointment booking, order status with a tool, a survey.

Their definitions are the JSON files in this folder. ``demo_caller`` in a definition holds a simulated caller's answers
at each node.
"""

import json
from functools import cache
from importlib.resources import files
from typing import Final, TypedDict

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_values import JsonObject
from offhook.orgs import Caller, write_audit_entry
from offhook.workflows import publication, repository, service
from offhook.workflows.ports import NoTools, ToolCatalog

SLUGS: Final = ("appointment_booking", "order_status", "survey")


class DemoAgent(TypedDict):
    name: str
    definition: JsonObject


@cache
def demo_agent(slug: str) -> DemoAgent:
    """Returns one demo agent. It is shared: do not change it."""
    text = (files(__package__) / f"{slug}.json").read_text("utf-8")
    agent: DemoAgent = json.loads(text)
    return agent


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
        workflow = await service.create_workflow(session, caller, agent["name"], agent["definition"])
        await publication.publish_draft(session, tools or NoTools(), caller, workflow.id)
        created.append(workflow.id)
    await write_audit_entry(session, caller, "workflow.demo_created", data={"workflow_ids": created})
    return created
