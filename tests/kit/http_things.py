"""A small application behind the HTTP shell, for the tests of the shell."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Query, UploadFile, WebSocket
from httpx2 import AsyncClient
from pydantic import BaseModel, Field
from sqlalchemy import text

from offhook.errors import Conflict, Unauthorized
from offhook.kit.clock import Clock
from offhook.kit.database.database import Database, Session
from offhook.kit.http import install_http
from offhook.kit.http.path_ids import Id, LongId
from offhook.root import use_service
from offhook.settings import Settings
from tests.fakes.clock import SetClock


class Thing(BaseModel):
    name: str
    count: int = 0
    data: dict[str, Any] = {}
    tags: Annotated[list[Annotated[str, Field(max_length=20)]], Field(max_length=3)] = []
    sizes: list[int] = []
    share: Annotated[float, Field(gt=0, le=0.5)] = 0.5


class Root:
    def __init__(self, db: Database, settings: Settings) -> None:
        self.db = db
        self.settings = settings
        self.is_draining = False
        self.process_checks: dict[str, Callable[[], bool]] = {}

    def get(self, kind: type[Any]) -> Any:
        return {Clock: SetClock()}[kind]


class Broken(Exception):
    pass


router = APIRouter(prefix="/api/v1")


@router.post("/things/", response_model=Thing)
async def create_thing(body: Thing, session: Session) -> Thing:
    await session.execute(
        text("INSERT INTO things (name, count, data) VALUES (:n, :c, CAST(:d AS jsonb))"),
        {"n": body.name, "c": body.count, "d": json.dumps(body.data)},
    )
    return body


@router.get("/things/{thing_id}", response_model=dict[str, int])
async def get_thing(thing_id: Id) -> dict[str, int]:
    return {"id": thing_id}


@router.get("/long/{thing_id}", response_model=dict[str, int])
async def get_long(thing_id: LongId) -> dict[str, int]:
    return {"id": thing_id}


@router.get("/find", response_model=list[int])
async def find_things(session: Session, name: str = "", count: Annotated[int | None, Query()] = None) -> list[int]:
    found = await session.execute(
        text("SELECT id FROM things WHERE name = :n AND count = CAST(:c AS integer)"), {"n": name, "c": count}
    )
    return [row[0] for row in found]


@router.get("/conflict", response_model=None)
async def conflict() -> None:
    raise Conflict(detail={"errors": ["\ud800"]})


@router.get("/broken", response_model=None)
async def broken() -> None:
    raise Broken("the database password is hunter2")


@router.get("/broken/{token}", response_model=None)
async def broken_link(token: str) -> None:
    raise Broken


@router.post("/upload", response_model=int, max_body_size=20 * 1024 * 1024)
async def upload(file: UploadFile) -> int:
    return len(await file.read())


@router.websocket("/socket/{name}")
async def socket(websocket: WebSocket, name: str) -> None:
    if name == "stranger":
        raise Unauthorized
    await websocket.accept()
    await websocket.send_text(name)
    if name == "late":
        raise Unauthorized
    await websocket.close()


@router.websocket("/things-now")
async def things_now(
    websocket: WebSocket, session: Session, clock: Annotated[Clock, Depends(use_service(Clock))]
) -> None:
    await websocket.accept()
    count = await session.execute(text("SELECT count(*) FROM things"))
    await websocket.send_text(f"{count.scalar_one()} things at {clock.now():%Y}")
    await websocket.close()


def build(db: Database, settings: Settings, ui: Path, checks: Any = None) -> FastAPI:
    app = FastAPI(openapi_url=None)
    root = Root(db, settings)
    app.state.root = root
    app.include_router(router)
    install_http(app, root, checks=checks, ui_folder=ui)
    return app


async def post(http: AsyncClient, content: bytes | str, **headers: str) -> Any:
    return await http.post("/api/v1/things/", content=content, headers={"content-type": "application/json"} | headers)
