"""Read before the conftest of the tests, which imports the product."""

import gc

# Nothing that is imported or collected goes again. ``tests/conftest.py`` switches it on when the tests begin.
gc.disable()
