"""A vendor's emulator that plays the agent of :mod:`tests.scenarios.agents`, and a desk that asks it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from offhook.models.organization_models import ChosenLlm
from offhook.models.ports import Llm
from offhook.models.prices import InstallationBillingPolicy
from offhook.root import Root
from offhook.runs import RunServices
from offhook.scenarios.answers.desk import AnswerDesk
from offhook.scenarios.answers.play_answers import AskedModel, FindModel
from offhook.scenarios.answers.questions import Question
from offhook.scenarios.answers.store import AnswerStore
from offhook.scenarios.plays.tasks import ScenarioPlayJob
from offhook.scenarios.services import ScenarioServices
from offhook_lab.sse import Reply, ScriptedAnswer
from tests.fixtures_orgs import OrgFixture

# The agent's own words: nobody else's model says them.
QUESTION = "In which city do you live?"
BUYS: dict[str, Any] = {
    "name": "buys",
    "caller": {"turns": ["sales please", "london"]},
    "expect": {"edges": ["start-sales", "sales-bye"], "says": [QUESTION], "end": "bye"},
}


def answer_as_agent(body: dict[str, Any]) -> Reply:
    """Returns what the model says, in the format of any vendor: an edge for what the caller wants, else a question."""
    heard = json.dumps((body.get("messages") or body["contents"])[-1])
    for word, label in (("sales please", "sales"), ("london", "city")):
        if word in heard:
            name = next(name for name in function_names(body) if label in name)
            return ScriptedAnswer(calls=((name, {}),))
    return ScriptedAnswer(QUESTION)


def function_names(body: dict[str, Any]) -> list[str]:
    return [tool["function"]["name"] if "function" in tool else tool["name"] for tool in body.get("tools") or ()]


@dataclass
class OneModel:
    """Implements LlmFinder: every organization has this model."""

    llm: Llm
    temperature: float = 0.3

    async def find_llm(
        self,
        organization_id: int,
        configurations: Mapping[str, Any],
        wanted: Mapping[str, str] | None = None,
        *,
        needs_key: bool = True,
    ) -> ChosenLlm:
        return ChosenLlm(self.llm, self.temperature, None)


def model_of(llm: Any, temperature: float = 0.3) -> FindModel:
    async def find_model(question: Question) -> AskedModel:
        return AskedModel(llm.model_ref.provider, llm.model_ref.model, temperature, None, llm)

    return find_model


def desk_of(root: Root, llm: Llm) -> AnswerDesk:
    store = AnswerStore(root.db, root.get(RunServices).vault.keys)
    return AnswerDesk(root.db, store, OneModel(llm), InstallationBillingPolicy)


async def run_play(root: Root, org: OrgFixture, play_id: int, llm: Llm) -> None:
    """Plays what was ordered, with this model as everybody's."""
    recordings = root.get(ScenarioServices).recordings
    job = ScenarioPlayJob(root.db, recordings, None, desk=desk_of(root, llm))
    await job.run_play({"organization_id": org.id, "play_id": play_id})
