"""What hypothesis may throw at a definition."""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

# The machine that runs the tests may be busy: how long an example takes says nothing here.
patient = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
