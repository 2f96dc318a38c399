"""Packages whose own code runs when the first of their names is asked for, for programs that need a few modules only."""

import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, Final

_OURS: Final = "offhook."


class _LateLoader(Loader):
    """Runs a package's ``__init__`` with the first name that is asked of it and that none of its modules has set."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        # files of the package are found by its own loader
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self._loader
        vars(module)["__getattr__"] = partial(self._run_package, module)

    def _run_package(self, module: ModuleType, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        # ``from package import module`` looks for a name first
        if (part := f"{module.__name__}.{name}") in sys.modules or PathFinder.find_spec(part, module.__path__):
            return import_module(part)
        # the package's own one, if it has one
        vars(module).pop("__getattr__", None)
        self._loader.exec_module(module)
        return getattr(module, name)


class _LatePackages(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(_OURS):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None or spec.submodule_search_locations is None:
            return spec
        spec.loader = _LateLoader(spec.loader)
        return spec


def delay_packages() -> None:
    """Lets our packages that are imported from now on run their ``__init__`` late: ``offhook.runs.strips.loudness`` then
    loads that module, and not all that the domain of runs consists of.
    """
    sys.meta_path.insert(0, _LatePackages())
