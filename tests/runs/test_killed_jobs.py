"""Work that is killed between any two of its transactions, and begun again: nothing is lost, and nothing is done twice."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from sqlalchemy import func, select, update

from offhook.commands import encryption
from offhook.kit.crypto import Keyring
from offhook.kit.database.database import Database
from offhook.kit.files.sealed_file import read_key_number
from offhook.orgs.data_keys.keys import DataKeys
from offhook.orgs.tables import StoredDataKey
from offhook.root import Root
from offhook.runs import LiveCallRegistry, RunServices
from offhook.runs.records import event_queries
from offhook.runs.records.deletion import RunEraser
from offhook.runs.tables import Run, RunEvent
from offhook.workflows import WorkflowHooks
from offhook.workflows.lifecycle import WorkflowEraser
from offhook.workflows.tables import Workflow
from tests.fakes.calls import FixedModels, use_fakes
from tests.fakes.scripted import takes
from tests.fixtures_orgs import OrgFixture
from tests.privacy.test_organization_deletion import DyingDatabase, Killed
from tests.privacy.test_sealed_rows import store
from tests.runs.conftest import MakeRun, MakeWorkflow
from tests.runs.test_encrypted_words import use_keys
from tests.runs.test_sealed_recordings import carry, grow_old, plain

Work = Callable[[Database], Awaitable[None]]


@pytest.fixture
async def live(root: Root) -> AsyncIterator[LiveCallRegistry]:
    use_fakes(root, FixedModels([takes("done")]))
    yield root.get(RunServices).live
    await root.get(RunServices).live.stop_all()


async def repeat_with_deaths(root: Root, work: Work) -> int:
    """Does the work in processes each of which lives one transaction longer; returns how many died before one did not."""
    deaths = 0
    while True:
        database = DyingDatabase(root.db.url, lives=deaths)
        database.session_info.update(root.db.session_info)
        try:
            await work(database)
        except Killed:
            deaths += 1
        else:
            return deaths
        finally:
            await database.dispose()


async def read_words(root: Root, runs: list[Run]) -> list[object]:
    async with root.db.transaction() as session:
        return [await event_queries.read_events(session, run.organization_id, run.id, limit=1000) for run in runs]


async def test_encrypting_with_a_new_key(
    root: Root, live: LiveCallRegistry, org: OrgFixture, make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFHOOK_DATA_DIR", str(root.settings.data_dir))
    use_keys(root, encrypts=True)
    carried = [await carry(root, live, await make_run(mode="browser", direction="inbound")) for _ in range(2)]
    runs, paths = [run for run, _ in carried], [path for _, path in carried]
    await store(root, runs[0])
    words, sounds = await read_words(root, runs), [await plain(root, run) for run in runs]
    async with root.db.transaction() as session:
        assert await DataKeys(root.get(Keyring)).rotate(session, org.id) == 2
    for path in paths:
        grow_old(path)

    async def apply(database: Database) -> None:
        await encryption._apply(database, str(org.id))

    deaths = await repeat_with_deaths(root, apply)
    assert deaths > 10
    for path in paths:
        grow_old(path)
    assert await repeat_with_deaths(root, apply) > 0, "once more, with nothing to do"
    assert [read_key_number(path.read_bytes()) for path in paths] == [2, 2]
    use_keys(root, encrypts=True)
    assert await read_words(root, runs) == words
    assert [await plain(root, run) for run in runs] == sounds
    async with root.db.transaction() as session:
        numbers = await session.scalars(select(StoredDataKey.number).where(StoredDataKey.organization_id == org.id))
        assert list(numbers) == [2]


async def test_erasing_an_agent(root: Root, org: OrgFixture, make_run: MakeRun, make_workflow: MakeWorkflow) -> None:
    kept_agent = await make_workflow(org.id, name="Kept")
    runs = [await make_run() for _ in range(3)]
    kept = await make_run(workflow_id=kept_agent)
    workflow_id = runs[0].workflow_id
    files: list[Path] = []
    async with root.db.transaction() as session:
        for run in (*runs, kept):
            key = f"recordings/{org.id}/{run.id}.wav"
            path = root.storage.path_for(key)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"RIFF")
            files.append(path)
            await session.execute(
                update(Run).where(Run.id == run.id).values(status="completed", lease_until=None, recording_key=key)
            )
        await session.execute(update(Workflow).where(Workflow.id == workflow_id).values(status="deleted"))

    async def erase(database: Database) -> None:
        hooks = WorkflowHooks(erasers=[RunEraser(database, root.storage, root.clock).erase_batch])
        await WorkflowEraser(database, hooks).erase_workflow({"organization_id": org.id, "workflow_id": workflow_id})

    assert await repeat_with_deaths(root, erase) == 3
    await erase(root.db)
    async with root.db.transaction() as session:
        assert list(await session.scalars(select(Run.id))) == [kept.id]
        assert list(await session.scalars(select(Workflow.id).where(Workflow.organization_id == org.id))) == [
            kept_agent
        ]
        assert await session.scalar(select(func.count()).select_from(RunEvent).where(RunEvent.run_id != kept.id)) == 0
    assert [path.exists() for path in files] == [False, False, False, True]
