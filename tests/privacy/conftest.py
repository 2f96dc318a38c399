"""Calls through the sandbox, and a scan of everything that is stored."""

from tests.campaigns.conftest import campaigns, make_campaign, workflow_id
from tests.commands.conftest import offhook
from tests.runs.conftest import make_run, make_workflow

__all__ = ["campaigns", "make_campaign", "make_run", "make_workflow", "offhook", "workflow_id"]
