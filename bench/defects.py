"""How many planted defects the publish gate stops.

    python -m bench.defects [--graphs 25] [--defects 520] [--seed S] [--models FOLDER] [--json]

The graphs are those of the catalog, three of which are the demo agents, and generated ones. Each is the published version, with the scenarios of the
catalog and those proposed from its graph. A draft with one defect must be stopped; one with a change that no caller notices must not.
The same seed gives the same figures; the exit code is 1 when a goal is missed.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from bench.defect_graphs import generate_graph, generate_large_graph
from bench.defect_planting import plant_defects, plant_harmless
from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.scenarios import Scenario, ScenarioAgent, build_scenario_agent
from offhook.scenarios.checks import check_agent
from offhook.scenarios.engine.suite import MakeLlm
from offhook.scenarios.gate.verdict import GatePolicy, GateSide, examine_version, judge_draft
from offhook.scenarios.offline import build_offline_model
from offhook.scenarios.proposals.proposer import propose_scenarios
from offhook.scenarios.templates import build_template_agent, template_scenarios
from offhook.workflows.catalog.templates import TEMPLATE_IDS, load_template

GOAL_SHARE: Final = 0.95
GOAL_CHECK_S: Final = 2.0


def published_versions(count: int, seed: int, make_llm: MakeLlm) -> Iterator[tuple[GateSide, list[Scenario]]]:
    """Yields published versions with what their scenarios show: first the catalog's, then generated ones."""
    for number in range(count):
        agent: ScenarioAgent
        scenarios: list[Scenario] = []
        if number < len(TEMPLATE_IDS):
            agent = build_template_agent(load_template(TEMPLATE_IDS[number]))
            scenarios = list(template_scenarios(TEMPLATE_IDS[number]))
        else:
            name, definition, tools = generate_graph(seed * 1000 + number)
            agent = build_scenario_agent(name, definition, tools=tools)
        scenarios += propose_scenarios(agent, make_llm, beside=scenarios)
        yield examine_version(agent, scenarios, make_llm), scenarios


def measure(graphs: int, defects: int, seed: int, make_llm: MakeLlm) -> dict[str, Any]:
    stopped: Counter[str] = Counter()
    planted: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    missed: list[str] = []
    alarms: list[str] = []
    clean = 0
    slowest = 0.0
    for number, (published, scenarios) in enumerate(published_versions(graphs, seed, make_llm)):
        chance = random.Random(f"{seed}/{number}")
        name = published.agent.name
        for harmless in plant_harmless(published.agent, chance):
            clean += 1
            draft = examine_version(harmless.agent, scenarios, make_llm)
            verdict = judge_draft(draft, published, GatePolicy(min_edge_coverage=90))
            alarms += [f"{name}: {harmless.kind}: {reason.message}" for reason in verdict.reasons]
        share = defects // graphs + (number < defects % graphs)
        for defect in plant_defects(published.agent, chance, share):
            began = time.process_time()
            draft = examine_version(defect.agent, scenarios, make_llm, stops_at_failure=True)
            verdict = judge_draft(draft, published, GatePolicy())
            slowest = max(slowest, time.process_time() - began)
            planted[defect.kind] += 1
            stopped[defect.kind] += not verdict.has_passed
            reasons.update({reason.code for reason in verdict.reasons})
            if verdict.has_passed:
                missed.append(f"{name}: {defect.what}")
    total = planted.total()
    check_s = time_large_check(seed)
    return {
        "graphs": graphs,
        "seed": seed,
        "defects": total,
        "stopped": stopped.total(),
        "stopped_share": round(stopped.total() / max(total, 1), 4),
        "clean": clean,
        "false_alarms": len(alarms),
        "alarms": alarms,
        "by_kind": {kind: f"{stopped[kind]}/{planted[kind]}" for kind in sorted(planted)},
        "by_reason": dict(reasons.most_common()),
        "missed": missed,
        "slowest_gate_cpu_s": round(slowest, 2),
        "check_of_100_nodes_cpu_s": check_s,
        "is_within_goal": stopped.total() >= GOAL_SHARE * total and not alarms and check_s <= GOAL_CHECK_S,
    }


def time_large_check(seed: int) -> float:
    """Returns the CPU seconds of validation and analysis for a graph of 100 nodes."""
    name, definition, tools = generate_large_graph(seed)
    agent = build_scenario_agent(name, definition, tools=tools)
    began = time.process_time()
    check_agent(agent)
    return round(time.process_time() - began, 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=25)
    parser.add_argument("--defects", type=int, default=520)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--models", help="the folder that keeps the prepared offline model; 'words': compare words")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        by_words = arguments.models == "words"
        make_llm = BuiltinLlm if by_words else build_offline_model(Path(arguments.models or folder))
        figures = measure(arguments.graphs, arguments.defects, arguments.seed, make_llm)
    if arguments.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:20} {value}")
    sys.exit(0 if figures["is_within_goal"] else 1)


if __name__ == "__main__":
    main()
