"""Names: a class is a noun with its role, a function a verb with its object, and a public class name stands for one thing."""

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import pytest

from tests.architecture.source import Function, none, source

# In percent of all names of a sort. The best-named code bases of this size have 13, 5 and 1 (Dograh's API).
MAX_ONE_WORD_FUNCTIONS = 15.0
MAX_ONE_WORD_MODULE_FUNCTIONS = 8.0
MAX_ONE_WORD_CLASSES = 5.0
# Past participles that have no ending to tell them by.
IRREGULAR = {"Found", "Told", "Taken", "Chosen", "Sent", "Known", "Said", "Heard", "Spoken"}
# They end like one and are none.
NOUNS = {"Forbidden", "Keyring", "Unauthorized"}
# Names that say where something is in a sentence, and not what it is.
VAGUE = re.compile(r"^(found|told|said|wanted|news|mine|theirs)(_|$)|_(told|mine|theirs)$")
LIMITS = re.compile(r"^_?(MOST|LONGEST|LEAST|FEWEST|SHORTEST|AT_ONCE)(_|$)|_(WITHIN_S|AT_ONCE)$")


def words_of(name: str) -> list[str]:
    """The words of a class's name in CamelCase or of a function's in snake_case."""
    bare = name.strip("_")
    return re.findall(r"[A-Z][a-z0-9]*|[A-Z]+(?![a-z])", bare) if bare[:1].isupper() else bare.split("_")


def one_word_share(names: Sequence[str]) -> float:
    return 100 * sum(len(words_of(name)) == 1 for name in names) / len(names)


def functions() -> Iterable[tuple[str, Function]]:
    for module in source():
        for function in module.functions():
            if not function.name.startswith("__"):
                yield module.name, function


def function_names() -> list[str]:
    return [function.name for _, function in functions()]


def module_functions() -> list[str]:
    return [node.name for module in source() for node in module.tree.body if isinstance(node, Function)]


def class_names() -> list[str]:
    return [found.name for module in source() for found in module.classes()]


@pytest.mark.parametrize(
    ("read_names", "limit"),
    [
        (function_names, MAX_ONE_WORD_FUNCTIONS),
        (module_functions, MAX_ONE_WORD_MODULE_FUNCTIONS),
        (class_names, MAX_ONE_WORD_CLASSES),
    ],
    ids=["functions", "functions of modules", "classes"],
)
def test_names_say_a_role_or_an_object(read_names: Callable[[], list[str]], limit: float) -> None:
    names = read_names()
    share = one_word_share(names)
    assert share <= limit, f"{share:.1f} % of {len(names)} names have one word, {limit} are allowed"


def test_a_class_is_no_participle() -> None:
    odd = [
        f"{module.name}: {found.name}"
        for module in source()
        for found in module.classes()
        if len(words_of(found.name)) == 1
        and (re.search(r"(ed|ing)$", found.name) or found.name.strip("_") in IRREGULAR)
        and found.name.strip("_") not in NOUNS
    ]
    none(odd)


def test_a_public_class_name_stands_for_one_thing() -> None:
    places: dict[str, set[str]] = defaultdict(set)
    for module in source():
        for found in module.classes():
            if not found.name.startswith("_"):
                places[found.name].add(module.name)
    none([f"{name}: {', '.join(sorted(where))}" for name, where in places.items() if len(where) > 1])


def test_functions_are_not_named_by_a_bare_participle() -> None:
    none([f"{where}: {function.name}" for where, function in functions() if VAGUE.search(function.name)])


def test_limits_have_the_usual_names() -> None:
    wrong = [
        f"{module.name}: {target.id}"
        for module in source()
        for node in module.tree.body
        for target in (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if isinstance(target, ast.Name) and LIMITS.search(target.id)
    ]
    none(wrong)
