"""The process that plays calls again: reads an order a line, and writes one line of JSON for each.

It has no database and no network to use, and its processor time is limited for each call: one that takes more ends it.
"""

import gc
import json
import logging
import math
import resource
import sys
import time
from typing import Final

import structlog

from offhook.kit.json_values import JsonObject
from offhook.kit.processes.priority import lower_priority
from offhook.scenarios.replays.orders import ReplayableRun
from offhook.scenarios.replays.player import play_run
from offhook.voice.journal.tape import JournalUnreadable

# Behind calls and other jobs, which wait for somebody.
NICENESS: Final = 10


def main() -> int:
    cpu_s = int(sys.argv[1])
    lower_priority(NICENESS)
    # the output is for results; a trace of what went wrong belongs to the log of who started us
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    # what is loaded stays: it need not be looked through for garbage with each call
    gc.freeze()
    for line in sys.stdin.buffer:
        # what the calls before it took is not this one's
        limit_s = math.ceil(time.process_time()) + cpu_s
        resource.setrlimit(resource.RLIMIT_CPU, (limit_s, resource.RLIM_INFINITY))
        sys.stdout.write(json.dumps(answer_order(line)) + "\n")
        sys.stdout.flush()
    return 0


def answer_order(line: bytes) -> JsonObject:
    """Returns ``{replay}``, or ``{damage}`` with a sentence for a journal that cannot be read."""
    try:
        return {"replay": play_run(ReplayableRun.from_json(json.loads(line))).as_json()}
    except JournalUnreadable as error:
        return {"damage": str(error)}
