"""What a GET answers, the PUT or PATCH of the same resource accepts, and it changes nothing."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI

from offhook.orgs import service as orgs
from offhook.root import Root
from tests.interface.bodies import BODIES
from tests.interface.operations import operations
from tests.interface.world import World

Find = Callable[[Any, World], Any]


def whole(answer: Any, world: World) -> Any:
    return answer


def one_of(key: str, name: str, value: str) -> Find:
    """The entry of a list under ``key`` (or of a bare list) whose ``name`` is the world's id ``value``."""

    def find(answer: Any, world: World) -> Any:
        entries = answer[key] if key else answer
        return next(entry for entry in entries if entry[name] == world.ids[value])

    return find


@dataclass(frozen=True)
class Reading:
    """Where the state that an operation replaces is read."""

    path: str
    find: Find = whole


# Operations that change what is read at another path than their own.
ELSEWHERE = {
    "rename_folder": Reading("/folder/", one_of("", "id", "folder_id")),
    "change_member_role": Reading("/organizations/members", one_of("members", "user_id", "user_id")),
    "update_run_view": Reading("/organizations/usage/run-views", one_of("", "id", "view_id")),
    "update_recording": Reading("/workflow-recordings/", one_of("recordings", "id", "id")),
    "update_workflow": Reading("/workflow/fetch/{workflow_id}"),
    "update_workflow_status": Reading("/workflow/fetch/{workflow_id}"),
    "move_workflow_to_folder": Reading("/workflow/fetch/{workflow_id}"),
    "put_voice_mirrors": Reading(
        "/superuser/voice-packs", lambda answer, _: {"addresses": answer["mirrors"]["addresses"]}
    ),
    "update_managed_carrier": Reading(
        "/superuser/managed-carrier", lambda answer, _: {"uses_sub_accounts": answer["uses_sub_accounts"]}
    ),
    "set_own_price": Reading(
        "/organizations/usage/prices", lambda answer, _: next(price for price in answer["prices"] if price["is_own"])
    ),
}
MODELS = {
    "llm": {"provider": "openai", "model": "gpt-4.1", "api_key": "sk-abcdefghijk"},
    "tts": {"provider": "builtin"},
    "fallbacks": {"llm": [{"provider": "groq", "model": "llama-3.3-70b-versatile", "api_key": "gsk-abcdefgh123"}]},
}
# These do something else than to replace what can be read.
NO_RESOURCE = {"reactivate_api_key", "reactivate_user_api_key", "upload_contact_file", "upload_recording"}
# It asks the provider first: tests/orgs.
NO_RESOURCE |= {"put_identity_provider"}
# Only its share can be changed, while it takes calls: tests/canary.
NO_RESOURCE |= {"change_canary"}


def writes(app: FastAPI) -> dict[str, tuple[str, str, Reading]]:
    """Method, path and reading of every operation that replaces something, by its name."""
    described = operations(app)
    read = {operation.path for operation in described if operation.method == "GET"}
    found = {}
    for operation in described:
        if operation.method in ("PUT", "PATCH") and operation.name not in NO_RESOURCE:
            reading = ELSEWHERE.get(operation.name)
            if reading is None:
                assert operation.path in read, f"where is that read which {operation.name} changes?"
                reading = Reading(operation.path)
            found[operation.name] = (operation.method, operation.path, reading)
    return found


async def test_what_is_read_can_be_written_and_changes_nothing(app: FastAPI, root: Root, ours: World) -> None:
    async with root.db.transaction() as session:
        await orgs.grant_superuser(session, ours.org.email("owner"))
    for operation, body in (("put_model_configurations", MODELS), ("set_own_price", BODIES["set_own_price"](ours))):
        method, path, _ = writes(app)[operation]
        assert (await ours.call(method, path, json=body)).status_code == 200
    faults = []
    for name, (method, path, reading) in writes(app).items():
        before = reading.find((await ours.call("GET", reading.path.format(**ours.ids))).json(), ours)
        answer = await ours.call(method, path.format(**ours.ids), json=before)
        if answer.status_code != 200:
            faults.append(f"{name}: {answer.status_code} {answer.text}")
            continue
        after = reading.find((await ours.call("GET", reading.path.format(**ours.ids))).json(), ours)
        faults += [f"{name}: {key} {before[key]} -> {after[key]}" for key in before if before[key] != after[key]]
    assert faults == []
