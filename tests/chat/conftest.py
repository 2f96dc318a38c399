"""Chats use the runs' workflows and scripted models."""

import pytest

from offhook.root import Root
from tests.fakes.calls import FixedModels, use_fakes
from tests.fakes.scripted import says, takes
from tests.runs.conftest import make_run, make_workflow, workflow_id  # noqa: F401 - fixtures


@pytest.fixture
def models(root: Root) -> FixedModels:
    """An agent that answers once and then says goodbye."""
    fakes = FixedModels([says("We are open until six."), takes("done")])
    use_fakes(root, fakes)
    return fakes
