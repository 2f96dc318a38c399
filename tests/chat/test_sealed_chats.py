"""Text chats whose state is encrypted with the key of their organization: they go on as before."""

from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import func, select, update

from offhook.kit.crypto import Keyring
from offhook.models.ports import CallModels
from offhook.orgs.data_keys.keys import DataKeys
from offhook.orgs.data_keys.row_sealer import seal_rows
from offhook.orgs.tables import StoredDataKey
from offhook.root import Root
from offhook.runs.tables import Run
from tests.chat.test_endpoints import chat, path, say, texts
from tests.fakes.calls import FixedModels, use_fakes
from tests.fakes.scripted import says
from tests.fixtures_orgs import OrgFixture
from tests.privacy.scan import find_in_tables
from tests.runs.test_encrypted_words import use_keys

__all__ = ["chat", "path"]

GREETING = ("agent", "Hello, how may I help?")
ASKED = ("caller", "I am Quillon, are you open?")
ANSWERED = ("agent", "Mister Brask, until six.")
WORDS = ("quillon", "brask", "how may i help")


@pytest.fixture
def models(root: Root) -> FixedModels:
    fakes = FixedModels([says(text) for text in ("Mister Brask, until six.", "Yes.", "No.")])
    use_fakes(root, fakes)
    return fakes


@pytest.fixture
def encrypting(root: Root) -> None:
    use_keys(root, encrypts=True)


async def stored_key(root: Root) -> int | None:
    async with root.db.transaction() as session:
        number: int | None = await session.scalar(select(Run.chat_key_number))
    return number


async def shown(client: AsyncClient, path: str, chat: dict[str, Any], org: OrgFixture) -> dict[str, Any]:
    found = await client.get(f"{path}/{chat['id']}", headers=org.owner_headers)
    assert found.status_code == 200, found.text
    return found.json()  # type: ignore[no-any-return]


@pytest.mark.usefixtures("encrypting")
async def test_no_word_of_a_chat_in_progress_is_in_the_database(
    client: AsyncClient, path: str, chat: dict[str, Any], root: Root, org: OrgFixture
) -> None:
    said = await say(client, path, chat, org, "I am Quillon, are you open?", expected_revision=1)
    assert texts(said.json()) == [GREETING, ASKED, ANSWERED]
    # The greeting is also in the agent's definition.
    assert {*await find_in_tables(root, WORDS)} == {"workflow_versions.definition"}
    assert texts(await shown(client, path, chat, org)) == [GREETING, ASKED, ANSWERED]
    headers = org.owner_headers
    rewound = await client.post(f"{path}/{chat['id']}/rewind", json={"cursor_turn_id": "turn_1"}, headers=headers)
    assert texts(rewound.json()) == [GREETING]
    again = await say(client, path, chat, org, "I am Marzipan.")
    assert texts(again.json()) == [GREETING, ("caller", "I am Marzipan."), ("agent", "Yes.")]
    ended = await client.post(f"{path}/{chat['id']}/end", headers=headers)
    assert texts(ended.json()) == texts(again.json())
    assert {*await find_in_tables(root, (*WORDS, "marzipan"))} == {"workflow_versions.definition"}


async def test_a_plain_chat_goes_on_encrypted_and_back(
    client: AsyncClient, path: str, chat: dict[str, Any], root: Root, org: OrgFixture
) -> None:
    await say(client, path, chat, org, "I am Quillon, are you open?")
    assert "runs.chat_state" in await find_in_tables(root, ["quillon"])
    use_keys(root, encrypts=True)
    assert texts(await shown(client, path, chat, org)) == [GREETING, ASKED, ANSWERED]
    said = await say(client, path, chat, org, "On Sundays?")
    assert texts(said.json())[:3] == [GREETING, ASKED, ANSWERED]
    assert (await stored_key(root), "runs.chat_state" in await find_in_tables(root, ["quillon"])) == (1, False)
    use_keys(root, encrypts=False)
    said = await say(client, path, chat, org, "And on Mondays?")
    assert len(texts(said.json())) == 7
    assert (await stored_key(root), "runs.chat_state" in await find_in_tables(root, ["quillon"])) == (None, True)


async def test_an_existing_chat_is_encrypted_and_rotated(
    client: AsyncClient, path: str, chat: dict[str, Any], root: Root, org: OrgFixture
) -> None:
    await say(client, path, chat, org, "I am Quillon, are you open?")
    use_keys(root, encrypts=True)
    keys = DataKeys(root.get(Keyring))
    async with root.db.transaction() as session:
        await keys.get_newest(session, org.id)
    await seal_rows(root.db, keys, org.id, 1)
    assert "runs.chat_state" not in await find_in_tables(root, ["quillon"])
    async with root.db.transaction() as session:
        await keys.rotate(session, org.id)
    await seal_rows(root.db, keys, org.id, 2)
    async with root.db.transaction() as session:
        await keys.delete_older(session, org.id, 2)
    use_keys(root, encrypts=True)
    assert await stored_key(root) == 2
    said = await say(client, path, chat, org, "On Sundays?", expected_revision=2)
    assert texts(said.json())[:3] == [GREETING, ASKED, ANSWERED]


@pytest.mark.usefixtures("encrypting")
async def test_without_its_key_a_chat_neither_goes_on_nor_begins_anew(
    client: AsyncClient, path: str, chat: dict[str, Any], root: Root, org: OrgFixture
) -> None:
    async with root.db.transaction() as session:
        await session.execute(update(StoredDataKey).values(sealed_key=b"sealed with another secret"))
    use_keys(root, encrypts=True)
    own, headers = f"{path}/{chat['id']}", org.owner_headers
    for refused in (
        await client.get(own, headers=headers),
        await say(client, path, chat, org, "Are you open?"),
        await client.post(f"{own}/rewind", json={"cursor_turn_id": None}, headers=headers),
        await client.post(f"{own}/end", headers=headers),
        await client.post(path, json={}, headers=headers),
    ):
        assert (refused.status_code, refused.json()["code"]) == (409, "words_unreadable"), refused.text
    async with root.db.transaction() as session:
        assert await session.scalar(select(func.count()).select_from(Run)) == 1


@pytest.mark.usefixtures("encrypting")
async def test_a_chat_whose_key_is_lost_while_it_is_answered_is_not_stored_plain(
    client: AsyncClient, path: str, chat: dict[str, Any], root: Root, org: OrgFixture, models: FixedModels,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    async def lose_key(organization_id: int, _configurations: object) -> CallModels:
        async with root.db.transaction() as session:
            await session.execute(update(StoredDataKey).values(sealed_key=b"sealed with another secret"))
        return models.for_call({})

    monkeypatch.setattr(models, "for_organization", lose_key)
    refused = await say(client, path, chat, org, "I am Quillon, are you open?")
    assert (refused.status_code, refused.json()["code"]) == (409, "words_unreadable")
    assert await find_in_tables(root, ["quillon", "brask"]) == {}
