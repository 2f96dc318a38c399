"""Third-party services to which other platforms report finished calls. Known, so that imported definitions are kept."""

from offhook.workflows.nodes.common import AT_MOST_ONE, UNCONNECTED, define_property, name_property
from offhook.workflows.nodes.spec import NodeKind, NodeSpec, PropertySpec


def _integration_kind(name: str, display_name: str, *properties: PropertySpec) -> NodeKind:
    return NodeKind(
        spec=NodeSpec(
            name=name,
            display_name=display_name,
            description=f"Reports calls to {display_name} on other platforms; has no effect here.",
            category="integration",
            icon="Unplug",
            properties=[
                name_property(display_name),
                define_property(f"{name}_enabled", "boolean", "Enabled", "Has no effect here.", default=True),
                define_property(f"{name}_api_key", "string", "API key", "Has no effect here."),
                *properties,
            ],
            graph_constraints=UNCONNECTED,
        ),
        secrets=(f"{name}_api_key",),
        is_offered=False,
        instances=AT_MOST_ONE,
    )


TUNER = _integration_kind(
    "tuner",
    "Tuner",
    define_property("tuner_agent_id", "string", "Agent", "The agent's id at Tuner."),
    define_property("tuner_workspace_id", "number", "Workspace", "The workspace's id at Tuner."),
)
NOVEUM = _integration_kind(
    "noveum",
    "Noveum",
    define_property("noveum_project", "string", "Project", "The project's name at Noveum."),
    define_property(
        "noveum_environment", "string", "Environment", "The environment's name at Noveum.", default="production"
    ),
    define_property("noveum_record_audio", "boolean", "Record audio", "Has no effect here.", default=True),
)
PAYGENT = _integration_kind(
    "paygent",
    "Paygent",
    define_property("paygent_agent_id", "string", "Agent", "The agent's id at Paygent."),
    define_property("paygent_customer_id", "string", "Customer", "The customer's id at Paygent."),
    define_property("paygent_indicator", "string", "Indicator", "What Paygent bills by.", default="per-minute-call"),
)
