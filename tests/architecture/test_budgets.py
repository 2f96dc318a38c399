"""Sizes: a file, function or class that outgrew its budget is named here, with what it has and what it may have."""

from collections import Counter

from tests.architecture import exceptions
from tests.architecture.source import TOP, lines, modules, none, source

FILE_LINES = 400
FUNCTION_LINES = 60
CLASS_LINES = 300
WEB_LINES = 250
FOLDER_MODULES = 20

EVERYWHERE = [TOP / "src", TOP / "lab", TOP / "tests", TOP / "bench", TOP / "scripts"]


def report(over: dict[str, int], allowed: exceptions.Exceptions, budget: int) -> list[str]:
    """Sentences on what is over and not excepted, and on exceptions that are not needed."""
    told = [f"{name} has {count} lines, {budget} are allowed" for name, count in over.items() if name not in allowed]
    return told + [f"{name} is excepted and need not be" for name in allowed if name not in over]


def test_files() -> None:
    counts = {module.name: module.text.count("\n") for module in modules(*EVERYWHERE)}
    over = {name: count for name, count in counts.items() if count > FILE_LINES}
    none(report(over, exceptions.LONG_FILES, FILE_LINES))


def test_functions() -> None:
    over = {
        f"{module.name}::{function.name}": lines(function)
        for module in source()
        for function in module.functions()
        if lines(function) > FUNCTION_LINES
    }
    none(report(over, exceptions.LONG_FUNCTIONS, FUNCTION_LINES))


def test_classes() -> None:
    over = {
        f"{module.name}::{found.name}": lines(found)
        for module in source()
        for found in module.classes()
        if lines(found) > CLASS_LINES
    }
    none(report(over, exceptions.LONG_CLASSES, CLASS_LINES))


def test_folders() -> None:
    """A folder with more modules than a reader keeps in mind needs rooms."""
    counts = Counter(
        module.path.parent.relative_to(TOP).as_posix() for module in source() if module.path.name != "__init__.py"
    )
    over = {name: count for name, count in counts.items() if count > FOLDER_MODULES}
    none([f"{name} has {count} modules, {FOLDER_MODULES} are allowed" for name, count in over.items()])


def test_web_files() -> None:
    generated = {"web/src/lib/api/api.d.ts"}
    counts = {
        path.relative_to(TOP).as_posix(): path.read_text().count("\n")
        for pattern in ("*.ts", "*.tsx")
        for path in (TOP / "web" / "src").rglob(pattern)
    }
    over = {name: count for name, count in counts.items() if count > WEB_LINES and name not in generated}
    none(report(over, {}, WEB_LINES))


def test_web_folders() -> None:
    """Tests do not count: they stand beside what they test."""
    counts = Counter(
        path.parent.relative_to(TOP).as_posix()
        for path in (TOP / "web" / "src").rglob("*.ts*")
        if ".test." not in path.name
    )
    over = {name: count for name, count in counts.items() if count > FOLDER_MODULES}
    none([f"{name} has {count} modules side by side, {FOLDER_MODULES} are allowed" for name, count in over.items()])


def test_processes_stay_small() -> None:
    for name in ("api", "worker", "cli"):
        text = (TOP / "src" / "offhook" / f"{name}.py").read_text()
        assert text.count("\n") <= 60, f"{name}.py starts a process and does nothing else"
