"""Webhooks over HTTP: who may, what is refused, the secret shown once, the test button, catching up."""

import asyncio
from typing import Any

import pytest
from httpx2 import AsyncClient
from standardwebhooks import Webhook

from offhook.root import Root
from tests.fakes.web import LocalServer, Reply
from tests.fixtures_orgs import OrgFixture
from tests.webhooks.conftest import HOST, PATH, Queue, lose_key

Hook = dict[str, Any]
ROUTES = [
    ("GET", PATH),
    ("POST", PATH),
    ("GET", f"{PATH}/1"),
    ("PATCH", f"{PATH}/1"),
    ("DELETE", f"{PATH}/1"),
    ("POST", f"{PATH}/1/rotate-secret"),
    ("POST", f"{PATH}/1/test"),
    ("GET", f"{PATH}/1/deliveries"),
    ("GET", f"{PATH}/1/deliveries/1"),
    ("POST", f"{PATH}/1/deliveries/1/resend"),
    ("POST", f"{PATH}/1/resend-dead"),
]


@pytest.mark.parametrize(("method", "path"), ROUTES)
async def test_admins_only(client: AsyncClient, org: OrgFixture, method: str, path: str) -> None:
    assert (await client.request(method, path, json={})).status_code == 401
    for role in ("viewer", "member"):
        answer = await client.request(method, path, json={}, headers=org.headers_for(role))
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


@pytest.mark.parametrize(("method", "path"), [route for route in ROUTES if "/1" in route[1]])
async def test_other_organization(
    client: AsyncClient, org: OrgFixture, other_org: OrgFixture, hook: Hook, queue: Queue, method: str, path: str
) -> None:
    await queue.publish(org)
    path = path.replace(f"{PATH}/1", f"{PATH}/{hook['id']}")
    answer = await client.request(method, path, json={}, headers=other_org.owner_headers)
    assert answer.status_code == 404
    assert (await client.get(f"{PATH}/{hook['id']}", headers=org.owner_headers)).json()["status"] == "enabled"


class TestCreate:
    @pytest.mark.parametrize(
        "body",
        [
            {},
            {"url": ""},
            {"url": "shop.test"},
            {"url": "ftp://shop.test"},
            {"url": "http://127.0.0.1/hook"},
            {"url": "http://[::1]/hook"},
            {"url": "http://169.254.169.254/latest"},
            {"url": "https://user:password@shop.test/"},
            {"url": "https://shop.test/" + "x" * 2000},
            {"url": "https://shop.test", "events": ["run.exploded"]},
            {"url": "https://shop.test", "events": "run.completed"},
            {"url": "https://shop.test", "description": "x" * 501},
        ],
    )
    async def test_bad_input(self, client: AsyncClient, org: OrgFixture, body: dict[str, Any]) -> None:
        assert (await client.post(PATH, json=body, headers=org.owner_headers)).status_code == 422
        assert (await client.get(PATH, headers=org.owner_headers)).json()["webhooks"] == []

    async def test_the_secret_is_shown_once(self, client: AsyncClient, org: OrgFixture, hook: Hook) -> None:
        assert hook["secret"].startswith("whsec_")
        assert (hook["status"], hook["events"], hook["last_sequence"]) == ("enabled", [], 0)
        listed = (await client.get(PATH, headers=org.key_headers)).json()
        assert [entry["id"] for entry in listed["webhooks"]] == [hook["id"]]
        assert "run.completed" in listed["event_types"]
        assert hook["secret"] not in str(listed)
        log = (await client.get("/organizations/audit-log", headers=org.owner_headers)).text
        assert hook["secret"] not in log
        assert "webhook.created" in log

    async def test_so_many_and_no_more_at_once(self, client: AsyncClient, org: OrgFixture) -> None:
        body = {"url": "https://shop.test/hooks"}
        answers = await asyncio.gather(*(client.post(PATH, json=body, headers=org.key_headers) for _ in range(25)))
        assert sorted(answer.status_code for answer in answers) == [200] * 20 + [409] * 5

    async def test_so_many_and_no_more(self, client: AsyncClient, org: OrgFixture) -> None:
        body = {"url": "https://shop.test/hook"}
        statuses = [(await client.post(PATH, json=body, headers=org.owner_headers)).status_code for _ in range(21)]
        assert statuses == [200] * 20 + [409]


class TestUpdate:
    @pytest.mark.parametrize(
        "body", [{"url": "http://10.0.0.1/"}, {"url": None}, {"events": ["x"]}, {"is_enabled": None}]
    )
    async def test_bad_input(self, client: AsyncClient, org: OrgFixture, hook: Hook, body: dict[str, Any]) -> None:
        answer = await client.patch(f"{PATH}/{hook['id']}", json=body, headers=org.owner_headers)
        assert answer.status_code == 422

    async def test_valid(self, client: AsyncClient, org: OrgFixture, hook: Hook) -> None:
        path = f"{PATH}/{hook['id']}"
        body = {"events": ["run.failed", "run.completed", "run.failed"], "description": "CRM", "is_enabled": False}
        changed = (await client.patch(path, json=body, headers=org.owner_headers)).json()
        assert (changed["events"], changed["description"]) == (["run.completed", "run.failed"], "CRM")
        assert (changed["status"], changed["url"]) == ("disabled", hook["url"])
        again = (await client.patch(path, json={"is_enabled": True}, headers=org.owner_headers)).json()
        assert (again["status"], again["description"]) == ("enabled", "CRM")

    async def test_delete(self, client: AsyncClient, org: OrgFixture, hook: Hook, queue: Queue) -> None:
        await queue.publish(org)
        path = f"{PATH}/{hook['id']}"
        assert (await client.delete(path, headers=org.owner_headers)).json() == {"success": True, "id": hook["id"]}
        assert (await client.get(path, headers=org.owner_headers)).status_code == 404
        assert len((await client.get("/events", headers=org.owner_headers)).json()["events"]) == 1


class TestTheTestButton:
    async def test_valid(self, client: AsyncClient, org: OrgFixture, hook: Hook, shop: LocalServer) -> None:
        answer = (await client.post(f"{PATH}/{hook['id']}/test", headers=org.owner_headers)).json()
        assert (answer["delivered"], answer["status_code"], answer["answer"]) == (True, 200, "thanks")
        content = Webhook(hook["secret"]).verify(shop.seen[0].body, shop.seen[0].headers)
        assert (content["type"], content["sequence"]) == ("webhook.test", 0)
        assert (await client.get("/events", headers=org.owner_headers)).json()["events"] == []

    async def test_a_failure_is_shown(
        self, client: AsyncClient, org: OrgFixture, hook: Hook, shop: LocalServer
    ) -> None:
        shop.answers = lambda _: Reply(503, b"not now")
        answer = (await client.post(f"{PATH}/{hook['id']}/test", headers=org.owner_headers)).json()
        assert (answer["delivered"], answer["status_code"], answer["answer"]) == (False, 503, "not now")
        await client.patch(
            f"{PATH}/{hook['id']}", json={"url": f"http://unknown.test:{shop.port}/"}, headers=org.owner_headers
        )
        answer = (await client.post(f"{PATH}/{hook['id']}/test", headers=org.owner_headers)).json()
        assert (answer["delivered"], answer["status_code"]) == (False, None)
        assert HOST not in answer["error"]

    async def test_a_secret_whose_key_is_lost(
        self, client: AsyncClient, root: Root, org: OrgFixture, hook: Hook, shop: LocalServer
    ) -> None:
        await lose_key(root, org)
        answer = await client.post(f"{PATH}/{hook['id']}/test", headers=org.owner_headers)
        assert (answer.status_code, answer.json()["code"]) == (409, "webhook_secret_unreadable")
        assert shop.seen == []
        assert (await client.post(f"{PATH}/{hook['id']}/rotate-secret", headers=org.owner_headers)).status_code == 200
        answer = await client.post(f"{PATH}/{hook['id']}/test", headers=org.owner_headers)
        assert answer.json()["delivered"]


class TestDeliveries:
    @pytest.mark.parametrize("query", ["page=0", "limit=101", "status=lost"])
    async def test_bad_input(self, client: AsyncClient, org: OrgFixture, hook: Hook, query: str) -> None:
        answer = await client.get(f"{PATH}/{hook['id']}/deliveries?{query}", headers=org.owner_headers)
        assert answer.status_code == 422

    async def test_unknown(self, client: AsyncClient, org: OrgFixture, hook: Hook) -> None:
        for path in (f"{PATH}/{hook['id']}/deliveries/9", f"{PATH}/99/deliveries"):
            assert (await client.get(path, headers=org.owner_headers)).status_code == 404

    async def test_pages(self, client: AsyncClient, org: OrgFixture, hook: Hook, queue: Queue) -> None:
        for number in range(3):
            await queue.publish(org, n=number)
        path = f"{PATH}/{hook['id']}/deliveries"
        first = (await client.get(f"{path}?limit=2", headers=org.owner_headers)).json()
        rest = (await client.get(f"{path}?limit=2&page=2", headers=org.owner_headers)).json()
        assert [d["sequence"] for d in (*first["deliveries"], *rest["deliveries"])] == [3, 2, 1]
        assert (first["total_count"], first["total_pages"]) == (3, 2)
        assert {d["event_type"] for d in first["deliveries"]} == {"run.completed"}


class TestEvents:
    async def test_anonymous(self, client: AsyncClient) -> None:
        assert (await client.get("/events")).status_code == 401

    @pytest.mark.parametrize("query", ["after=-1", "after=x", "limit=0", "limit=101", "types=run.exploded"])
    async def test_bad_input(self, client: AsyncClient, org: OrgFixture, query: str) -> None:
        assert (await client.get(f"/events?{query}", headers=org.owner_headers)).status_code == 422

    async def test_catching_up(self, client: AsyncClient, org: OrgFixture, other_org: OrgFixture, queue: Queue) -> None:
        for number in range(5):
            await queue.publish(org, "run.failed" if number == 3 else "run.completed", n=number)
            await queue.publish(other_org)
        seen, after, more = [], 0, True
        while more:
            answer = await client.get(f"/events?after={after}&limit=2", headers=org.headers_for("viewer"))
            page = answer.json()
            seen += [event["data"]["n"] for event in page["events"]]
            after, more = page["next_after"], page["has_more"]
        assert seen == [0, 1, 2, 3, 4]
        nothing_new = (await client.get(f"/events?after={after}", headers=org.key_headers)).json()
        assert nothing_new == {"events": [], "next_after": after, "has_more": False}
        failed = (await client.get("/events?types=run.failed", headers=org.key_headers)).json()["events"]
        assert [(e["type"], e["data"], e["message_id"]) for e in failed] == [
            ("run.failed", {"n": 3}, f"evt_{failed[0]['id']}")
        ]
