"""The shell's own database table, web UI and client."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from httpx2 import ASGITransport, AsyncClient
from sqlalchemy import text

from offhook.kit.database.database import Database
from offhook.settings import Settings
from tests.kit.http_things import build


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url)
    async with database.transaction() as session:
        await session.execute(
            text("CREATE TABLE things (id serial, name varchar(40) UNIQUE, count integer, data jsonb)")
        )
    yield database
    await database.dispose()


@pytest.fixture
def ui(tmp_path: Path) -> Path:
    (tmp_path / "ui" / "assets").mkdir(parents=True)
    (tmp_path / "ui" / "index.html").write_text("<html>the app</html>")
    (tmp_path / "ui" / "assets" / "app-1a2b.js").write_text("1")
    (tmp_path / "ui" / "favicon.svg").write_text("<svg/>")
    (tmp_path / "secret.txt").write_text("secret")
    return tmp_path / "ui"


@pytest.fixture
async def http(db: Database, settings: Settings, ui: Path) -> AsyncIterator[AsyncClient]:
    transport = ASGITransport(app=build(db, settings, ui), raise_app_exceptions=False)
    async with AsyncClient(transport=transport, base_url="http://testserver") as client:
        yield client
