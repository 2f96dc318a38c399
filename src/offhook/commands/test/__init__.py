"""``offhook test``: plays an agent's scenarios, for people and for CI."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Final, NoReturn

import typer

from offhook.commands.console import EXIT_FAILED, EXIT_WRONG_USE, load_settings, report_errors
from offhook.commands.database import any_database
from offhook.commands.test.answers import AnswerOptions, Answers, ChosenModels, StoredAgent, open_models
from offhook.errors import DomainError
from offhook.kit.database import migrations
from offhook.kit.database.database import Database
from offhook.models.ports import ModelError
from offhook.orgs import service as orgs
from offhook.scenarios import (
    Scenario,
    ScenarioAgent,
    SuiteResult,
    build_scenario_agent,
    read_scenarios,
    run_suite,
    write_scenarios,
)
from offhook.scenarios.agents import find_workflow_id, load_agent, load_scenarios, load_version
from offhook.scenarios.answers.questions import AGENT, PUBLISHED
from offhook.scenarios.checks import check_agent, finding_as_json, finding_lines
from offhook.scenarios.engine.player import play_scenario
from offhook.scenarios.engine.suite import Play
from offhook.scenarios.gate.report import verdict_lines
from offhook.scenarios.gate.verdict import GatePolicy, GateSide, examine_version, judge_draft
from offhook.scenarios.offline import build_offline_model
from offhook.scenarios.proposals.proposer import propose_scenarios
from offhook.scenarios.report import junit_xml, report_lines
from offhook.scenarios.sound.offline_recognizer import OfflineListener
from offhook.scenarios.sound.player import SoundPlayer
from offhook.scenarios.templates import build_template_agent, template_scenarios
from offhook.settings import Settings
from offhook.voice.input.silero_vad_engine import VadModelMissing
from offhook.workflows.catalog.templates import find_template
from offhook.workflows.definition import DefinitionRefused, check_storable

MAX_DEFINITION_BYTES: Final = 4 * 1024 * 1024


class Recognizer(StrEnum):
    """What hears the caller of a scenario with sound."""

    SCRIPT = "script"
    OFFLINE = "offline"


AgentArgument = Annotated[
    str, typer.Argument(help="A definition (a .json file), a template, or an agent's id or name.")
]
ScenarioOption = Annotated[list[str] | None, typer.Option(help="Only the scenario with this name (repeatable).")]
FileOption = Annotated[Path | None, typer.Option(help="A YAML file of scenarios instead of the agent's own.")]
DraftOption = Annotated[bool, typer.Option("--draft", help="Test the draft instead of the published version.")]
VersionOption = Annotated[int | None, typer.Option(help="Test the version with this number.", min=1)]
CheckOption = Annotated[bool, typer.Option("--check", help="Only check the graph for problems.")]
ProposeOption = Annotated[bool, typer.Option("--propose", help="Print scenarios proposed from the graph, as YAML.")]
AgainstOption = Annotated[
    str | None,
    typer.Option(help="Judge this version against another one: 'published', a version's number, or a .json file."),
]
SoundOption = Annotated[
    bool, typer.Option("--sound", help="Play complete calls with voices, turn-taking and a recording, not only text.")
]
RecordingsOption = Annotated[
    Path | None, typer.Option(help="With --sound: keep the recordings of failed scenarios in this folder.")
]
RecognizerOption = Annotated[
    Recognizer, typer.Option(help="With --sound: take the words from the scenario, or use the offline recognizer.")
]
AnswersOption = Annotated[
    Answers,
    typer.Option(
        help="Who answers: the built-in model, recorded answers, or the agent's own model, which costs money."
    ),
]
RecordOption = Annotated[
    bool, typer.Option("--record", help="With --answers recorded: ask the model for missing answers, and record them.")
]
CassetteOption = Annotated[Path | None, typer.Option(help="A file of recorded answers, instead of the installation's.")]
MaxCostOption = Annotated[int, typer.Option(help="Stop when models have cost this many cents.", min=1, max=100_000)]
SeedOption = Annotated[int, typer.Option(help="Seed for the callers' random choices.", min=0, max=2**31 - 1)]
OrganizationOption = Annotated[str, typer.Option("--org", help="The organization, by number or name.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print only one JSON object.")]
JunitOption = Annotated[Path | None, typer.Option(help="Write the results to this file in JUnit format.")]


@dataclass(frozen=True, slots=True)
class _WantedAgent:
    """Which agent, and which of its versions."""

    name: str
    organization: str
    is_draft: bool
    number: int | None


def register(app: typer.Typer) -> None:
    @app.command(name="test")
    def test_agent(  # noqa: PLR0913, PLR0917 - one for each option
        agent: AgentArgument,
        scenario: ScenarioOption = None,
        file: FileOption = None,
        draft: DraftOption = False,
        version: VersionOption = None,
        is_check: CheckOption = False,
        is_proposal: ProposeOption = False,
        against: AgainstOption = None,
        sound: SoundOption = False,
        recordings: RecordingsOption = None,
        recognizer: RecognizerOption = Recognizer.SCRIPT,
        answers: AnswersOption = Answers.BUILT_IN,
        record: RecordOption = False,
        cassette: CassetteOption = None,
        max_cost_cents: MaxCostOption = 100,
        seed: SeedOption = 0,
        org: OrganizationOption = orgs.DEFAULT_ORGANIZATION,
        is_json: JsonOption = False,
        junit: JunitOption = None,
    ) -> None:
        """Play an agent's scenarios on virtual time, offline unless --answers says otherwise. The same seed gives the same
        hash, except with --answers live.

        Exit codes: 0 all passed, 1 some failed (with --check: an error was found; with --against: there is a reason
        not to publish), 2 bad input.
        """
        if draft and version is not None:
            raise typer.BadParameter("provide either --draft or --version")
        if recordings is not None and against is not None:
            raise typer.BadParameter("provide either --recordings or --against")
        asked = AnswerOptions(answers, record, cassette, max_cost_cents)
        asked.check()
        wanted = _WantedAgent(agent, org, draft, version)
        if is_check:
            _check(wanted, is_json=is_json)
        if is_proposal:
            _propose(wanted, _read_file(file))
        with report_errors():
            settings = load_settings()
            try:
                found, scenarios, stored = _find_agent(settings, wanted, _read_file(file))
                chosen = _choose(scenarios, scenario or [])
            except DomainError as error:
                _refuse(error.message)
            other = _find_other(settings, wanted, against) if against is not None else None
            agents = {AGENT: found} if other is None else {AGENT: found, PUBLISHED: other}
            with (
                _open_play(recordings, recognizer, has_sound=sound) as play,
                _open_models(settings, asked, agents, stored) as models,
            ):
                if other is not None:
                    sides = ((found, models.make_llm), (other, models.make_other))
                    _judge(
                        *(examine_version(one, chosen, make, seed, play=play) for one, make in sides), is_json=is_json
                    )
                result = run_suite(found, chosen, models.make_llm, seed, play=play)
        _report(result, junit, is_json=is_json)


def _report(result: SuiteResult, junit: Path | None, *, is_json: bool) -> NoReturn:
    """Prints what came of the scenarios, and exits."""
    if junit is not None:
        try:
            junit.write_bytes(junit_xml(result))
        except OSError as error:
            _refuse(f"Cannot write {junit}: {error.strerror}.")
    if is_json:
        typer.echo(json.dumps(result.as_json(), ensure_ascii=False))
    else:
        for line in report_lines(result):
            typer.echo(line)
    raise typer.Exit(EXIT_FAILED if result.failed else 0)


@contextmanager
def _open_play(recordings: Path | None, recognizer: Recognizer, *, has_sound: bool) -> Iterator[Play]:
    """Yields what plays scenarios."""
    if not has_sound:
        if recordings is not None or recognizer is not Recognizer.SCRIPT:
            raise typer.BadParameter("--recordings and --recognizer need --sound")
        yield play_scenario
        return
    with ExitStack() as stack:
        try:
            if recordings is not None:
                recordings.mkdir(parents=True, exist_ok=True)
            folder = recordings or Path(stack.enter_context(TemporaryDirectory()))
            listener = stack.enter_context(closing(OfflineListener())) if recognizer is Recognizer.OFFLINE else None
            player = SoundPlayer(folder, listener.recognize_speech if listener is not None else None)
            stack.enter_context(closing(player)).load_models()
        except OSError as error:
            _refuse(f"Cannot write to {recordings or 'a temporary folder'}: {error.strerror}.")
        except (ModelError, VadModelMissing) as error:
            _refuse(str(error))
        yield player.play_call


@contextmanager
def _open_models(
    settings: Settings, options: AnswerOptions, agents: Mapping[str, ScenarioAgent], stored: StoredAgent | None
) -> Iterator[ChosenModels]:
    try:
        with open_models(settings, options, agents, stored) as models:
            yield models
    except DomainError as error:
        _refuse(error.message)
    except OSError as error:
        _refuse(f"Cannot use {options.file}: {error.strerror}.")


def _check(wanted: _WantedAgent, *, is_json: bool) -> NoReturn:
    """Prints what is wrong with the graph, and exits."""
    with report_errors():
        try:
            agent, _, _ = _find_agent(load_settings(), wanted, None)
        except DomainError as error:
            _refuse(error.message)
        findings = check_agent(agent)
    errors = sum(finding.severity == "error" for finding in findings)
    if is_json:
        found = [finding_as_json(finding) for finding in findings]
        report = {"agent": agent.name, "errors": errors, "warnings": len(found) - errors, "findings": found}
        typer.echo(json.dumps(report, ensure_ascii=False))
    else:
        for line in finding_lines(agent.name, findings):
            typer.echo(line)
    raise typer.Exit(EXIT_FAILED if errors else 0)


def _propose(wanted: _WantedAgent, beside: Sequence[Scenario] | None) -> NoReturn:
    """Prints proposals beside the scenarios of the file, and exits."""
    with report_errors():
        settings = load_settings()
        try:
            agent, own, _ = _find_agent(settings, wanted, beside)
        except DomainError as error:
            _refuse(error.message)
        proposed = propose_scenarios(agent, build_offline_model(settings.data_dir / "models"), beside=own)
    typer.echo(write_scenarios(proposed), nl=False)
    raise typer.Exit(0)


def _find_other(settings: Settings, wanted: _WantedAgent, against: str) -> ScenarioAgent:
    """Returns the version to compare with."""
    if Path(against).suffix == ".json":
        return build_scenario_agent(Path(against).stem, _read_definition(Path(against)))
    if against != "published" and not (against.isascii() and against.isdigit() and int(against) > 0):
        _refuse("--against takes 'published', the number of a version, or a .json file.")
    number = None if against == "published" else int(against)
    other = replace(wanted, is_draft=False, number=number)
    if number is None and (Path(wanted.name).suffix == ".json" or find_template(wanted.name) is not None):
        _refuse("--against published is for agents of the installation. Give a .json file.")
    try:
        return _find_agent(settings, other, None)[0]
    except DomainError as error:
        _refuse(error.message)


def _judge(draft: GateSide, other: GateSide, *, is_json: bool) -> NoReturn:
    """Prints whether a version may replace the other one, and exits."""
    verdict = judge_draft(draft, other, GatePolicy())
    if is_json:
        typer.echo(json.dumps(verdict.as_json(), ensure_ascii=False))
    else:
        for line in verdict_lines(verdict):
            typer.echo(line)
    raise typer.Exit(0 if verdict.has_passed else EXIT_FAILED)


def _read_file(file: Path | None) -> Sequence[Scenario] | None:
    if file is None:
        return None
    try:
        return read_scenarios(file.read_bytes())
    except OSError as error:
        _refuse(f"Cannot read {file}: {error.strerror}.")
    except DomainError as error:
        _refuse(f"{file}: {error.message}")


def _find_agent(
    settings: Settings, wanted: _WantedAgent, given: Sequence[Scenario] | None
) -> tuple[ScenarioAgent, Sequence[Scenario], StoredAgent | None]:
    """Returns the agent and its scenarios. Only an agent of the installation, which comes last, needs its database."""
    has_version = wanted.is_draft or wanted.number is not None
    path, template = Path(wanted.name), find_template(wanted.name)
    if path.suffix == ".json" or template is not None:
        if has_version:
            _refuse("--draft and --version are for agents of the installation.")
        if template is not None:
            return build_template_agent(template), template_scenarios(template.id) if given is None else given, None
        return build_scenario_agent(path.stem, _read_definition(path)), given or (), None
    with any_database(settings) as url:
        agent, own, stored = asyncio.run(_load_stored(url, wanted))
        return agent, own if given is None else given, stored


async def _load_stored(url: str, wanted: _WantedAgent) -> tuple[ScenarioAgent, Sequence[Scenario], StoredAgent]:
    database = Database(url)
    try:
        await migrations.require_current(database)
        async with database.transaction() as session:
            organization = await orgs.find_organization(session, wanted.organization)
            workflow_id = await find_workflow_id(session, organization.id, wanted.name)
            version = await load_version(
                session, organization.id, workflow_id, is_draft=wanted.is_draft, number=wanted.number
            )
            stored = StoredAgent(organization.id, workflow_id)
            return await load_agent(session, version), await load_scenarios(session, version), stored
    finally:
        await database.dispose()


def _read_definition(path: Path) -> dict[str, Any]:
    try:
        data = path.read_bytes()
        value = json.loads(data) if len(data) <= MAX_DEFINITION_BYTES else None
    except OSError as error:
        _refuse(f"Cannot read {path}: {error.strerror}.")
    except (ValueError, RecursionError):
        _refuse(f"{path} is not JSON.")
    if isinstance(value, dict) and isinstance(value.get("workflow_definition"), dict):
        value = value["workflow_definition"]  # as the API answers
    if not isinstance(value, dict):
        _refuse(f"{path} is not a definition: an object with nodes and edges, of at most 1 MB.")
    try:
        check_storable(value)
    except DefinitionRefused as error:
        _refuse(f"{path}: {error}.")
    return value


def _choose(scenarios: Sequence[Scenario], names: Sequence[str]) -> list[Scenario]:
    if not scenarios:
        _refuse("This agent has no scenarios. Write some, or give a file of them with --file.")
    missing = sorted(set(names) - {scenario.name for scenario in scenarios})
    if missing:
        _refuse(f"There is no scenario {missing[0]!r}.")
    return [scenario for scenario in scenarios if not names or scenario.name in names]


def _refuse(sentence: str) -> NoReturn:
    typer.echo(f"offhook: {sentence}", err=True)
    raise typer.Exit(EXIT_WRONG_USE)
