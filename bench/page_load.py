"""Measures the first load of each page in a browser with an empty cache, from a real server.

    python -m bench.page_load [--runs 3] [--width 390]

Every load is in a fresh profile of the system's Chromium (nothing cached) with the CPU slowed four times and a line of
10 Mbit/s and 40 ms, by CDP. Script and style are the compressed bytes on the line. FCP, LCP, CLS and long tasks are the
browser's own (PerformanceObserver). TBT is the time of long tasks beyond 50 ms each, from the first paint until the
page has been quiet for a second. Prints the median of the runs.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, StorageState, sync_playwright
from tests.web.browser import chromium, running_server
from tests.web.looks import PAGES

SLOWER = 4
LINE = {"offline": False, "latency": 40, "downloadThroughput": 10e6 / 8, "uploadThroughput": 10e6 / 8}
QUIET_MS = 1_000
WATCH = """
window.vitals_ = {fcp: 0, lcp: 0, cls: 0, tasks: []};
const watch = (type, take) => new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({type, buffered: true});
watch('paint', (entry) => { if (entry.name === 'first-contentful-paint') vitals_.fcp = entry.startTime; });
watch('largest-contentful-paint', (entry) => { vitals_.lcp = entry.startTime; });
watch('layout-shift', (entry) => { if (!entry.hadRecentInput) vitals_.cls += entry.value; });
watch('longtask', (entry) => vitals_.tasks.push([entry.startTime, entry.duration]));
"""


def load(browser: Browser, address: str, width: int, state: StorageState | None) -> dict[str, float]:
    """Runs one cold load and returns bytes over the line and times in ms."""
    context = browser.new_context(viewport={"width": width, "height": 800}, storage_state=state)
    page = context.new_page()
    cdp = context.new_cdp_session(page)
    kinds: dict[str, str] = {}
    sizes: dict[str, float] = defaultdict(float)
    cdp.on("Network.responseReceived", lambda event: kinds.__setitem__(event["requestId"], event["type"]))
    cdp.on("Network.loadingFinished", lambda event: add(sizes, kinds, event))
    cdp.send("Network.enable")
    cdp.send("Network.emulateNetworkConditions", LINE)
    cdp.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    page.add_init_script(WATCH)
    page.goto(address)
    page.get_by_role("heading").first.wait_for(timeout=120_000)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(QUIET_MS)
    vitals = page.evaluate("vitals_")
    context.close()
    blocked = sum(max(0, duration - 50) for start, duration in vitals["tasks"] if start + duration > vitals["fcp"])
    return {
        "script kB": sizes["Script"] / 1000,
        "style kB": sizes["Stylesheet"] / 1000,
        "FCP ms": vitals["fcp"],
        "LCP ms": vitals["lcp"],
        "TBT ms": blocked,
        "CLS": vitals["cls"],
    }


def add(sizes: dict[str, float], kinds: dict[str, str], event: dict[str, Any]) -> None:
    sizes[kinds.get(event["requestId"], "")] += event["encodedDataLength"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--width", type=int, default=1280)
    arguments = parser.parse_args()
    runs, width = arguments.runs, arguments.width
    with (
        tempfile.TemporaryDirectory() as folder,
        running_server(Path(folder) / "data") as link,
        sync_playwright() as playwright,
        chromium(playwright) as browser,
    ):
        subprocess.run(
            [sys.executable, "-m", "offhook.cli", "superuser", "grant", "owner@localhost"],
            env={**os.environ, "OFFHOOK_DATA_DIR": str(Path(folder) / "data")}, check=True, capture_output=True,
        )  # fmt: skip
        page = browser.new_page()
        page.goto(link)
        page.get_by_role("heading", name="Agents").wait_for(timeout=30_000)
        state = page.context.storage_state()
        page.close()
        base = link.partition("/sign-in")[0]
        empty = {"/campaigns/1", "/nowhere"}
        paths = ["/sign-in", "/", "/agents/1", *(path for path in PAGES if path not in {"/", *empty})]
        for index, path in enumerate(paths):
            shown = None if path == "/sign-in" else state
            loads = [load(browser, base + path, width, shown) for _ in range(runs)]
            if index == 0:
                print(f"| page, {width} wide | {' | '.join(loads[0])} |")
            row = {name: statistics.median(one[name] for one in loads) for name in loads[0]}
            cells = [f"{value:.3f}" if name == "CLS" else f"{value:.0f}" for name, value in row.items()]
            print(f"| `{path}` | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
