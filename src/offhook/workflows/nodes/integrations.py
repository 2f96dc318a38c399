"""Third-party services that other platforms tell of finished calls. Known, so that imported definitions are kept."""

from offhook.workflows.nodes.common import UNCONNECTED_ONCE, name_property
from offhook.workflows.nodes.spec import NodeKind, NodeSpec


def _integration_kind(name: str, display_name: str) -> NodeKind:
    return NodeKind(
        spec=NodeSpec(
            name=name,
            display_name=display_name,
            description=f"{display_name} is not told of calls here.",
            category="integration",
            icon="Unplug",
            properties=[name_property(display_name)],
            graph_constraints=UNCONNECTED_ONCE,
        ),
        secrets=(f"{name}_api_key",),
        is_offered=False,
    )


TUNER = _integration_kind("tuner", "Tuner")
NOVEUM = _integration_kind("noveum", "Noveum")
PAYGENT = _integration_kind("paygent", "Paygent")
