"""Reads a run for the scenario that is made of it."""

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs.privacy_settings import redaction
from offhook.runs import service as runs
from offhook.runs.call_toolbox import function_name
from offhook.runs.records import event_queries
from offhook.runs.records.projections import CHAT_REWOUND
from offhook.runs.states import FINAL_STATES
from offhook.scenarios.agents import load_agent
from offhook.scenarios.definition import Scenario
from offhook.scenarios.errors import RunNotKept, RunNotOver, RunRewound, RunWithoutWords
from offhook.scenarios.stored.from_runs import PastCall, build_call_scenario
from offhook.tools.definitions import HttpApiDefinition, McpDefinition, TransferCallDefinition
from offhook.workflows import service as workflows

MAX_EVENTS = 10_000


async def make_scenario(session: AsyncSession, organization_id: int, workflow_id: int, run_id: int) -> Scenario:
    """Returns a scenario of a run that is over. Nothing is stored.

    Raises RunNotFound (404), RunNotOver, RunNotKept, RunRewound, RunWithoutWords (409).
    """
    run = await runs.get_run(session, organization_id, run_id, workflow_id=workflow_id)
    if run.status not in FINAL_STATES:
        raise RunNotOver
    version = await workflows.version_to_run(session, organization_id, run.version_id)
    if version.configurations.get("do_not_keep") is True:
        raise RunNotKept
    journal = await event_queries.read_events(session, organization_id, run_id, limit=MAX_EVENTS)
    if any(event["type"] == CHAT_REWOUND for event in journal):
        raise RunRewound
    agent = await load_agent(session, version)
    scenario = build_call_scenario(
        PastCall(
            run_id=run.id,
            began_at=run.created_at,
            context=run.initial_context,
            gathered=run.gathered_context,
            journal=journal,
            # those that ask no other server: calculations and ends of calls
            real_tools={
                function_name(tool.name)
                for tool in agent.tools
                if not isinstance(tool.definition, HttpApiDefinition | McpDefinition | TransferCallDefinition)
            },
            transfers={
                function_name(tool.name) for tool in agent.tools if isinstance(tool.definition, TransferCallDefinition)
            },
            redaction=await redaction.get_redaction_rules(session, organization_id),
        )
    )
    if scenario is None:
        raise RunWithoutWords
    return scenario
