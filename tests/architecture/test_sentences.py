"""What people read of the server: errors, the interface description and the help of commands, in plain English."""

import ast
import importlib
import json
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import typer

import offhook
from offhook.cli import build_cli
from offhook.errors import DomainError
from tests.architecture.source import TOP, none, source

# Translated English; what a native writer says instead is in CONTRIBUTING's style.
FOREIGN = re.compile(
    r"\b(whoever|(?<!')nobody|somebody|anew|surely|meanwhile|(?:is|are|was) told|news of|may have \d+"
    r"|the reference|field required)\b",
    re.IGNORECASE,
)


def described(part: Any, where: str = "") -> Iterator[tuple[str, str]]:
    """Every text of the interface description with its place."""
    if isinstance(part, dict):
        for name, value in part.items():
            if name in ("summary", "description", "title") and isinstance(value, str):
                yield f"{where}/{name}", value
            else:
                yield from described(value, f"{where}/{name}")
    elif isinstance(part, list):
        for index, value in enumerate(part):
            yield from described(value, f"{where}/{index}")


def errors(kind: type[DomainError] = DomainError) -> Iterator[type[DomainError]]:
    for child in kind.__subclasses__():
        if child.__module__.startswith("offhook."):
            yield child
        yield from errors(child)


def helps(command: Any, name: str) -> Iterator[tuple[str, str]]:
    yield name, command.help or ""
    for parameter in command.params:
        yield f"{name} {parameter.name}", getattr(parameter, "help", None) or ""
    for child, below in getattr(command, "commands", {}).items():
        yield from helps(below, f"{name} {child}")


def foreign(texts: Iterator[tuple[str, str]]) -> list[str]:
    return [
        f"{where}: {', '.join(map(str, found))}: {text}" for where, text in texts if (found := FOREIGN.findall(text))
    ]


def test_the_interface_description() -> None:
    none(foreign(described(json.loads((TOP / "docs" / "openapi.json").read_text("utf-8")))))


def test_errors() -> None:
    for module in pkgutil.walk_packages(offhook.__path__, "offhook."):
        if module.name.rpartition(".")[2] == "errors":
            importlib.import_module(module.name)
    kinds = list(errors())
    assert len(kinds) > 100
    texts = [(kind.__name__, str(kind())) for kind in kinds if kind.__init__ is DomainError.__init__]
    none(foreign(iter(texts)))
    none([f"{name} ends in the middle: {text}" for name, text in texts if not text.endswith((".", ")", "!"))])


def raised() -> Iterator[tuple[str, str]]:
    """The sentences that stand where an error is raised."""
    for module in source():
        for node in module.nodes:
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                for part in ast.walk(node.exc):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        yield f"{module.name}:{node.lineno}", part.value


def test_messages_of_raised_errors() -> None:
    none(foreign(raised()))


def test_commands() -> None:
    none(foreign(helps(typer.main.get_command(build_cli()), "offhook")))
