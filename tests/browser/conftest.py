"""A server on a real port: sockets are tested as browsers use them."""

from collections.abc import AsyncIterator

import pytest
import uvicorn
from fastapi import FastAPI

from offhook.kit.media_sockets.media_socket_protocol import MediaSocketProtocol
from offhook.root import Root
from tests.fakes.calls import FixedModels, use_fakes
from tests.fakes.scripted import takes
from tests.runs.conftest import make_run, make_workflow, run, workflow_id  # noqa: F401 - fixtures
from tests.servers import BareServer, serving


@pytest.fixture
def models(root: Root) -> FixedModels:
    fakes = FixedModels([takes("done")])
    use_fakes(root, fakes)
    return fakes


@pytest.fixture
async def server(request: pytest.FixtureRequest, app: FastAPI, models: FixedModels) -> AsyncIterator[str]:
    """The address of a running server with our socket protocol, or with uvicorn's own (``indirect=True``, "asgi")."""
    is_asgi = getattr(request, "param", "push") == "asgi"
    protocol = "websockets-sansio" if is_asgi else MediaSocketProtocol
    config = uvicorn.Config(app, ws=protocol, log_config=None, lifespan="on")
    async with serving(BareServer(config)) as address:
        yield address
