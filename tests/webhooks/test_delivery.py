"""From an event to the customer's server: signed, numbered, tried for a day, and never forgotten."""

import asyncio
import json
from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import select, text, update
from sqlalchemy.exc import DBAPIError
from standardwebhooks import Webhook

from offhook.jobs.worker import run_until_empty
from offhook.root import Root
from offhook.webhooks import repository, service
from offhook.webhooks.delivery import MAX_CONCURRENT_PER_ENDPOINT
from offhook.webhooks.services import WebhookServices
from offhook.webhooks.tables import WebhookDelivery, WebhookEndpoint
from tests.fakes.web import LocalServer, Reply
from tests.fixtures_orgs import OrgFixture
from tests.privacy.scan import find_in_tables
from tests.runs.test_encrypted_words import use_keys
from tests.webhooks.conftest import HOST, PATH, Queue, lose_key

Hook = dict[str, Any]
DAY_S = 24 * 3600


async def deliveries(client: AsyncClient, org: OrgFixture, hook: Hook, **params: Any) -> list[dict[str, Any]]:
    answer = await client.get(f"{PATH}/{hook['id']}/deliveries", params=params, headers=org.owner_headers)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["deliveries"]
    return found


async def status(client: AsyncClient, org: OrgFixture, hook: Hook) -> str:
    return str((await client.get(f"{PATH}/{hook['id']}", headers=org.owner_headers)).json()["status"])


class TestASuccess:
    async def test_is_signed_and_told_once(
        self, client: AsyncClient, org: OrgFixture, hook: Hook, shop: LocalServer, queue: Queue
    ) -> None:
        await queue.publish(org, run_id=7, said="grüß Gott")
        assert await queue.advance(DAY_S) == [service.DELIVER_JOB]
        (seen,) = shop.seen
        content = Webhook(hook["secret"]).verify(seen.body, seen.headers)
        assert (content["type"], content["data"]) == ("run.completed", {"run_id": 7, "said": "grüß Gott"})
        assert (content["sequence"], content["organization_id"]) == (1, org.id)
        assert seen.headers["webhook-id"] == content["id"]
        (delivery,) = await deliveries(client, org, hook)
        assert (delivery["status"], delivery["attempts"], delivery["last_status_code"]) == ("delivered", 1, 200)

    async def test_is_told_in_full_where_the_database_has_it_encrypted(
        self, client: AsyncClient, root: Root, org: OrgFixture, hook: Hook, shop: LocalServer, queue: Queue
    ) -> None:
        use_keys(root, encrypts=True)
        await queue.publish(org, run_id=7, said="grüß Gott")
        shop.answers = lambda seen: Reply(body=b"Got " + seen.body[-40:])
        await queue.advance()
        assert await find_in_tables(root, ["grüß"]) == {}
        assert json.loads(shop.seen[0].body)["data"] == {"run_id": 7, "said": "grüß Gott"}
        (delivery,) = await deliveries(client, org, hook)
        path = f"{PATH}/{hook['id']}/deliveries/{delivery['id']}"
        shown = (await client.get(path, headers=org.owner_headers)).json()
        assert shown["data"] == {"run_id": 7, "said": "grüß Gott"}
        assert "grüß Gott" in shown["attempt_log"][0]["answer"]
        async with root.db.transaction() as session:
            await session.execute(text("UPDATE webhook_attempts SET sealed = 'x'"))
        shown = (await client.get(path, headers=org.owner_headers)).json()
        assert shown["attempt_log"][0]["answer"] is None

    async def test_is_dead_without_its_key(
        self, client: AsyncClient, root: Root, org: OrgFixture, hook: Hook, shop: LocalServer, queue: Queue
    ) -> None:
        use_keys(root, encrypts=True)
        await queue.publish(org, run_id=7, said="grüß Gott")
        async with root.db.transaction() as session:
            await session.execute(text("DELETE FROM data_keys"))
        use_keys(root, encrypts=True)
        await queue.advance()
        assert shop.seen == [], "it would tell the number of the call only"
        (delivery,) = await deliveries(client, org, hook)
        assert (delivery["status"], "cannot be decrypted" in delivery["last_error"]) == ("dead", True)

    async def test_another_secret_does_not_verify(
        self, org: OrgFixture, hook: Hook, shop: LocalServer, queue: Queue
    ) -> None:
        await queue.publish(org)
        await queue.advance()
        with pytest.raises(Exception, match="No matching signature"):
            Webhook(service.new_secret()).verify(shop.seen[0].body, shop.seen[0].headers)

    async def test_numbers_rise_without_gaps_from_parallel_transactions(
        self, client: AsyncClient, root: Root, org: OrgFixture, hook: Hook, shop: LocalServer
    ) -> None:
        async def tell(number: int) -> None:
            async with root.db.transaction() as session:
                await service.publish_event(session, org.id, "run.completed", {"n": number})
                if number % 5 == 0:
                    await session.rollback()

        await asyncio.gather(*(tell(number) for number in range(30)))
        sequences = sorted(d["sequence"] for d in await deliveries(client, org, hook, limit=100))
        assert sequences == list(range(1, 25))

    async def test_an_event_that_is_told_twice_is_one(
        self, org: OrgFixture, hook: Hook, shop: LocalServer, queue: Queue
    ) -> None:
        assert await queue.publish(org, key="run.completed:1") is not None
        assert await queue.publish(org, key="run.completed:1") is None
        await queue.advance(DAY_S)
        assert len(shop.seen) == 1

    async def test_what_is_rolled_back_is_not_told(self, root: Root, org: OrgFixture, hook: Hook, queue: Queue) -> None:
        async with queue.transaction(root.db) as session:
            await service.publish_event(session, org.id, "run.started", {})
            await session.rollback()
        assert await queue.advance(DAY_S) == []

    async def test_only_wanted_kinds_and_only_ones_own(
        self,
        client: AsyncClient,
        org: OrgFixture,
        other_org: OrgFixture,
        hook: Hook,
        shop: LocalServer,
        queue: Queue,
    ) -> None:
        body = {"events": ["document.ready"]}
        await client.patch(f"{PATH}/{hook['id']}", json=body, headers=org.owner_headers)
        await queue.publish(org, "run.completed")
        await queue.publish(other_org, "document.ready")
        await queue.publish(org, "document.ready", name="mine")
        await queue.advance(DAY_S)
        assert [seen.json["data"] for seen in shop.seen] == [{"name": "mine"}]

    async def test_after_a_rotation_both_secrets_verify_for_a_day(
        self, client: AsyncClient, org: OrgFixture, hook: Hook, shop: LocalServer, queue: Queue
    ) -> None:
        answer = await client.post(f"{PATH}/{hook['id']}/rotate-secret", headers=org.owner_headers)
        new = answer.json()["secret"]
        await queue.publish(org)
        await queue.advance()
        for secret in (hook["secret"], new):
            Webhook(secret).verify(shop.seen[0].body, shop.seen[0].headers)
        await queue.advance(DAY_S + 1)
        await queue.publish(org)
        await queue.advance()
        assert len(shop.seen[1].headers["webhook-signature"].split(" ")) == 1


class TestAFailure:
    async def test_is_tried_for_a_day_with_growing_pauses_and_then_dead(
        self, client: AsyncClient, org: OrgFixture, hook: Hook, shop: LocalServer, queue: Queue
    ) -> None:
        shop.answers = lambda _: Reply(500, b"on fire")
        await queue.publish(org)
        for seconds, attempts in ((0, 1), (6, 2), (40, 3), (150, 4)):
            await queue.advance(seconds)
            assert len(shop.seen) == attempts
        await queue.advance(DAY_S * 0.75)
        (waiting,) = await deliveries(client, org, hook)
        assert waiting["status"] == "pending"
        await queue.advance(DAY_S * 0.5)
        assert len(shop.seen) == 11
        assert len({seen.headers["webhook-id"] for seen in shop.seen}) == 1
        assert len({seen.body for seen in shop.seen}) == 1
        (dead,) = await deliveries(client, org, hook, status="dead")
        assert (dead["attempts"], dead["last_error"]) == (11, "The endpoint answered 500.")
        detail = await client.get(f"{PATH}/{hook['id']}/deliveries/{dead['id']}", headers=org.owner_headers)
        log = detail.json()["attempt_log"]
        assert [(a["attempt"], a["status_code"], a["answer"]) for a in log] == [
            (number, 500, "on fire") for number in range(1, 12)
        ]

    async def test_a_dead_letter_is_sent_again(
        self, client: AsyncClient, root: Root, org: OrgFixture, hook: Hook, shop: LocalServer, queue: Queue
    ) -> None:
        shop.answers = lambda _: Reply(500)
        await queue.publish(org, n=1)
        await queue.publish(org, n=2)
        await queue.advance(DAY_S * 1.2)
        shop.answers, shop.seen = (lambda _: Reply(204)), []
        dead = await deliveries(client, org, hook, status="dead")
        one = await client.post(f"{PATH}/{hook['id']}/deliveries/{dead[0]['id']}/resend", headers=org.owner_headers)
        assert (one.json()["status"], one.json()["attempts"]) == ("pending", 0)
        rest = await client.post(f"{PATH}/{hook['id']}/resend-dead", headers=org.owner_headers)
        assert rest.json() == {"resent": 1}
        await run_until_empty(root.db, root.jobs)
        assert sorted(seen.json["sequence"] for seen in shop.seen) == [1, 2]
        assert {d["status"] for d in await deliveries(client, org, hook)} == {"delivered"}

    @pytest.mark.parametrize(
        "reply", [Reply(301, headers={"location": f"http://{HOST}/other"}), Reply(404), Reply(raw=b"nonsense\r\n\r\n")]
    )
    async def test_anything_but_2xx_is_one(
        self, client: AsyncClient, org: OrgFixture, hook: Hook, shop: LocalServer, queue: Queue, reply: Reply
    ) -> None:
        shop.answers = lambda _: reply
        await queue.publish(org)
        await queue.advance()
        (delivery,) = await deliveries(client, org, hook)
        assert (delivery["status"], delivery["attempts"]) == ("pending", 1)
        assert delivery["last_error"]
        shop.answers = lambda _: Reply(200)
        await queue.advance(6)
        assert (await deliveries(client, org, hook))[0]["status"] == "delivered"

    async def test_retry_after_is_heeded(self, org: OrgFixture, hook: Hook, shop: LocalServer, queue: Queue) -> None:
        shop.answers = lambda _: Reply(429, headers={"retry-after": "600"})
        await queue.publish(org)
        await queue.advance(590)
        assert len(shop.seen) == 1
        await queue.advance(20)
        assert len(shop.seen) == 2

    async def test_an_address_inside_is_never_called(
        self, client: AsyncClient, root: Root, org: OrgFixture, hook: Hook, shop: LocalServer, queue: Queue
    ) -> None:
        """Its name may have been public when it was saved."""
        async with root.db.transaction() as session:
            inside = update(WebhookEndpoint).values(url=f"http://127.0.0.1:{shop.port}/hook")
            await session.execute(inside)
        await queue.publish(org)
        await queue.advance()
        assert shop.seen == []
        assert "not public" in (await deliveries(client, org, hook))[0]["last_error"]


class TestSwitchingOff:
    async def test_after_three_days_in_which_nothing_arrived(
        self, client: AsyncClient, org: OrgFixture, hook: Hook, shop: LocalServer, queue: Queue
    ) -> None:
        shop.answers = lambda _: Reply(500)
        for _ in range(4):
            await queue.publish(org)
            await queue.advance(DAY_S)
        assert await status(client, org, hook) == "failing"
        count = len(shop.seen)
        await queue.publish(org)
        await queue.advance(DAY_S)
        assert len(shop.seen) == count
        log = (await client.get("/organizations/audit-log", headers=org.owner_headers)).json()["entries"]
        assert (log[0]["action"], log[0]["actor_user_id"]) == ("webhook.switched_off", None)
        assert {d["status"] for d in await deliveries(client, org, hook)} == {"dead"}
        events = (await client.get("/events", headers=org.key_headers)).json()["events"]
        assert len(events) == 5

        shop.answers = lambda _: Reply(200)
        refused = await client.post(f"{PATH}/{hook['id']}/resend-dead", headers=org.owner_headers)
        assert (refused.status_code, refused.json()["code"]) == (409, "webhook_disabled")
        await client.patch(f"{PATH}/{hook['id']}", json={"is_enabled": True}, headers=org.owner_headers)
        await queue.publish(org)
        await queue.advance()
        assert (await deliveries(client, org, hook))[0]["status"] == "delivered"

    async def test_a_success_in_between_keeps_it_on(
        self, client: AsyncClient, org: OrgFixture, hook: Hook, shop: LocalServer, queue: Queue
    ) -> None:
        for day in range(6):
            shop.answers = lambda _, day=day: Reply(200 if day == 2 else 500)  # type: ignore[misc]
            await queue.publish(org)
            await queue.advance(DAY_S * 0.9)
        assert await status(client, org, hook) != "disabled"
        shop.answers = lambda _: Reply(200)

    async def test_gone_is_gone(
        self, client: AsyncClient, org: OrgFixture, hook: Hook, shop: LocalServer, queue: Queue
    ) -> None:
        shop.answers = lambda _: Reply(410)
        await queue.publish(org)
        await queue.advance(DAY_S)
        assert (len(shop.seen), await status(client, org, hook)) == (1, "failing")


class TestCrashes:
    async def test_a_job_that_runs_twice_sends_once_more_or_not_at_all(
        self, root: Root, org: OrgFixture, hook: Hook, shop: LocalServer, queue: Queue
    ) -> None:
        await queue.publish(org)
        await queue.advance()
        async with root.db.transaction() as session:
            delivery_id = await session.scalar(select(WebhookDelivery.id))
        job = {"delivery_id": delivery_id, "round": 1, "attempts": 0}
        await root.get(WebhookServices).deliverer.handle_job(job)
        assert len(shop.seen) == 1

    async def test_a_worker_that_dies_before_it_writes(
        self, root: Root, org: OrgFixture, hook: Hook, shop: LocalServer, queue: Queue
    ) -> None:
        """The endpoint sees the event again, under the same id: at least once, and to be told apart."""
        await queue.publish(org)
        async with root.db.transaction() as session:
            delivery_id = await session.scalar(select(WebhookDelivery.id))
        held = asyncio.Event()
        shop.answers = lambda _: Reply(200, after=held)
        job = {"delivery_id": delivery_id, "round": 1, "attempts": 0}
        dying = asyncio.create_task(root.get(WebhookServices).deliverer.handle_job(job))
        while not shop.seen:
            await asyncio.sleep(0.01)
        dying.cancel()
        await asyncio.gather(dying, return_exceptions=True)
        shop.answers = lambda _: Reply(200)
        held.set()
        await queue.advance()
        assert len({seen.headers["webhook-id"] for seen in shop.seen}) == 1
        async with root.db.transaction() as session:
            assert await session.scalar(select(WebhookDelivery.status)) == "delivered"

    async def test_a_lost_job_is_missed(
        self, client: AsyncClient, org: OrgFixture, hook: Hook, shop: LocalServer, queue: Queue
    ) -> None:
        await queue.publish(org)
        queue.jobs._waiting.clear()
        queue.clock.advance(301)
        await queue.root.get(WebhookServices).deliverer.sweep_overdue({})
        await queue.advance()
        assert (await deliveries(client, org, hook))[0]["status"] == "delivered"

    async def test_a_secret_whose_key_is_lost_makes_a_dead_letter(
        self, client: AsyncClient, root: Root, org: OrgFixture, hook: Hook, shop: LocalServer, queue: Queue
    ) -> None:
        await lose_key(root, org)
        await queue.publish(org)
        await queue.advance(DAY_S)
        (delivery,) = await deliveries(client, org, hook)
        assert (delivery["status"], delivery["attempts"], shop.seen) == ("dead", 0, [])
        assert "Rotate the secret" in delivery["last_error"]

    async def test_attempts_and_a_deletion_never_wait_for_each_other(
        self, client: AsyncClient, root: Root, org: OrgFixture, hook: Hook, queue: Queue
    ) -> None:
        """Whoever writes down an attempt locks the webhook before the delivery, as its deletion does."""
        await queue.publish(org)
        (delivery,) = await deliveries(client, org, hook)
        async with root.db.transaction() as deleting:
            await deleting.execute(select(WebhookEndpoint).with_for_update())
            async with root.db.transaction() as writing:
                await writing.execute(text("SET LOCAL lock_timeout = '300ms'"))
                with pytest.raises(DBAPIError, match="lock timeout"):
                    await repository.find_delivery(writing, org.id, delivery["id"], lock=True)
                await writing.rollback()
            # nothing of the delivery was held meanwhile
            await deleting.execute(select(WebhookDelivery).with_for_update(nowait=True))

    async def test_looking_at_a_delivery_waits_for_nobody(
        self, client: AsyncClient, root: Root, org: OrgFixture, hook: Hook, queue: Queue
    ) -> None:
        await queue.publish(org)
        (delivery,) = await deliveries(client, org, hook)
        async with root.db.transaction() as writing:
            await repository.find_delivery(writing, org.id, delivery["id"], lock=True)
            path = f"{PATH}/{hook['id']}/deliveries/{delivery['id']}"
            async with asyncio.timeout(60):
                assert (await client.get(path, headers=org.owner_headers)).status_code == 200

    async def test_through_the_real_queue(
        self, client: AsyncClient, root: Root, org: OrgFixture, hook: Hook, shop: LocalServer
    ) -> None:
        async with root.db.transaction() as session:
            await service.publish_event(session, org.id, "run.completed", {"n": 1})
        await run_until_empty(root.db, root.jobs)
        assert [json.loads(seen.body)["data"] for seen in shop.seen] == [{"n": 1}]


async def test_a_slow_endpoint_does_not_take_every_hand(
    root: Root, org: OrgFixture, hook: Hook, shop: LocalServer, queue: Queue
) -> None:
    held = asyncio.Event()
    shop.answers = lambda _: Reply(200, after=held)
    for _ in range(MAX_CONCURRENT_PER_ENDPOINT + 3):
        await queue.publish(org)
    async with root.db.transaction() as session:
        ids = (await session.scalars(select(WebhookDelivery.id).order_by(WebhookDelivery.id))).all()
    handle = root.get(WebhookServices).deliverer.handle_job
    tasks = [
        asyncio.create_task(handle({"delivery_id": number, "round": 1, "attempts": 0}))
        for number in ids[:MAX_CONCURRENT_PER_ENDPOINT]
    ]
    while len(shop.seen) < MAX_CONCURRENT_PER_ENDPOINT:
        await asyncio.sleep(0.01)
    for number in ids[MAX_CONCURRENT_PER_ENDPOINT:]:
        await handle({"delivery_id": number, "round": 1, "attempts": 0})
    assert len(shop.seen) == MAX_CONCURRENT_PER_ENDPOINT
    held.set()
    await asyncio.gather(*tasks)
    shop.answers = lambda _: Reply(200)
    await queue.advance(60)
    async with root.db.transaction() as session:
        statuses = (await session.scalars(select(WebhookDelivery.status))).all()
    assert set(statuses) == {"delivered"}
