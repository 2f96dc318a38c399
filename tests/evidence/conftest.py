"""Calls of every kind: of a campaign, placed over the API, and from outside."""

from tests.campaigns.conftest import campaigns, make_campaign, workflow_id
from tests.commands.conftest import offhook
from tests.runs.conftest import make_workflow
from tests.telephony.conftest import account, agent, app, fakecom, make_agent

__all__ = [
    "account",
    "agent",
    "app",
    "campaigns",
    "fakecom",
    "make_agent",
    "make_campaign",
    "make_workflow",
    "offhook",
    "workflow_id",
]
