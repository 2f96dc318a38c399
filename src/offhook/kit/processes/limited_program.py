"""Runs one of our programs within limits, in this process: see ``limited_programs``.

    python -I limited_program.py CPU_SECONDS MEMORY_BYTES FILE_BYTES PROGRAM ARGUMENT...

PROGRAM is the path of a file or the name of a module. This module imports nothing of its package, so that a program
that needs two libraries has only two libraries in memory.
"""

import ctypes
import os
import resource
import runpy
import signal
import sys

_PR_SET_PDEATHSIG = 1
# Calls run on the same cores.
NICENESS = 10


def main() -> None:
    cpu_s, memory, written = (int(value) for value in sys.argv[1:4])
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (written, written))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.argv = sys.argv[4:]
    if sys.argv[0].endswith(".py"):
        runpy.run_path(sys.argv[0], run_name="__main__")
    else:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


main()
