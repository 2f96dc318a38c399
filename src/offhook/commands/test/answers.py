"""Who answers in ``offhook test``: the built-in model, recorded answers, or the agent's own model."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path

import typer

from offhook.commands.database import any_database
from offhook.commands.encryption import load_keyring
from offhook.kit.database.database import Database
from offhook.kit.egress import EgressClient
from offhook.models.organization_models import OrganizationModels
from offhook.models.prices import InstallationBillingPolicy
from offhook.models.registry import ModelRegistry
from offhook.models.service import ModelConfigurationStore
from offhook.orgs.data_keys.keys import DataKeys
from offhook.scenarios.answers.desk import AnswerDesk, WantedAnswers
from offhook.scenarios.answers.files import AnswersFile
from offhook.scenarios.answers.installed import InstalledModels
from offhook.scenarios.answers.model import AnsweredLlm
from offhook.scenarios.answers.play_answers import AnswerBudget, PlayAnswers
from offhook.scenarios.answers.questions import AGENT, PUBLISHED, Question
from offhook.scenarios.answers.store import AnswerStore
from offhook.scenarios.answers.threads import AnswerLoop, LoopedAnswers
from offhook.scenarios.engine.agent import ScenarioAgent
from offhook.scenarios.engine.suite import MakeLlm
from offhook.scenarios.offline import build_offline_model
from offhook.settings import Settings


class Answers(StrEnum):
    """Who answers in a play."""

    BUILT_IN = "built-in"
    RECORDED = "recorded"
    LIVE = "live"


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """What the command line says about answers."""

    mode: Answers
    records: bool
    file: Path | None
    max_cost_cents: int

    def check(self) -> None:
        """Raises BadParameter for options that contradict each other."""
        if self.records and self.mode is not Answers.RECORDED:
            raise typer.BadParameter("--record needs --answers recorded")
        if self.file is not None and self.mode is not Answers.RECORDED:
            raise typer.BadParameter("--cassette needs --answers recorded")


@dataclass(frozen=True, slots=True)
class StoredAgent:
    """An agent of the installation, whose organization has models and recorded answers."""

    organization_id: int
    workflow_id: int


@dataclass(frozen=True, slots=True)
class ChosenModels:
    """What makes the models of the version, and of the one that it is compared with."""

    make_llm: MakeLlm
    make_other: MakeLlm


@contextmanager
def open_models(
    settings: Settings, options: AnswerOptions, agents: Mapping[str, ScenarioAgent], stored: StoredAgent | None
) -> Iterator[ChosenModels]:
    """Yields the models of a play. ``agents`` are its versions, by ``agent`` and ``published``; ``stored`` is None for a file
    or a template. Raises a DomainError when they cannot be asked, and OSError for the file of answers."""
    if options.mode is Answers.BUILT_IN:
        make = build_offline_model(settings.data_dir / "models")
        yield ChosenModels(make, make)
        return
    with ExitStack() as stack:
        loop = stack.enter_context(AnswerLoop.open_loop())
        file = _read_file(options)
        opened = _PlayParts(settings, options, agents, stored, loop, file, stack)
        answers = opened.open_answers()
        source = LoopedAnswers(answers, loop)

        def make_for(asked: str) -> MakeLlm:
            model = loop.run_work(answers.model_of(Question(asked, 0, {})))
            return partial(AnsweredLlm, source, model.ref, asked)

        make_llm = make_for(AGENT)
        try:
            yield ChosenModels(make_llm, make_for(PUBLISHED) if PUBLISHED in agents else make_llm)
        finally:
            # what was paid for is kept, also of a play that was interrupted
            if options.records and file is not None and options.file is not None:
                file.write_file(options.file)


def _read_file(options: AnswerOptions) -> AnswersFile | None:
    if options.file is None:
        return None
    if options.records and not options.file.exists():
        return AnswersFile()
    return AnswersFile.read_file(options.file)


@dataclass(frozen=True, slots=True)
class _PlayParts:
    """What the answers of one play are made of."""

    settings: Settings
    options: AnswerOptions
    agents: Mapping[str, ScenarioAgent]
    stored: StoredAgent | None
    loop: AnswerLoop
    file: AnswersFile | None
    stack: ExitStack

    def open_answers(self) -> PlayAnswers:
        mode, records = str(self.options.mode), self.options.records
        budget = AnswerBudget(self.options.max_cost_cents)
        if self.file is not None and not records:
            return PlayAnswers(mode, self.file, self.file.find_model, budget)
        configurations = {asked: agent.configurations for asked, agent in self.agents.items()}
        if self.stored is not None:
            database, desk = self._open_desk()
            wanted = WantedAnswers(
                self.stored.organization_id,
                self.stored.workflow_id,
                mode,
                records,
                self.options.max_cost_cents,
                configurations,
            )
            self.stack.callback(lambda: self.loop.run_work(database.dispose()))
            answers, _ = self.loop.run_work(desk.open_play(wanted, self.file))
            return answers
        models = InstalledModels(ModelRegistry(self.settings), configurations)
        self.stack.callback(lambda: self.loop.run_work(models.close()))
        return PlayAnswers(mode, self.file or AnswersFile(), models.find_model, budget, records=records)

    def _open_desk(self) -> tuple[Database, AnswerDesk]:
        url = self.stack.enter_context(any_database(self.settings))
        database, keyring = Database(url), load_keyring(self.settings)
        egress = EgressClient()
        registry = ModelRegistry(self.settings, egress=egress)
        self.stack.callback(lambda: self.loop.run_work(registry.close()))
        configurations = ModelConfigurationStore(registry, keyring, egress)
        models = OrganizationModels(registry, configurations, database, InstallationBillingPolicy)
        return database, AnswerDesk(
            database, AnswerStore(database, DataKeys(keyring)), models, InstallationBillingPolicy
        )
