"""Requests that are let in, checked or hashed, and overtaken before they write: always in the same place."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from sqlalchemy import text

from offhook.orgs.sign_in.authentication import Authenticator
from offhook.orgs.sign_in.passwords import PasswordService
from offhook.root import Root

Step = Callable[[], Awaitable[object]]

_WAITING = text("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")


def after_hashing(monkeypatch: pytest.MonkeyPatch, step: Step) -> None:
    """Runs the step once, when the next new password is hashed and not stored yet."""
    run_after(monkeypatch, PasswordService, "hash_password", step)


def after_checking(monkeypatch: pytest.MonkeyPatch, step: Step) -> None:
    """Runs the step once, when the next password is checked and nobody is signed in by it yet."""
    run_after(monkeypatch, PasswordService, "verify_password", step)


def after_admission(monkeypatch: pytest.MonkeyPatch, step: Step) -> None:
    """Runs the step once, when the next credential was accepted and its request has done nothing yet."""
    run_after(monkeypatch, Authenticator, "authenticate", step)


def run_after(monkeypatch: pytest.MonkeyPatch, owner: object, name: str, step: Step) -> None:
    """Runs the step once, after the next call of this method or function."""
    original, waiting = getattr(owner, name), [step]

    async def wrapped(*args: Any, **kwargs: Any) -> Any:
        result = await original(*args, **kwargs)
        if waiting:
            await waiting.pop()()
        return result

    monkeypatch.setattr(owner, name, wrapped)


async def until_it_waits(root: Root, task: asyncio.Task[Any]) -> None:
    """Waits until the task is done or waits for a lock of another transaction."""
    async with asyncio.timeout(10):
        while not task.done():
            async with root.db.transaction() as session:
                if await session.scalar(_WAITING):
                    return
            await asyncio.sleep(0.01)
