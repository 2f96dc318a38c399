"""The process for the HTTP API and the voice loop."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from offhook.root import Root


def create_app(root: Root) -> FastAPI:
    """The ASGI application over an already built root; its lifespan closes what the root opened."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await root.db.dispose()

    app = FastAPI(title="Offhook", version="0.1.0", lifespan=lifespan, redirect_slashes=False)
    app.state.root = root
    app.include_router(root.api, prefix="/api/v1")
    return app
