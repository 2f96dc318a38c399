"""Builds the page into every wheel, so that whoever installs one needs no Node."""

import os
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# For machines without Node: such a wheel serves the API, and says in the browser that it has no page.
WITHOUT_UI = "OFFHOOK_WHEEL_WITHOUT_UI"


class PageBuildHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """``editable`` wheels have none: they serve what ``make web`` puts into the checkout."""
        if version == "editable" or os.environ.get(WITHOUT_UI) == "1":
            return
        root = Path(self.root)
        script = root / "scripts" / "build_web.sh"
        if script.is_file() and (root / "web" / "package.json").is_file():
            subprocess.run(["bash", str(script)], check=True)
        if not (root / "src" / "offhook" / "_ui" / "index.html").is_file():
            raise RuntimeError(
                f"The page is not built: install Node.js 20 or newer with npm, or set {WITHOUT_UI}=1 for a wheel without it."
            )
