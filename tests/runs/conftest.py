"""What tests of runs start from: a published workflow and a way to make runs of it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from offhook.root import Root
from offhook.runs import LiveCallRegistry, RunServices, service
from offhook.runs.tables import Run
from offhook.workflows.tables import Workflow, WorkflowVersion
from tests.fakes.calls import FixedModels, use_fakes
from tests.fakes.scripted import says, takes
from tests.fixtures_orgs import OrgFixture

DEFINITION: dict[str, Any] = {
    "nodes": [
        {
            "id": "start",
            "type": "startCall",
            "position": {"x": 0, "y": 0},
            "data": {"name": "Greeting", "greeting": "Hello, how may I help?", "prompt": "Greet the caller."},
        },
        {
            "id": "bye",
            "type": "endCall",
            "position": {"x": 0, "y": 200},
            "data": {"name": "Goodbye", "say": "Thank you, goodbye.", "prompt": "Say goodbye."},
        },
    ],
    "edges": [
        {
            "id": "e1",
            "source": "start",
            "target": "bye",
            "data": {"label": "Done", "condition": "the caller wants to end the call", "examples": ["goodbye", "bye"]},
        }
    ],
}

MakeWorkflow = Callable[..., Awaitable[int]]
MakeRun = Callable[..., Awaitable[Run]]


@pytest.fixture
def make_workflow(root: Root) -> MakeWorkflow:
    """Make a published workflow (``status="draft"`` for a draft only) and return its id."""

    async def make(organization_id: int, *, name: str = "Front desk", status: str = "published") -> int:
        async with root.db.transaction() as session:
            workflow = Workflow(organization_id=organization_id, name=name)
            session.add(workflow)
            await session.flush()
            session.add(
                WorkflowVersion(
                    workflow_id=workflow.id,
                    organization_id=organization_id,
                    version_number=1,
                    status=status,
                    definition=DEFINITION,
                )
            )
            return workflow.id

    return make


@pytest.fixture
async def workflow_id(org: OrgFixture, make_workflow: MakeWorkflow) -> int:
    return await make_workflow(org.id)


@pytest.fixture
def make_run(root: Root, org: OrgFixture, workflow_id: int) -> MakeRun:
    """Make a run of ``workflow_id``: ``run = await make_run(mode="twilio")``."""

    async def make(**values: Any) -> Run:
        asked: dict[str, Any] = {"mode": "twilio", "direction": "outbound", "use_draft": False}
        asked |= {"workflow_id": workflow_id} | values
        async with root.db.transaction() as session:
            return await service.create_run(session, organization_id=org.id, **asked)

    return make


@pytest.fixture
async def run(make_run: MakeRun) -> Run:
    return await make_run()


@pytest.fixture
def models(root: Root) -> FixedModels:
    """The model of calls that are journaled: it answers once and ends the call."""
    fakes = FixedModels([says("We open at nine."), takes("done")])
    use_fakes(root, fakes)
    return fakes


@pytest.fixture
async def live(root: Root, models: FixedModels) -> AsyncIterator[LiveCallRegistry]:
    yield root.get(RunServices).live
    await root.get(RunServices).live.stop_all()
