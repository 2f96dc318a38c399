"""An agent from a few words: by a language model, or by rules where there is none."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from httpx2 import AsyncClient

from offhook.models.ports import CallModels, LlmEvent, LlmRequest, ModelError, ModelRef, TextDelta
from offhook.root import Root
from offhook.workflows import WorkflowServices
from offhook.workflows.generation.outline import definition_of, outline_by_rules
from offhook.workflows.validation import validate_definition
from tests.workflows.conftest import Editor

PATH = "/workflow/create/template"
BRIEF = {
    "call_type": "inbound",
    "use_case": "Dental appointments",
    "activity_description": "- Ask for the caller's name\n- Ask whether it is urgent\n- Explain the opening hours",
}
WRITTEN: dict[str, Any] = {
    "nodes": [
        {"id": 1, "type": "startCall", "name": "Hello", "greeting": "Hello!", "prompt": "Greet."},
        {"id": "2", "type": "agentNode", "name": "Help", "greeting": "", "prompt": "Help the caller."},
        {"id": "3", "type": "endCall", "name": "Bye", "greeting": "", "prompt": "Say goodbye."},
    ],
    "edges": [
        {"source": 1, "target": "2", "label": "Begin", "condition": "The caller answers"},
        {"source": "2", "target": "3", "label": "Finish", "condition": "The caller is done"},
    ],
}


def written(**changes: Any) -> str:
    return json.dumps(WRITTEN | changes)


class Writer:
    """Implements Llm and ModelSource: writes its texts one after the other, a letter at a time."""

    def __init__(self) -> None:
        self.script: list[str | ModelError] = []
        self.requests: list[LlmRequest] = []

    @property
    def model_ref(self) -> ModelRef:
        return ModelRef("llm", "scripted", "writer")

    async def stream(self, request: LlmRequest) -> AsyncIterator[LlmEvent]:
        self.requests.append(request)
        text = self.script[len(self.requests) - 1]
        if isinstance(text, ModelError):
            raise text
        for letter in text:
            yield TextDelta(letter)

    def for_call(self, configurations: Mapping[str, Any]) -> CallModels:
        return CallModels(llm=(self,), tts=(), stt=())

    async def for_request(self, organization_id: int, note: str) -> CallModels:
        return await self.for_organization(organization_id, {})

    async def for_organization(self, organization_id: int, configurations: Mapping[str, Any]) -> CallModels:
        return self.for_call(configurations)

    async def close(self) -> None:
        pass


async def test_refusals(client: AsyncClient, viewer: Editor) -> None:
    assert (await client.post(PATH, json=BRIEF)).status_code == 401
    assert (await viewer.post(PATH, json=BRIEF)).status_code == 403


@pytest.mark.parametrize(
    "changes",
    [{"call_type": "sideways"}, {"use_case": " "}, {"use_case": "x" * 201}, {"activity_description": ""},
     {"activity_description": "x" * 8001}, {"use_case": 1}],
)  # fmt: skip
async def test_bad_input(editor: Editor, changes: dict[str, Any]) -> None:
    assert (await editor.post(PATH, json=BRIEF | changes)).status_code == 422
    for field in BRIEF:
        body = {key: value for key, value in BRIEF.items() if key != field}
        assert (await editor.post(PATH, json=body)).status_code == 422


class TestByRules:
    async def test_an_agent_that_can_be_published(self, editor: Editor) -> None:
        answer = await editor.post(PATH, json=BRIEF)
        assert answer.status_code == 200, answer.text
        created = answer.json()
        assert (created["name"], created["version_status"]) == ("Dental appointments - INBOUND", "draft")
        asked = [node["data"].get("offline_say") for node in created["definition"]["nodes"]]
        assert "Could you tell me your name?" in asked
        assert "May I ask whether it is urgent?" in asked
        report = (await editor.post(f"/workflow/{created['id']}/validate")).json()
        assert (report["is_valid"], report["warnings"]) == (True, [])
        assert (await editor.publish(created["id"])).status_code == 200

    @pytest.mark.parametrize("call_type", ["inbound", "outbound"])
    @pytest.mark.parametrize(
        "activity", ["x", "…", "?!", "1. A\n2. A\n3. A", "ask\n" * 50, "Спроси имя. 名前を聞く", "{{x}}"]
    )
    def test_valid_whatever_is_described(self, call_type: str, activity: str) -> None:
        report = validate_definition(definition_of(outline_by_rules(call_type, "Sales", activity)))
        assert report.errors == ()


class TestByModel:
    @pytest.fixture
    def writer(self, root: Root) -> Writer:
        writer = Writer()
        root.provide(WorkflowServices, replace(root.get(WorkflowServices), models=writer))
        return writer

    async def test_what_it_wrote(self, editor: Editor, writer: Writer) -> None:
        writer.script = [f"Here it is:\n```json\n{json.dumps(WRITTEN)}\n```"]
        answer = await editor.post(PATH, json=BRIEF)
        assert answer.status_code == 200, answer.text
        nodes = answer.json()["definition"]["nodes"]
        assert [(node["id"], node["type"], node["position"]) for node in nodes] == [
            ("1", "startCall", {"x": 0, "y": 0}),
            ("2", "agentNode", {"x": 0, "y": 240}),
            ("3", "endCall", {"x": 0, "y": 480}),
        ]
        assert nodes[0]["data"] == {"name": "Hello", "greeting": "Hello!", "prompt": "Greet."}
        request = writer.requests[0]
        assert request.response_schema is not None
        assert "Dental appointments" in request.messages[-1].content

    async def test_a_bad_one_is_sent_back_once(self, editor: Editor, writer: Writer) -> None:
        writer.script = [written(edges=[]), written()]
        assert (await editor.post(PATH, json=BRIEF)).status_code == 200
        assert "must have at least" in writer.requests[1].messages[-1].content

    @pytest.mark.parametrize("text", ["", "no", "[]", "{}", '{"nodes": [1], "edges": []}', "{" * 500])
    async def test_two_bad_ones_are_a_failure(self, editor: Editor, writer: Writer, text: str) -> None:
        writer.script = [text, text, written()]
        answer = await editor.post(PATH, json=BRIEF)
        assert (answer.status_code, answer.json()["code"]) == (502, "generation_failed")
        assert (await editor.get("/workflow/fetch")).json() == []

    async def test_the_vendors_own_words(self, editor: Editor, writer: Writer) -> None:
        writer.script = [ModelError("quota", "You exceeded your current quota.", retryable=False)]
        answer = await editor.post(PATH, json=BRIEF)
        assert (answer.status_code, answer.json()["code"]) == (502, "generation_failed")
        assert "You exceeded your current quota." in answer.json()["detail"]
