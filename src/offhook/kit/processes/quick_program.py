"""Runs the ``main`` of one of our modules in a process that starts quickly: ``-m … MODULE ARGUMENT …``."""

import gc
import sys
from importlib import import_module

from offhook.kit.processes.late_packages import delay_packages


def main() -> int:
    """Returns the exit code of the module's ``main``, which finds its arguments in ``sys.argv``."""
    del sys.argv[0]
    delay_packages()
    # What is imported stays: looking through it for garbage again and again takes a third of the start.
    gc.disable()
    program = import_module(sys.argv[0])
    gc.freeze()
    gc.enable()
    code: int = program.main()
    return code


if __name__ == "__main__":
    sys.exit(main())
