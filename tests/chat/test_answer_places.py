"""Chats whose model server never answers: they take connections that all calls share, and no call's place."""

import asyncio
from contextlib import ExitStack

import pytest
from httpx2 import AsyncClient

from offhook.chat.answer_places import AnswerPlaces
from offhook.chat.errors import TooManyChatAnswers
from offhook.chat.services import ChatServices
from offhook.root import Root
from tests.fakes.calls import FixedModels, use_fakes
from tests.fakes.scripted import Reply
from tests.fixtures_orgs import OrgFixture


def take(places: AnswerPlaces, held: ExitStack, organization_id: int) -> bool:
    try:
        held.enter_context(places.hold(organization_id))
    except TooManyChatAnswers:
        return False
    return True


def test_an_organization_has_its_places_and_no_more() -> None:
    places = AnswerPlaces(of_one=3, in_all=100)
    with ExitStack() as held:
        assert [take(places, held, 1) for _ in range(4)] == [True, True, True, False]
        assert take(places, held, 2)
    with ExitStack() as held:
        assert take(places, held, 1), "given back"


def test_many_organizations_at_their_limit_leave_places_to_the_next_one() -> None:
    places = AnswerPlaces()
    with ExitStack() as held:
        for organization_id in range(50):
            while take(places, held, organization_id):
                pass
        assert take(places, held, 51)


async def test_hanging_answers_of_one_organization_are_bounded(
    client: AsyncClient,
    root: Root,
    org: OrgFixture,
    workflow_id: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    models = FixedModels([Reply("Never", hangs_after_words=0)] * 20)
    use_fakes(root, models)
    conversations = root.get(ChatServices).conversations
    monkeypatch.setattr(conversations, "_places", AnswerPlaces(of_one=2, in_all=100))
    path = f"/workflow/{workflow_id}/text-chat/sessions"
    chats = [(await client.post(path, json={}, headers=org.key_headers)).json()["id"] for _ in range(4)]

    async def say(chat: int) -> int:
        answer = await client.post(f"{path}/{chat}/messages", json={"text": "Hello?"}, headers=org.key_headers)
        return answer.status_code

    asked = [asyncio.create_task(say(chat)) for chat in chats]
    try:
        await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
        while sum(task.done() for task in asked) < 2:
            await asyncio.sleep(0.02)
        assert [task.result() for task in asked if task.done()] == [429, 429]
        refused = await client.post(path, json={}, headers=org.key_headers)
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_chat_answers")
        assert refused.headers["Retry-After"] == "5"
        assert (await client.get(f"{path}/{chats[0]}", headers=org.key_headers)).status_code == 200
    finally:
        for task in asked:
            task.cancel()
        await asyncio.gather(*asked, return_exceptions=True)
