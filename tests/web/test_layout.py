"""What holds for the source of the web UI as a whole."""

import json
import re
from pathlib import Path

import pytest

from offhook.voice.dialog.phrases import PHRASE_NAMES, phrases_for

WEB = Path(__file__).parents[2] / "web"
SOURCE = WEB / "src"
FILES = sorted(path for path in SOURCE.rglob("*") if path.suffix in {".ts", ".tsx"} and path.name != "api.d.ts")
_IMPORT = re.compile(r"""(?:from|import)\s+["'](\.[^"']+)["']""")


def layer_of(path: Path) -> tuple[str, ...]:
    """``("features", "talk")``, ``("app",)``, ``("components",)``, ``("graph",)`` or ``("lib",)``."""
    parts = path.relative_to(SOURCE).parts
    return parts[:2] if parts[0] == "features" else parts[:1]


def imported(path: Path) -> set[tuple[str, ...]]:
    targets = (path.parent / name.partition("?")[0] for name in _IMPORT.findall(path.read_text()))
    return {layer_of(target.resolve()) for target in targets}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_parts_import_only_what_stands_below_them(path: Path) -> None:
    layer = layer_of(path)
    below = {
        "app": {"app", "features", "components", "graph", "lib"},
        "features": {"components", "graph", "lib"},
        "components": {"components", "lib"},
        "graph": {"graph", "lib"},
        "lib": {"lib"},
        "testing": {"testing", "lib"},
    }[layer[0]]
    if ".test." in path.name:
        below = below | {"testing"}
    assert {other for other in imported(path) if other != layer and other[0] not in below} == set()


def test_every_asset_is_our_own() -> None:
    named = {
        match
        for path in [WEB / "index.html", *FILES, *SOURCE.rglob("*.css")]
        if ".test." not in path.name
        for match in re.findall(r"https?://[\w.-]+", path.read_text())
    }
    # The microphone's help names this machine; examples of addresses in forms are example.com; voices come from that project.
    assert named <= {"http://127.0.0.1", "https://example.com", "https://k2-fsa.github.io"}


def test_sizes_and_weights_of_words_are_those_of_the_theme() -> None:
    """Also where the sweep over all pages does not look: in dialogs and in states that it does not reach."""
    own = re.compile(r"font-size: *[\d.]|font-weight: *\d|\bfz=\{?[\"']?\d|\bfontSize: *[\"']?\d")
    styled = [path for path in [*FILES, *SOURCE.rglob("*.css")] if ".test." not in path.name]
    assert len(styled) > 100
    assert [
        f"{path.name}: {line.strip()}" for path in styled for line in path.read_text().splitlines() if own.search(line)
    ] == []


def test_the_lock_names_no_place_to_download_from() -> None:
    packages = json.loads((WEB / "package-lock.json").read_text())["packages"]
    assert len(packages) > 50
    assert [name for name, package in packages.items() if "resolved" in package] == []
    assert [name for name, package in packages.items() if name and "integrity" not in package] == []


def test_the_settings_show_what_is_said_without_them() -> None:
    shown = (SOURCE / "features" / "builder" / "settings" / "phrase-spec.ts").read_text()
    assert [name for name in PHRASE_NAMES if f'"{getattr(phrases_for("en"), name)}"' not in shown] == []
