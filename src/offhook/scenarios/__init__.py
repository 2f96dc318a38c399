"""Scenarios: conversations that an agent must be able to hold, tried before it answers a telephone."""

from dataclasses import replace

from offhook.jobs.shares import OrganizationShares
from offhook.models.organization_models import OrganizationModels
from offhook.models.prices import BillingPolicy
from offhook.root import Root
from offhook.runs import RunServices
from offhook.scenarios.answers import endpoints as answer_endpoints
from offhook.scenarios.answers.desk import AnswerDesk
from offhook.scenarios.answers.store import AnswerStore
from offhook.scenarios.coverage import endpoints as coverage_endpoints
from offhook.scenarios.definition import Scenario
from offhook.scenarios.engine.agent import ScenarioAgent, ScenarioTool, build_scenario_agent
from offhook.scenarios.engine.suite import ScenarioResult, SuiteResult, run_scenario, run_suite
from offhook.scenarios.files import read_scenarios, write_scenarios
from offhook.scenarios.plays import endpoints as play_endpoints
from offhook.scenarios.plays.publish_gate import require_passing_verdict
from offhook.scenarios.plays.recordings import SWEEP_INTERVAL_S, SWEEP_JOB, PlayRecordings
from offhook.scenarios.plays.service import PLAY_JOB
from offhook.scenarios.plays.tasks import ScenarioPlayJob
from offhook.scenarios.proposals import endpoints as proposal_endpoints
from offhook.scenarios.proposals.service import ScenarioProposalService
from offhook.scenarios.replays import endpoints as replay_endpoints
from offhook.scenarios.replays.requests import RunReplayService
from offhook.scenarios.services import ScenarioServices
from offhook.scenarios.stored import endpoints
from offhook.scenarios.stored.reading import ScenarioFiles
from offhook.workflows import WorkflowServices

__all__ = [
    "Scenario",
    "ScenarioAgent",
    "ScenarioResult",
    "ScenarioTool",
    "SuiteResult",
    "build_scenario_agent",
    "read_scenarios",
    "register",
    "run_scenario",
    "run_suite",
    "write_scenarios",
]


def register(root: Root) -> None:
    """Registers the routes, the job, the publish gate, and what reads the scenarios in files of agents."""
    workflows = root.get(WorkflowServices)
    files = ScenarioFiles()
    root.provide(WorkflowServices, replace(workflows, read_scenarios=files.check))
    workflows.hooks.publish_checks.append(require_passing_verdict)
    models_folder = root.settings.data_dir / "models"
    # two processes of plays beside the calls of a machine, and none of an organization beside another of its own
    recordings = PlayRecordings(root.db, root.storage, root.clock)
    runs = root.get(RunServices)
    answers = AnswerStore(root.db, runs.vault.keys)
    desk = AnswerDesk(
        root.db,
        answers,
        root.get(OrganizationModels),
        lambda: root.get(BillingPolicy),  # type: ignore[type-abstract]  # found by its port
    )
    job = ScenarioPlayJob(root.db, recordings, models_folder, desk=desk)
    root.jobs.add(PLAY_JOB, job.run_play, shares=OrganizationShares(2, 1))
    root.jobs.add(SWEEP_JOB, recordings.sweep, every_s=SWEEP_INTERVAL_S)
    journals = runs.live.journals
    root.provide(
        ScenarioServices,
        ScenarioServices(
            ScenarioProposalService(root.db, models_folder),
            RunReplayService(root.db, journals),
            recordings,
            desk,
            files,
        ),
    )
    root.api.include_router(endpoints.router)
    root.api.include_router(play_endpoints.router)
    root.api.include_router(answer_endpoints.router)
    root.api.include_router(coverage_endpoints.router)
    root.api.include_router(proposal_endpoints.router)
    root.api.include_router(replay_endpoints.router)
