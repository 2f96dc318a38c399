"""``python -m tests.campaigns.simulate --seeds N --from S --json``: the engine through N storms, each of its own seed."""

import argparse
import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import structlog

from tests.campaigns.sim.world import World


def run_seed(seed: int) -> tuple[int, list[str], int, int]:
    """``(seed, violations, steps, calls)``."""
    # A storm's warnings are expected.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    verdict = World(seed).run()
    return seed, verdict.violations, verdict.steps, verdict.calls


def main() -> int:
    """Exit code 1 when an invariant was violated."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2000)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    began, seeds = time.monotonic(), range(asked.first, asked.first + asked.seeds)
    failed: dict[int, list[str]] = {}
    steps = calls = 0
    with ProcessPoolExecutor(asked.processes) as pool:
        for seed, violations, its_steps, its_calls in pool.map(run_seed, seeds, chunksize=20):
            steps, calls = steps + its_steps, calls + its_calls
            if violations:
                failed[seed] = violations[:10]
    report = {
        "seeds": len(seeds),
        "violations": sum(len(found) for found in failed.values()),
        "failed": [{"seed": seed, "violations": found} for seed, found in failed.items()],
        "steps": steps,
        "calls": calls,
        "seconds": round(time.monotonic() - began, 1),
    }
    if asked.json:
        print(json.dumps(report))
    else:
        print(f"{report['seeds']} seeds, {report['violations']} violations, {calls} calls, {report['seconds']} s")
        for seed, found in failed.items():
            print(f"  seed {seed}: {'; '.join(found)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
