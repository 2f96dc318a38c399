"""The rules of the architecture that can be read from the source."""

import ast
import re
from functools import cache

import pytest

from tests.architecture import exceptions
from tests.architecture.source import SOURCE, TOP, Function, Module, imported, modules, none, source


def unexpected(found: list[str], allowed: exceptions.Exceptions) -> list[str]:
    """What breaks the rule without an exception, and exceptions that are not needed."""
    unneeded = [f"{name} is excepted and need not be" for name in allowed if name not in found]
    return [name for name in found if name not in allowed] + unneeded


def calls(module: Module, attribute: str) -> list[int]:
    return [
        node.lineno
        for node in module.nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == attribute
    ]


def test_transactions_are_committed_in_one_place() -> None:
    found = [
        f"{module.name}:{line}"
        for module in source()
        for line in calls(module, "commit")
        # The queue's in-memory twin names its own act so.
        if module.name not in {"src/offhook/kit/database/database.py", "src/offhook/jobs/memory_queue.py"}
    ]
    none(found)


def test_services_raise_domain_errors_not_http_exceptions() -> None:
    found = [
        module.name
        for module in source()
        for node in module.nodes
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call | ast.Name)
        if "HTTPException" in ast.dump(node.exc)
    ]
    none(found)


def test_our_own_code_is_imported_at_the_top() -> None:
    found = [
        f"{module.name}:{node.lineno}"
        for module in source()
        for function in module.functions()
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
        if any(name.partition(".")[0] == "offhook" for name in imported(node))
        or (isinstance(node, ast.ImportFrom) and node.level)
    ]
    none(found)


def test_other_domains_insides_are_left_alone() -> None:
    found = set()
    for module in source():
        for node in module.nodes:
            for name in imported(node):
                match = re.fullmatch(r"offhook\.(\w+)(?:\.\w+)*\.(repository|tables)(\.\w+)?", name)
                if match and match[1] != module.domain:
                    found.add(module.name)
    none(unexpected(sorted(found), exceptions.FOREIGN_INSIDES))


def is_root(node: ast.AST) -> bool:
    """Whether this is the root of a process: ``root``, ``self._root``, ``app.state.root``."""
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name in {"root", "_root"}


def looks_services_up(node: ast.AST) -> bool:
    """Whether this is ``root.get(…)`` or ``root.services``."""
    if isinstance(node, ast.Attribute) and node.attr == "services":
        return is_root(node.value)
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "get"
        and is_root(node.func.value)
    )


def test_only_the_edge_of_the_composition_looks_services_up() -> None:
    """A package's ``register`` builds its services from those of the domains below; everything else is given them."""
    edge = {"src/offhook/root.py", "src/offhook/bootstrap.py"}
    found = [
        module.name
        for module in modules(SOURCE)
        if module.path.name != "__init__.py" and module.name not in edge and module.domain != "commands"
        if any(looks_services_up(node) for node in module.nodes)
    ]
    none(unexpected(found, exceptions.LOOKUPS_ELSEWHERE))


def test_requests_get_the_services_of_a_domain_by_one_dependency() -> None:
    found = [
        module.name
        for module in modules(SOURCE)
        if (
            uses := [
                node for node in module.nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "use_service"
            ]
        )
        if module.path.name != "services.py" or len(uses) > 1
    ]
    none(unexpected(found, exceptions.DEPENDENCIES_ELSEWHERE))


def is_public(function: Function) -> bool:
    return not function.name.startswith("_")


# Parts of SQLAlchemy that make no statement.
WITHOUT_STATEMENTS = {"create_async_engine", "async_sessionmaker", "event", "make_url", "mapped_column"}


def makes_statements(module: Module) -> bool:
    """Whether it imports a function of SQLAlchemy that makes a statement or a part of one; classes are only types."""
    return any(
        alias.name[0].islower() and alias.name not in WITHOUT_STATEMENTS
        for node in module.nodes
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "sqlalchemy"
        for alias in node.names
    )


def holds_sql(module: Module) -> bool:
    """Whether the name of the module, or of its folder, says that statements are in it."""
    has_name = re.fullmatch(r"(\w+_)?(repository|queries|statements)|tables", module.path.stem)
    return bool(has_name) or module.path.parent.name == "repository"


def test_statements_stand_in_modules_that_are_named_for_them() -> None:
    found = [
        module.name
        for module in source()
        if makes_statements(module) and not holds_sql(module) and module.domain not in {"kit", "jobs"}
    ]
    none(unexpected(found, exceptions.STATEMENTS_ELSEWHERE))


@cache
def organization_records() -> frozenset[str]:
    """The classes with an ``organization_id``: what was read with its organization brings it along."""
    return frozenset(
        found.name
        for module in source()
        for found in module.classes()
        for field in found.body
        if isinstance(field, ast.AnnAssign) and ast.unparse(field.target) == "organization_id"
    )


def takes_organization(function: Function) -> bool:
    """By a parameter of that name, or by a caller or a record of one organization."""
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    for argument in arguments:
        annotation = "" if argument.annotation is None else ast.unparse(argument.annotation)
        if re.fullmatch(r"org|organization|organization_ids?|org_id|caller", argument.arg):
            # What may be left out is not taken.
            if not re.search(r"\bNone\b", annotation):
                return True
        elif organization_records() & set(re.findall(r"\w+", annotation)):
            return True
    return False


def test_every_repository_function_takes_the_organization() -> None:
    found = [
        f"{module.name}::{function.name}"
        for module in source()
        if (holds_sql(module) or makes_statements(module)) and module.domain not in {"kit", "jobs"}
        if module.name not in exceptions.STATEMENTS_ELSEWHERE
        # Superusers read the data of all organizations.
        if module.path.stem != "superuser_queries" and module.path.parent.name != "superuser"
        for function in module.functions()
        if isinstance(function, ast.AsyncFunctionDef) and is_public(function) and not takes_organization(function)
    ]
    none(unexpected(found, exceptions.WITHOUT_ORGANIZATION))


ROUTES = {"get", "post", "put", "patch", "delete"}


def routes(module: Module) -> list[tuple[Function, ast.Call]]:
    """Functions behind ``@router.get(…)`` and its like."""
    return [
        (function, decorator)
        for function in module.functions()
        for decorator in function.decorator_list
        if isinstance(decorator, ast.Call)
        and isinstance(decorator.func, ast.Attribute)
        and decorator.func.attr in ROUTES
        and isinstance(decorator.func.value, ast.Name)
        and "router" in decorator.func.value.id
    ]


def test_every_endpoint_says_what_it_answers() -> None:
    """A plain dict costs five times the CPU of a response model, and shows fields that nobody meant to show."""
    found = []
    for module in source():
        for function, decorator in routes(module):
            keywords = {keyword.arg for keyword in decorator.keywords}
            returned = ast.unparse(function.returns) if function.returns else ""
            answers_itself = bool(re.search(r"Response\b", returned)) or "response_class" in keywords
            if "response_model" not in keywords and not answers_itself:
                found.append(f"{module.name}::{function.name}")
            if "operation_id" not in keywords and "include_in_schema" not in keywords:
                found.append(f"{module.name}::{function.name} has no operation_id")
    none(found)


def test_modules_with_routes_do_not_speak_to_the_database() -> None:
    found = [
        module.name
        for module in source()
        if routes(module)
        for node in module.nodes
        if any(name.partition(".")[0] in {"sqlalchemy", "asyncpg"} for name in imported(node))
    ]
    none(found)


def test_modules_with_routes_open_no_transactions() -> None:
    """A session comes by dependency and is one transaction; work of several transactions belongs to a service."""
    found = [
        module.name
        for module in source()
        if routes(module) and (calls(module, "transaction") or "import Database" in module.text)
    ]
    none(unexpected(found, exceptions.TRANSACTIONS_IN_ENDPOINTS))


def is_broad(handler: ast.ExceptHandler) -> bool:
    return handler.type is None or ast.unparse(handler.type) in {"Exception", "BaseException"}


def raises_again(handler: ast.ExceptHandler) -> bool:
    """Its last statement is a bare ``raise``: it only cleans up."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def test_broad_excepts_clean_up_and_raise_again_or_say_why_on_their_line() -> None:
    """There are four places for them: the job loop, event dispatch, the media-socket edge, the vendor edge."""
    found = [
        f"{module.name}:{handler.lineno}"
        for module in source()
        for handler in module.nodes
        if isinstance(handler, ast.ExceptHandler) and is_broad(handler) and not raises_again(handler)
        if not re.search(r"# .{15,}", module.text.splitlines()[handler.lineno - 1])
    ]
    none(found)


@pytest.mark.parametrize("word", ["TODO", "FIXME", "XXX", "NotImplementedError"])
def test_nothing_is_left_for_later(word: str) -> None:
    found = [
        f"{module.name}:{number}"
        for module in modules(TOP / "src", TOP / "bench", TOP / "migrations")
        for number, line in enumerate(module.text.splitlines(), 1)
        if re.search(rf"\b{word}\b", line)
    ]
    none(found)


def test_modules_say_why_they_exist() -> None:
    found = [module.name for module in source() if module.text.strip() and not ast.get_docstring(module.tree)]
    none(found)


def test_tests_replace_ports_not_paths() -> None:
    found = [
        f"{module.name}:{number}"
        for module in modules(TOP / "tests")
        for number, line in enumerate(module.text.splitlines(), 1)
        if re.search(r"\b(mock\.)?patch\(\s*[\"']|monkeypatch\.setattr\(\s*[\"']", line)
        and module.path.parent.name != "architecture"
    ]
    none(found)


def test_no_eval_no_pickle() -> None:
    found = [
        f"{module.name}:{node.lineno}"
        for module in source()
        for node in module.nodes
        if (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"eval", "exec"})
        or (isinstance(node, ast.Import | ast.ImportFrom) and {"pickle", "marshal", "shelve"} & set(imported(node)))
    ]
    none(found)


def test_exceptions_have_a_date_and_a_reason() -> None:
    for name, value in vars(exceptions).items():
        if not name.isupper():
            continue
        for entry, (date, reason) in value.items():
            assert re.fullmatch(r"\d{4}-\d\d-\d\d", date), entry
            assert len(reason) > 10, entry


def test_migrations_follow_each_other_by_number() -> None:
    """Two branches that add a migration each are merged without a conflict; Alembic would then stop at the fork."""
    files = sorted((TOP / "migrations" / "versions").glob("*.py"))
    numbers = [path.name[:4] for path in files]
    assert numbers == [f"{int(numbers[0]) + place:04}" for place in range(len(files))]
    for before, path in zip([None, *numbers], files, strict=False):
        named = dict(re.findall(r'^(revision|down_revision)\b.*= "?(\w+)"?$', path.read_text(), re.MULTILINE))
        assert named == {"revision": path.name[:4], "down_revision": before or "None"}, path.name
