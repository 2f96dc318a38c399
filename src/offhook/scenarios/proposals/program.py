"""The process that proposes scenarios: reads an order, and writes one line of JSON for each proposal, and an end.

It has no database and no network to use, and its processor time is limited: what it found until then is kept.
"""

import json
import logging
import math
import resource
import sys
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

import structlog

from offhook.kit.json_values import JsonObject
from offhook.kit.processes.priority import lower_priority
from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.scenarios.definition import MAX_SCENARIOS
from offhook.scenarios.engine.suite import MakeLlm
from offhook.scenarios.files import scenario_as_json
from offhook.scenarios.offline import build_offline_model
from offhook.scenarios.plays.orders import PlayOrder
from offhook.scenarios.proposals.proposer import ScenarioProposer

# Behind calls and other jobs, which wait for somebody.
NICENESS: Final = 10


def main() -> int:
    cpu_s, models_folder = sys.argv[1:]
    lower_priority(NICENESS)
    # the output is for proposals; a trace of what went wrong belongs to the server's own log
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    raw = json.load(sys.stdin)
    make_llm: MakeLlm = build_offline_model(Path(models_folder)) if models_folder else BuiltinLlm
    # what it took to start is not the agent's
    limit_s = math.ceil(time.process_time()) + int(cpu_s)
    resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s + 1))
    for line in propose_lines(PlayOrder.from_json(raw["order"]), raw["covered"], raw["pressed"], make_llm):
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()
    return 0


def propose_lines(
    order: PlayOrder, covered: Collection[str], pressed: Collection[str], make_llm: MakeLlm
) -> Iterator[JsonObject]:
    """Yields ``{scenario, covers, keys}`` for each proposal beside the scenarios of the order, and at the end ``{}``."""
    names = {scenario.name for scenario in order.scenarios}
    proposer = ScenarioProposer(order.agent, make_llm, names, set(covered), set(pressed))
    for proposal in proposer.propose(MAX_SCENARIOS - len(order.scenarios)):
        yield {
            "scenario": scenario_as_json(proposal.scenario),
            "covers": list(proposal.covers),
            "keys": list(proposal.keys),
        }
    yield {}
