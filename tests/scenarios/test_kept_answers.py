"""How long recorded answers are kept, and what removes them."""

from datetime import timedelta

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_values import JsonObject
from offhook.models.ports import TextDelta, ToolCall, ToolCalled
from offhook.privacy.number_forms import NumberForms
from offhook.root import Root
from offhook.scenarios.answers.recorded import MAX_ANSWER_BYTES, AnswerPiece, KeptAnswer, RecordedAnswer
from offhook.scenarios.answers.store import AnswerStore
from offhook.scenarios.engine.outside_models import AnswerRefused
from offhook.scenarios.services import ScenarioServices
from tests.fixtures_orgs import OrgFixture
from tests.scenarios.agents import DEFINITION
from tests.workflows.conftest import Editor, editor

__all__ = ["editor"]


@pytest.fixture
async def workflow_id(editor: Editor) -> int:
    return await editor.create_published(DEFINITION, "Shop")


@pytest.fixture
def store(root: Root) -> AnswerStore:
    return root.get(ScenarioServices).answers.store


def answer(name: str, *texts: str, call: ToolCall | None = None) -> KeptAnswer:
    pieces = [AnswerPiece(0.1, TextDelta(text)) for text in texts]
    if call is not None:
        pieces.append(AnswerPiece(0.2, ToolCalled(call)))
    model: JsonObject = {"provider": "openai", "model": "gpt-4.1", "temperature": 0.3, "max_tokens": None}
    return KeptAnswer(name, 0, RecordedAnswer(tuple(pieces)), "agent", model)


async def test_of_two_for_one_request_the_first_is_kept(store: AnswerStore, org: OrgFixture, workflow_id: int) -> None:
    shelf = store.of_agent(org.id, workflow_id)
    first = await shelf.keep_answer(answer("a", "Hello."))
    assert await shelf.keep_answer(answer("a", "Good morning.")) == first == await shelf.find_answer("a", 0)
    assert await shelf.find_answer("a", 1) is None


async def test_an_answer_has_a_size(store: AnswerStore, org: OrgFixture, workflow_id: int) -> None:
    with pytest.raises(AnswerRefused, match="too long"):
        await store.of_agent(org.id, workflow_id).keep_answer(answer("a", "x" * MAX_ANSWER_BYTES))


async def test_retention_deletes_what_is_older(
    root: Root, store: AnswerStore, org: OrgFixture, other_org: OrgFixture, workflow_id: int
) -> None:
    await store.of_agent(org.id, workflow_id).keep_answer(answer("a", "Hello."))
    later = root.clock.now() + timedelta(days=1)
    assert await store.delete_older(other_org.id, None, later) == 0
    assert await store.delete_older(org.id, workflow_id + 1, later) == 0
    assert await store.delete_older(org.id, workflow_id, later - timedelta(days=2)) == 0
    assert await store.delete_older(org.id, workflow_id, later) == 1


async def test_a_number_that_is_erased_is_in_none_of_them(
    store: AnswerStore, org: OrgFixture, workflow_id: int
) -> None:
    shelf = store.of_agent(org.id, workflow_id)
    await shelf.keep_answer(answer("said", "Is it +1 202 555", " 0173?"))
    await shelf.keep_answer(answer("called", call=ToolCall("1", "look_up", {"phone": "+12025550173"})))
    await shelf.keep_answer(answer("other", "Is it +1 202 555 0174?"))
    forms = NumberForms("+12025550173")
    told: list[int] = []

    async def note(_: AsyncSession, count: int) -> None:
        told.append(count)

    await store.delete_mentions(org.id, lambda value: forms.erase_from_value(value) != value, note)
    assert told == [2]
    assert await shelf.find_answer("other", 0) is not None


async def test_they_go_with_their_agent(
    root: Root, store: AnswerStore, org: OrgFixture, editor: Editor, workflow_id: int
) -> None:
    await store.of_agent(org.id, workflow_id).keep_answer(answer("a", "Hello."))
    deleted = await editor.delete(f"/workflow/{workflow_id}")
    assert deleted.status_code == 200, deleted.text
    await root.jobs.handlers["workflow.erase"]({"organization_id": org.id, "workflow_id": workflow_id})
    async with root.db.transaction() as session:
        assert (await store.count_answers(session, org.id, workflow_id)).count == 0
