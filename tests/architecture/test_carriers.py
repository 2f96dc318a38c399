"""Nothing outside of a carrier's folder knows which carrier it deals with: what differs is a fact of its specification."""

import ast

from tests.architecture import exceptions
from tests.architecture.source import SOURCE, Module, imported, none, source
from tests.architecture.test_rules import unexpected

PROVIDERS = SOURCE / "offhook" / "telephony" / "providers"
NAMES = frozenset(path.name for path in PROVIDERS.iterdir() if (path / "__init__.py").exists())


def outside() -> list[Module]:
    """Not the emulators: each is one carrier."""
    return [module for module in source() if SOURCE in module.path.parents and PROVIDERS not in module.path.parents]


def test_the_folders_are_the_carriers() -> None:
    assert len(NAMES) > 6
    for name in NAMES:
        spelled = [node.value for module in source() for node in literals(module) if module.path.parent.name == name]
        assert name in spelled, f"{name} does not say its own name"


def literals(module: Module) -> list[ast.Constant]:
    return [node for node in module.nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def test_carriers_are_named_in_their_folders_only() -> None:
    found = {module.name for module in outside() for node in literals(module) if node.value in NAMES}
    none(unexpected(sorted(found), exceptions.CARRIER_NAMES))


def test_carriers_are_imported_in_one_place() -> None:
    found = {
        module.name
        for module in outside()
        for node in module.nodes
        for name in imported(node)
        if name.startswith("offhook.telephony.providers")
    }
    none(unexpected(sorted(found), exceptions.CARRIER_IMPORTS))
