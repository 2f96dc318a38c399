"""One of everything in an organization, made over HTTP, with a mark in every text that only this organization may see."""

from collections.abc import Callable
from typing import Any

from httpx2 import AsyncClient, Response

from tests.campaigns.desk import Desk, numbers
from tests.fixtures_orgs import OrgFixture
from tests.recordings.conftest import Studio
from tests.workflows.definitions import simple, trigger

Body = Callable[["World"], dict[str, Any] | None]
CALCULATOR = {"schema_version": 1, "type": "calculator"}
NAME = "Reception"  # the same in every organization: names are no secret, and no key


class World:
    """``ids`` holds a value for every path parameter of the API; ``mark`` stands in every text that was stored.

    Worlds of one mark have the same names in everything but the address of their ``trigger``. ``uploaded`` holds the keys
    of files that nothing was made of yet.
    """

    def __init__(self, client: AsyncClient, org: OrgFixture, mark: str, *, trigger: str | None = None) -> None:
        self.client = client
        self.org = org
        self.mark = mark
        self.trigger = trigger or f"trigger-{mark}"
        self.ids: dict[str, Any] = {}
        self.uploaded: dict[str, str] = {}

    async def call(self, method: str, path: str, *, role: str = "owner", **more: Any) -> Response:
        return await self.client.request(method, path, headers=self.org.headers_for(role), **more)

    async def make(self, path: str, body: dict[str, Any], *, expect: int = 200) -> dict[str, Any]:
        answer = await self.call("POST", path, json=body)
        assert answer.status_code == expect, f"{path}: {answer.status_code} {answer.text}"
        made: dict[str, Any] = answer.json()
        return made

    async def furnish(self) -> "World":
        """Make one of each; :meth:`complete` makes what a valid request to every operation needs besides."""
        await self._workflow()
        await self._runs()
        await self._campaign()
        await self._webhook()
        await self._recording()
        await self._tools()
        await self._document()
        await self._organization()
        return self

    async def complete(self) -> "World":
        """A chat that goes on, a call that is not dialled, files to make something of, and things that may be deleted."""
        path, lines = f"/workflow/{self.ids['workflow_id']}", f"phone_number,name\n{numbers(1)[0]},{self.mark}\n"
        self.ids["spare_workflow_id"] = (await self.make(f"{path}/duplicate", {}))["id"]
        self.ids["chat_id"] = (await self.make(f"{path}/text-chat/sessions", {}))["id"]
        self.ids["workflow_run_id"] = (await self.make(f"{path}/runs", {"mode": "sandbox"}))["id"]
        desk = Desk(self.client, self.org.owner_headers, self.ids["workflow_id"])
        studio = Studio(self.client, self.org.owner_headers)
        self.uploaded["contacts_file_key"] = await desk.upload(lines.encode())
        self.uploaded["storage_key"] = (await studio.upload())["storage_key"]
        self.ids["recording_id"] = (await studio.record(f"goodbye-{self.mark}", self.mark))["recording_id"]
        return self

    async def _workflow(self) -> None:
        raw = simple(marked=self.mark)
        raw["nodes"].append(trigger(self.trigger))
        workflow = await self.make("/workflow/create/definition", {"name": f"{NAME} {self.mark}", "definition": raw})
        self.ids |= {"workflow_id": workflow["id"], "number": 1, "name": "startCall", "uuid": self.trigger}
        self.ids |= {"template_id": "reception"}
        scenario = {"name": self.mark, "caller": {"turns": [self.mark]}, "expect": {"is_over": False}}
        answer = await self.call("PUT", f"/workflow/{workflow['id']}/scenarios/{self.mark}", json=scenario)
        assert answer.status_code == 200, answer.text
        play = await self.make(f"/workflow/{workflow['id']}/scenario-plays", {})
        self.ids |= {"scenario_name": self.mark, "play_id": play["id"], "result_id": 1}
        await self.make(f"/workflow/{workflow['id']}/publish", {})
        await self._canary()

    async def _canary(self) -> None:
        raw = simple(marked=self.mark)
        tried = await self.make("/workflow/create/definition", {"name": f"{NAME} {self.mark}", "definition": raw})
        await self.make(f"/workflow/{tried['id']}/publish", {})
        await self.make(f"/workflow/{tried['id']}/create-draft", {})
        await self.make(f"/workflow/{tried['id']}/canary", {"note": self.mark})
        self.ids["canary_workflow_id"] = tried["id"]

    async def _runs(self) -> None:
        workflow_id = self.ids["workflow_id"]
        run = await self.make(f"/workflow/{workflow_id}/runs", {"mode": "browser", "initial_context": {"m": self.mark}})
        self.ids |= {"run_id": run["id"], "workflow_run_id": run["id"]}

    async def _campaign(self) -> None:
        desk = Desk(self.client, self.org.owner_headers, self.ids["workflow_id"])
        lines = f"phone_number,name\n{numbers(1)[0]},{self.mark}\n"
        campaign_id = (await desk.made(lines.encode(), name=f"{NAME} {self.mark}"))["id"]
        self.ids["spare_campaign_id"] = (await desk.made(lines.encode(), name=f"{NAME} {self.mark}"))["id"]
        self.uploaded["contacts_file_key"] = (await desk.place()).json()["file_key"]
        contacts = await desk.get(f"/{campaign_id}/contacts")
        self.ids |= {"campaign_id": campaign_id, "contact_id": contacts["contacts"][0]["id"]}

    async def _webhook(self) -> None:
        hook = {"url": f"https://example.com/{self.mark}", "events": ["run.completed"], "description": self.mark}
        webhook_id = (await self.make("/organizations/webhooks", hook))["id"]
        chat = await self.make(f"/workflow/{self.ids['workflow_id']}/text-chat/sessions", {})
        await self.make(f"/workflow/{self.ids['workflow_id']}/text-chat/sessions/{chat['workflow_run_id']}/end", {})
        self.ids |= {"chat_id": chat["workflow_run_id"], "ended_run_id": chat["workflow_run_id"]}
        deliveries = (await self.call("GET", f"/organizations/webhooks/{webhook_id}/deliveries")).json()["deliveries"]
        self.ids |= {"webhook_id": webhook_id, "delivery_id": deliveries[0]["id"]}

    async def _recording(self) -> None:
        studio = Studio(self.client, self.org.owner_headers)
        made = await studio.record(f"hello-{self.mark}", self.mark)
        place = await studio.place()
        token = place["upload_url"].rpartition("/")[2]
        self.uploaded["storage_key"] = place["storage_key"]
        self.ids |= {"id": made["id"], "recording_id": made["recording_id"], "token": token}

    async def _tools(self) -> None:
        body = {"name": f"{NAME} {self.mark}", "category": "calculator", "definition": CALCULATOR}
        tool = await self.make("/tools/", body)
        secret = {"credential_type": "bearer_token", "credential_data": {"token": self.mark}}
        credential = await self.make("/credentials/", {"name": f"{NAME} {self.mark}", **secret})
        self.ids |= {"tool_uuid": tool["tool_uuid"], "credential_uuid": credential["uuid"]}

    async def _document(self) -> None:
        file = {"file": (f"{self.mark}.txt", f"{NAME} {self.mark}".encode())}
        answer = await self.call("POST", "/knowledge-base/", files=file)
        self.ids |= {"document_id": answer.json()["id"]}

    async def _organization(self) -> None:
        key = await self.make("/organizations/api-keys", {"name": f"{NAME} {self.mark}"})
        numbers = ["+12015550177", "+12015550178"]
        entry = await self.make("/organizations/do-not-call", {"phone_numbers": numbers, "reason": self.mark})
        export = await self.make("/organizations/data-requests", {"kind": "export", "phone_number": numbers[0]})
        self.ids |= {"data_request_id": export["id"]}
        people = {"email": f"new-{self.mark}@example.com", "role": "member", "name": self.mark}
        await self.make("/organizations/members", people)
        invitations = (await self.call("GET", "/organizations/invitations")).json()["invitations"]
        sessions = (await self.call("GET", "/auth/sessions", role="viewer")).json()
        self.ids |= {"invitation_id": invitations[0]["id"], "session_id": sessions[0]["id"]}
        self.ids |= {"user_id": self.org.user_ids["member"]}
        folder = await self.make("/folder/", {"name": f"{NAME} {self.mark}"})
        self.ids |= {"folder_id": folder["id"]}
        config = await self.make(
            "/organizations/telephony-configs", {"name": f"{NAME} {self.mark}", "config": {"provider": "sandbox"}}
        )
        number = await self.make(
            f"/organizations/telephony-configs/{config['id']}/phone-numbers",
            {"address": "+12015550170", "label": self.mark},
        )
        self.ids |= {"configuration_id": config["id"], "phone_number_id": number["id"], "transfer_id": "0" * 32}
        view = await self.make(
            "/organizations/usage/run-views", {"name": f"{NAME} {self.mark}", "search": {"outcome": "busy"}}
        )
        self.ids |= {"view_id": view["id"]}
        # Account requests, jobs and waiting recordings belong to no organization, and only superusers see them.
        self.ids |= {"request_id": 1, "job_id": 1, "turn": 1, "spool_id": "0" * 32}
        self.ids |= {"organization_id": self.org.id, "key_id": key["id"], "entry_id": entry["entries"][0]["id"]}
