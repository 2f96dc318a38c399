"""Models answer in scenarios: a vendor once, and from then on what was recorded of it."""

import asyncio
import copy
import json
from functools import partial
from typing import Any

import pytest
from sqlalchemy import text

from offhook.kit.virtual_time import run_on_virtual_time
from offhook.models.ports import LlmMessage, LlmRequest, ModelRef, TextDelta
from offhook.root import Root
from offhook.runs import RunServices
from offhook.scenarios import SuiteResult, run_suite
from offhook.scenarios.answers.files import FORMAT, AnswersFile
from offhook.scenarios.answers.model import AnsweredLlm
from offhook.scenarios.answers.play_answers import AnswerBudget, PlayAnswers
from offhook.scenarios.answers.questions import RECORDED, GivenAnswer, Question
from offhook.scenarios.answers.recorded import AnswerPiece, RecordedAnswer
from offhook.scenarios.answers.store import AnswerStore
from offhook.scenarios.answers.threads import AnswerLoop, LoopedAnswers
from offhook.scenarios.errors import AnswersFileInvalid
from offhook.scenarios.files import parse_scenarios
from offhook_lab.sse import HttpRefusal, Reply, ScriptedAnswer
from tests.fixtures_orgs import OrgFixture
from tests.models.llm_vendors import ANTHROPIC, OPENAI, LlmVendor
from tests.scenarios.agents import DEFINITION, agent, codes
from tests.scenarios.model_answers import BUYS, QUESTION, answer_as_agent, model_of, run_play
from tests.scenarios.test_plays import keep, order, read
from tests.workflows.conftest import Editor, editor, other_editor, viewer

__all__ = ["editor", "other_editor", "viewer"]


@pytest.fixture
async def workflow_id(editor: Editor) -> int:
    made = await editor.create_published(DEFINITION, "Shop")
    await keep(editor, made, BUYS)
    return made


async def answers_of(editor: Editor, workflow_id: int) -> dict[str, Any]:
    answer = await editor.get(f"/workflow/{workflow_id}/recorded-answers")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def play(root: Root, org: OrgFixture, editor: Editor, workflow_id: int, llm: Any, **body: Any) -> dict[str, Any]:
    """Orders a play, and returns it when it is over."""
    ordered = await order(editor, workflow_id, **body)
    await run_play(root, org, ordered["id"], llm)
    ended: dict[str, Any] = await read(editor, workflow_id, ordered["id"])
    return ended


async def configure_model(editor: Editor) -> None:
    """Gives the organization a vendor's model with a key."""
    body = {"llm": {"provider": "openai", "model": "gpt-4.1", "api_key": "sk-of-nobody"}}
    answer = await editor.put("/organizations/model-configurations/v2", json=body)
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("vendor", [OPENAI, ANTHROPIC], ids=lambda vendor: vendor.provider)
async def test_what_was_recorded_once_is_played_without_the_vendor(
    root: Root, org: OrgFixture, editor: Editor, workflow_id: int, vendor: LlmVendor
) -> None:
    await configure_model(editor)
    async with vendor.serving(answer_as_agent) as (server, llm):
        recorded = await play(root, org, editor, workflow_id, llm, answers="recorded", record=True)
        assert recorded["state"] == "passed", await read(editor, workflow_id, recorded["id"], "/results")
        asked = len(server.requests)
        assert asked > 2
        # what is recorded is not asked for again
        again = await play(root, org, editor, workflow_id, llm, answers="recorded", record=True)
        assert len(server.requests) == asked
    # the emulator is gone
    later = await play(root, org, editor, workflow_id, llm, answers="recorded")
    assert later["state"] == "passed"
    assert recorded["result_hash"] == again["result_hash"] == later["result_hash"]
    assert (recorded["cost_cents"] > 0, later["cost_cents"]) == (True, 0)
    assert (await answers_of(editor, workflow_id))["count"] == asked


async def test_live_answers_are_the_models_own(root: Root, org: OrgFixture, editor: Editor, workflow_id: int) -> None:
    await configure_model(editor)
    async with OPENAI.serving(answer_as_agent) as (server, llm):
        first = await play(root, org, editor, workflow_id, llm, answers="live")
        asked = len(server.requests)
        await play(root, org, editor, workflow_id, llm, answers="live")
        assert len(server.requests) == 2 * asked
    assert (first["state"], first["answers"], first["record"]) == ("passed", "live", False)
    (result,) = await read(editor, workflow_id, first["id"], "/results")
    assert QUESTION in result["transcript"][1]["agent"]
    assert (await answers_of(editor, workflow_id))["count"] == 0


async def test_a_changed_prompt_names_the_step_whose_answer_is_missing(
    root: Root, org: OrgFixture, editor: Editor, workflow_id: int
) -> None:
    await configure_model(editor)
    async with OPENAI.serving(answer_as_agent) as (_, llm):
        await play(root, org, editor, workflow_id, llm, answers="recorded", record=True)
    changed = copy.deepcopy(DEFINITION)
    changed["nodes"][1]["data"]["prompt"] = "Ask for the town."
    assert (await editor.put(f"/workflow/{workflow_id}", json={"workflow_definition": changed})).status_code == 200
    ended = await play(root, org, editor, workflow_id, llm, answers="recorded")
    assert ended["state"] == "failed"
    (result,) = await read(editor, workflow_id, ended["id"], "/results")
    (fault,) = result["faults"]
    assert (fault["code"], fault["turn"]) == ("answer_not_recorded", 0)
    assert "the step “sales”" in fault["message"]
    assert "record" in fault["message"]


async def test_two_plays_that_record_at_once_go_on_with_the_same_answers(
    root: Root, org: OrgFixture, editor: Editor, workflow_id: int
) -> None:
    await configure_model(editor)
    async with OPENAI.serving(answer_as_agent) as (_, llm):
        ordered = [await order(editor, workflow_id, answers="recorded", record=True) for _ in range(2)]
        await asyncio.gather(*(run_play(root, org, one["id"], llm) for one in ordered))
    both = [await read(editor, workflow_id, one["id"]) for one in ordered]
    later = await play(root, org, editor, workflow_id, llm, answers="recorded")
    assert [one["state"] for one in (*both, later)] == ["passed"] * 3
    assert {one["result_hash"] for one in both} == {later["result_hash"]}


async def test_answers_of_another_organization_are_never_found(
    root: Root, org: OrgFixture, other_org: OrgFixture, editor: Editor, other_editor: Editor, workflow_id: int
) -> None:
    await configure_model(editor)
    await configure_model(other_editor)
    async with OPENAI.serving(answer_as_agent) as (_, llm):
        await play(root, org, editor, workflow_id, llm, answers="recorded", record=True)
    theirs = await other_editor.create_published(DEFINITION, "Shop")
    await keep(other_editor, theirs, BUYS)
    ended = await play(root, other_org, other_editor, theirs, llm, answers="recorded")
    (result,) = await read(other_editor, theirs, ended["id"], "/results")
    assert [fault["code"] for fault in result["faults"]] == ["answer_not_recorded"]
    for request in (other_editor.get, other_editor.delete):
        assert (await request(f"/workflow/{workflow_id}/recorded-answers")).status_code == 404
    # nor when a row is moved to them: it is encrypted for another agent of another organization
    async with root.db.transaction() as session:
        moved = {"org": other_org.id, "agent": theirs}
        await session.execute(text("UPDATE scenario_answers SET organization_id = :org, workflow_id = :agent"), moved)
    ended = await play(root, other_org, other_editor, theirs, llm, answers="recorded")
    assert ended["state"] == "failed"


async def test_a_play_that_costs_more_than_its_budget_is_stopped(
    root: Root, org: OrgFixture, editor: Editor, workflow_id: int
) -> None:
    await configure_model(editor)
    await keep(editor, workflow_id, *({**BUYS, "name": f"buys-{number}"} for number in range(3)))
    async with OPENAI.serving(answer_as_agent) as (server, llm):
        price = {"provider": "openai", "model": "gpt-4.1", "kind": "llm", "valid_from": "2020-01-01"}
        dollars = {"prompt_million": 1000, "completion_million": 1000}
        answer = await editor.put("/organizations/usage/prices", json={**price, **dollars})
        ended = await play(root, org, editor, workflow_id, llm, answers="live", cost_budget_cents=1)
        asked = len(server.requests)
    assert answer.status_code == 200, answer.text
    assert (ended["state"], ended["cost_cents"] >= 1) == ("out_of_budget", True)
    assert "1 cents" in ended["error"]
    assert ended["done"] < 3
    assert asked < 6


async def test_a_vendor_that_fails_fails_the_scenario_and_is_not_recorded(
    root: Root, org: OrgFixture, editor: Editor, workflow_id: int
) -> None:
    await configure_model(editor)
    async with OPENAI.serving([HttpRefusal(401, "invalid_api_key", "Incorrect API key.")]) as (_, llm):
        ended = await play(root, org, editor, workflow_id, llm, answers="recorded", record=True)
    (result,) = await read(editor, workflow_id, ended["id"], "/results")
    assert [fault["code"] for fault in result["faults"]] == ["model_failed"]
    assert "llm_unauthorized" in result["faults"][0]["message"]
    assert (await answers_of(editor, workflow_id))["count"] == 0


@pytest.mark.parametrize("answers", ["recorded", "live"])
async def test_an_agent_without_a_vendors_model_cannot_be_asked(editor: Editor, workflow_id: int, answers: str) -> None:
    refused = await editor.post(f"/workflow/{workflow_id}/scenario-plays", json={"answers": answers})
    assert (refused.status_code, refused.json()["code"]) == (422, "model_required")
    plays = await editor.get(f"/workflow/{workflow_id}/scenario-plays")
    assert plays.json() == []


@pytest.mark.parametrize(
    ("part", "code"),
    [
        ({"caller": {"model": {"persona": "Ada", "goal": "Buy", "name": "anthropic/claude-haiku-4-5"}}}, "key_missing"),
        ({"expect": {"judged": "It is kind.", "judged_by": "anthropic/claude-haiku-4-5"}}, "key_missing"),
        ({"expect": {"judged": "It is kind.", "judged_by": "nobody"}}, "unknown_model"),
    ],
)
async def test_callers_and_judges_need_their_models_key(
    editor: Editor, workflow_id: int, part: dict[str, Any], code: str
) -> None:
    await configure_model(editor)
    await keep(editor, workflow_id, {**BUYS, **part})
    refused = await editor.post(f"/workflow/{workflow_id}/scenario-plays", json={"answers": "live"})
    assert (refused.status_code, refused.json()["code"]) == (422, code)


async def test_what_a_model_judged_warns_and_lets_a_draft_be_published(
    root: Root, org: OrgFixture, editor: Editor, workflow_id: int
) -> None:
    await configure_model(editor)
    await keep(editor, workflow_id, {**BUYS, "expect": {"end": "bye", "judged": "It sings."}})
    await editor.put(f"/workflow/{workflow_id}/publish-gate", json={"is_required": True, "answers": "recorded"})
    verdict = {"number": 1, "passed": False, "quote": QUESTION, "reason": "It asks."}

    def answer(body: dict[str, Any]) -> Reply:
        is_judge = "You judge a telephone conversation" in json.dumps(body)
        return ScriptedAnswer(json.dumps({"verdicts": [verdict]})) if is_judge else answer_as_agent(body)

    async with OPENAI.serving(answer) as (_, llm):
        ended = await play(root, org, editor, workflow_id, llm, answers="recorded", record=True)
    assert (ended["state"], ended["passed"], ended["verdict"]["passed"]) == ("passed", 0, True)
    assert [warning["code"] for warning in ended["verdict"]["warnings"]] == ["judged_failed"]
    (result,) = await read(editor, workflow_id, ended["id"], "/results")
    assert (result["faults"][0]["is_by_model"], result["verdicts"][0]["model"]) == (True, "gpt-4.1")
    assert (await editor.publish(workflow_id)).status_code == 200


async def test_only_recorded_answers_can_be_recorded(editor: Editor, workflow_id: int) -> None:
    for answers in ("built-in", "live"):
        body = {"answers": answers, "record": True}
        refused = await editor.post(f"/workflow/{workflow_id}/scenario-plays", json=body)
        assert (refused.status_code, refused.json()["code"]) == (422, "record_needs_recorded")


class TestKept:
    async def test_encrypted_for_this_agent(
        self, root: Root, org: OrgFixture, editor: Editor, workflow_id: int
    ) -> None:
        await configure_model(editor)
        async with OPENAI.serving(answer_as_agent) as (_, llm):
            await play(root, org, editor, workflow_id, llm, answers="recorded", record=True)
        async with root.db.transaction() as session:
            rows = (await session.execute(text("SELECT sealed FROM scenario_answers"))).scalars().all()
        assert all(b"city" not in row for row in rows)
        exported = (await editor.get(f"/workflow/{workflow_id}/recorded-answers/file")).json()
        file = AnswersFile.from_json(exported)
        assert "city do you live" in "".join(
            piece.get("text", "") for answer in exported["answers"] for piece in answer["pieces"]
        )
        assert file.models["agent"]["model"] == "gpt-4.1"
        assert "sk-" not in str(exported)

    async def test_read_after_the_key_was_replaced(
        self, root: Root, org: OrgFixture, editor: Editor, workflow_id: int
    ) -> None:
        await configure_model(editor)
        async with OPENAI.serving(answer_as_agent) as (_, llm):
            recorded = await play(root, org, editor, workflow_id, llm, answers="recorded", record=True)
        keys = root.get(RunServices).vault.keys
        async with root.db.transaction() as session:
            await keys.rotate(session, org.id)
        await AnswerStore(root.db, keys).seal_again(org.id)
        async with root.db.transaction() as session:
            numbers = set((await session.execute(text("SELECT key_number FROM scenario_answers"))).scalars().all())
            assert numbers == {(await keys.get_newest(session, org.id)).number}
        later = await play(root, org, editor, workflow_id, llm, answers="recorded")
        assert later["result_hash"] == recorded["result_hash"]

    async def test_until_somebody_deletes_them(
        self, root: Root, org: OrgFixture, editor: Editor, viewer: Editor, workflow_id: int
    ) -> None:
        await configure_model(editor)
        async with OPENAI.serving(answer_as_agent) as (_, llm):
            await play(root, org, editor, workflow_id, llm, answers="recorded", record=True)
        path = f"/workflow/{workflow_id}/recorded-answers"
        assert (await viewer.delete(path)).status_code == 403
        assert (await editor.delete(path)).json()["count"] == 0
        ended = await play(root, org, editor, workflow_id, llm, answers="recorded")
        assert ended["state"] == "failed"


class TestAFile:
    """Recorded answers without a server: a file beside the scenarios."""

    async def test_gives_the_same_hash_on_another_machine(self) -> None:
        file = AnswersFile()
        async with OPENAI.serving(answer_as_agent) as (_, llm):
            recorded = await play_with(PlayAnswers(RECORDED, file, model_of(llm), AnswerBudget(100), records=True))
        copied = AnswersFile.from_json(json.loads(json.dumps(file.as_json())))
        again = await play_with(PlayAnswers(RECORDED, copied, copied.find_model, AnswerBudget(100)))
        assert (recorded.failed, again.hash) == (0, recorded.hash)

    async def test_another_temperature_is_another_request(self) -> None:
        file = AnswersFile()
        async with OPENAI.serving(answer_as_agent) as (_, llm):
            await play_with(PlayAnswers(RECORDED, file, model_of(llm), AnswerBudget(100), records=True))
            warmer = await play_with(PlayAnswers(RECORDED, file, model_of(llm, 0.9), AnswerBudget(100)))
        assert codes(warmer.results[0]) == ["answer_not_recorded"]

    @pytest.mark.parametrize("wrong", [None, [], {}, {"format": FORMAT}, {"format": "2", "models": {}, "answers": []}])
    def test_refuses_anything_else(self, wrong: Any) -> None:
        with pytest.raises(AnswersFileInvalid):
            AnswersFile.from_json(wrong)

    async def test_answers_come_as_late_as_they_came(self) -> None:
        late = RecordedAnswer((AnswerPiece(0.4, TextDelta("Hello")), AnswerPiece(1.9, TextDelta(" there."))))
        llm = AnsweredLlm(OneAnswer(late), ModelRef("llm", "openai", "gpt-4.1"))

        async def listen() -> list[float]:
            loop = asyncio.get_running_loop()
            began = loop.time()
            return [round(loop.time() - began, 3) async for _ in llm.stream(LlmRequest([LlmMessage("user", "Hi")]))]

        heard = await asyncio.to_thread(lambda: run_on_virtual_time(listen(), limit_s=60))
        assert heard == [0.4, 1.9]


class OneAnswer:
    """Implements AnswerProvider."""

    def __init__(self, answer: RecordedAnswer) -> None:
        self._answer = answer

    def answer_question(self, question: Question) -> GivenAnswer:
        return GivenAnswer(self._answer, ModelRef("llm", "openai", "gpt-4.1"), is_recorded=True)


async def play_with(answers: PlayAnswers) -> SuiteResult:
    """Plays the scenario in a thread, and answers in this loop."""
    source = LoopedAnswers(answers, AnswerLoop(asyncio.get_running_loop()))
    make_llm = partial(AnsweredLlm, source, ModelRef("llm", "openai", "gpt-4.1"))
    return await asyncio.to_thread(run_suite, agent(), parse_scenarios([BUYS]), make_llm)
