"""What the documents say of the code and of each other is true: links, packages, layers, commands, decisions."""

import json
import re
from collections import Counter
from configparser import ConfigParser
from pathlib import Path

import pytest
import typer

from offhook.cli import build_cli
from offhook.settings import Settings
from tests.architecture.source import LAB, SOURCE, TOP, none

DOCUMENTS = sorted([*TOP.glob("*.md"), *(TOP / "docs").rglob("*.md"), TOP / "bench" / "README.md"])
DECISIONS = sorted((TOP / "docs" / "decisions").glob("[0-9]*.md"))
PACKAGES = sorted(path.name for path in (SOURCE / "offhook").iterdir() if (path / "__init__.py").exists())


def name(path: Path) -> str:
    return path.relative_to(TOP).as_posix()


def text(path: str) -> str:
    return (TOP / path).read_text("utf-8")


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_links_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", document.read_text("utf-8"))
    targets = [link.partition("#")[0] for link in links if "://" not in link]
    none([target for target in targets if target and not (document.parent / target).exists()])


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_links_to_headings_lead_to_one(document: Path) -> None:
    links = re.findall(r"\]\(([^)\s]*)#([^)\s]+)\)", document.read_text("utf-8"))
    targets = [
        ((document.parent / path).resolve() if path else document, anchor)
        for path, anchor in links
        if "://" not in path
    ]
    none([f"{name(target)}#{anchor}" for target, anchor in targets if anchor not in anchors(target)])


def anchors(document: Path) -> set[str]:
    """As repository hosts make them: lower case, blanks as hyphens, no other signs."""
    headings = re.findall(r"^#+ (.+)$", document.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_document_is_linked_from_another() -> None:
    links = {
        (document.parent / link.partition("#")[0]).resolve()
        for document in DOCUMENTS
        for link in re.findall(r"\]\(([^)\s]+)\)", document.read_text("utf-8"))
        if "://" not in link
    }
    none([name(path) for path in (TOP / "docs").glob("*.md") if path not in links])


def test_a_decision_has_a_number_of_its_own_and_says_it() -> None:
    numbers = Counter(path.name[:4] for path in DECISIONS)
    none([number for number, times in numbers.items() if times > 1])
    none([name(path) for path in DECISIONS if not path.read_text("utf-8").startswith(f"# {int(path.name[:4])}. ")])


@pytest.mark.parametrize("decision", DECISIONS, ids=name)
def test_a_decision_has_its_parts(decision: Path) -> None:
    parts = re.findall(r"^- \*\*([^*]+)\.\*\* ?(.*)$", decision.read_text("utf-8"), re.MULTILINE)
    assert [part for part, _ in parts][:6] == ["Date", "Status", "Need", "Choice", "Alternatives", "Why"]
    assert "Cost" in dict(parts)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", dict(parts)["Date"])
    row = (
        f"| {int(decision.name[:4])} | [{text(name(decision)).splitlines()[0].partition('. ')[2]}]({decision.name}) | "
    )
    assert f"{row}{dict(parts)['Date']} | {dict(parts)['Status']} |" in text("docs/decisions/README.md")


def test_every_package_has_its_place_in_the_layout() -> None:
    rows = "\n".join(line for line in text("ARCHITECTURE.md").splitlines() if line.startswith("| `"))
    none([package for package in PACKAGES if package != "commands" and f"{package}/" not in rows])


def test_the_direction_is_the_one_that_is_checked() -> None:
    contract = ConfigParser()
    contract.read(TOP / ".importlinter")
    layers = contract["importlinter:contract:layers"]["layers"].split("\n")
    checked = [[part for part in layer.split(" | ") if not part.startswith("(")] for layer in layers if layer]
    told = re.search(r"lint-imports` checks it in CI:\n(.*?)\. `voice`", text("ARCHITECTURE.md"), re.DOTALL)
    assert told is not None
    assert [layer.strip("` \n").split(" | ") for layer in told[1].split("→")] == checked


def test_commands_that_are_named_exist() -> None:
    known = commands()
    wrong = [
        f"{name(document)}: offhook {said}"
        for document in DOCUMENTS
        for said in re.findall(r"(?:`|^ *)offhook ([a-z-]+(?: [a-z]+)?)", document.read_text("utf-8"), re.MULTILINE)
        if said not in known and (said.split()[0] not in known or f"{said.split()[0]} …" in known)
    ]
    none(wrong)


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_benchmarks_and_files_that_are_named_exist(document: Path) -> None:
    words = document.read_text("utf-8")
    programs = [f"bench/{program}.py" for program in re.findall(r"\bbench\.(\w+)", words)]
    # paths are given from the top, or from the package
    files = re.findall(
        r"`((?:src|tests|bench|docs|scripts|kit|voice|runs|models|lab|knowledge|telephony)/[\w/.-]+\.\w+)`", words
    )
    wrong = [
        path
        for path in [*programs, *files]
        if not any((root / path).exists() for root in (TOP, SOURCE / "offhook", LAB / "offhook_lab"))
    ]
    none([f"{name(document)}: {path}" for path in wrong])


# Translated English; what a native writer says instead is in CONTRIBUTING's style.
FOREIGN = re.compile(
    r"\b(whoever|nobody|somebody|anew|surely|meanwhile|(?:is|are|was) told|news of|may have \d+)\b", re.IGNORECASE
)


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_documents_are_written_in_plain_english(document: Path) -> None:
    none([f"{name(document)}: {word}" for word in FOREIGN.findall(document.read_text("utf-8"))])


def test_facts_that_the_knowledge_bench_asks_for_are_in_the_documents() -> None:
    folded = [" ".join(document.read_text("utf-8").split()) for document in DOCUMENTS]
    questions = json.loads(text("bench/knowledge_questions.json"))
    facts = [" ".join(question["fact"].split()) for question in questions]
    none([fact for fact in facts if not any(fact in document for document in folded)])


def commands() -> set[str]:
    """``serve``, ``keys …`` for a command that has others below it, ``keys create``."""
    found = set()
    for command, entry in typer.main.get_command(build_cli()).commands.items():  # type: ignore[attr-defined]
        below = getattr(entry, "commands", {})
        found |= {command, *(f"{command} {each}" for each in below), *([f"{command} …"] if below else [])}
    return found


def test_settings_that_are_named_exist() -> None:
    known = {f"OFFHOOK_{field.upper()}" for field in Settings.model_fields}
    named = {
        (name(document), setting)
        for document in DOCUMENTS
        for setting in re.findall(r"\bOFFHOOK_[A-Z_]+[A-Z]\b", document.read_text("utf-8"))
    }
    none([f"{document}: {setting}" for document, setting in sorted(named) if setting not in known])


def test_every_setting_is_documented() -> None:
    documented = text("docs/operations.md")
    none([field for field in Settings.model_fields if f"`OFFHOOK_{field.upper()}`" not in documented])


def test_every_command_is_documented() -> None:
    documented = text("docs/operations.md")
    below = {command.split()[0] for command in commands() if " " in command}
    named = [command for command in commands() if not command.endswith("…") and command not in below]
    none([command for command in named if not re.search(rf"`offhook {command}[ `]", documented)])
