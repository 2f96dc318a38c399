"""The project's own source as syntax trees, for rules that no linter knows."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

TOP = Path(__file__).parents[2]
SOURCE = TOP / "src"
LAB = TOP / "lab" / "src"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    path: Path

    @property
    def name(self) -> str:
        """Path from the top of the project, as it is written in a list of exceptions."""
        return self.path.relative_to(TOP).as_posix()

    @cached_property
    def text(self) -> str:
        return self.path.read_text()

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def domain(self) -> str | None:
        """``runs`` of ``src/offhook/runs/…``; None for modules directly in ``offhook``."""
        if LAB in self.path.parents:
            return "lab"
        parts = self.path.relative_to(SOURCE / "offhook").parts
        return parts[0] if len(parts) > 1 else None

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    def functions(self) -> Iterator[Function]:
        return (node for node in self.nodes if isinstance(node, Function))

    def classes(self) -> Iterator[ast.ClassDef]:
        return (node for node in self.nodes if isinstance(node, ast.ClassDef))


@cache
def modules(*folders: Path) -> list[Module]:
    found = (path for folder in folders for path in folder.rglob("*.py"))
    return [Module(path) for path in sorted(found) if "_migrations" not in path.parts]


def source() -> list[Module]:
    return modules(SOURCE, LAB)


def lines(node: ast.AST) -> int:
    assert isinstance(node, ast.stmt)
    return (node.end_lineno or node.lineno) - node.lineno + 1


def imported(node: ast.AST) -> list[str]:
    """The dotted names that an import statement brings in; both the module and what is taken from it."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []


def none(found: list[str]) -> None:
    """Fail with one line for each of ``found``."""
    assert not found, "\n" + "\n".join(found)
