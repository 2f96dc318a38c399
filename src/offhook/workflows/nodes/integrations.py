"""Third-party services that are told about finished calls. Declared, so that definitions that use them are kept."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from offhook.workflows.nodes.common import UNCONNECTED_ONCE, name_property, prop
from offhook.workflows.nodes.spec import FieldProblem, NodeExample, NodeKind, NodeSpec, PropertySpec


def _needed_when_enabled(switch: str, *keys: str) -> Callable[[Mapping[str, Any]], Iterator[FieldProblem]]:
    def check(data: Mapping[str, Any]) -> Iterator[FieldProblem]:
        if data.get(switch) is False:
            return
        for key in keys:
            value = data.get(key)
            if value is None or (isinstance(value, str) and not value.strip()):
                yield FieldProblem(f"data.{key}", "field_required", "Field required")

    return check


def _service(
    name: str, display_name: str, description: str, *, icon: str, needed: Sequence[str], fields: list[PropertySpec]
) -> NodeKind:
    switch, key = f"{name}_enabled", f"{name}_api_key"
    ids = {field.name: 1 if field.type == "number" else "your-id" for field in fields if field.required}
    return NodeKind(
        spec=NodeSpec(
            name=name,
            display_name=display_name,
            description=description,
            llm_hint="Runs after the call; nothing is connected to it.",
            category="integration",
            icon=icon,
            properties=[
                name_property(display_name),
                prop(switch, "boolean", "Enabled", "Whether calls are exported.", default=True),
                prop(key, "string", "API key", "Key for the service.", required=True, editor="password"),
                *fields,
            ],
            examples=[NodeExample(name="default", data={"name": display_name, switch: True, key: "your-key", **ids})],
            graph_constraints=UNCONNECTED_ONCE,
        ),
        secrets=(key,),
        check=_needed_when_enabled(switch, key, *needed),
    )


TUNER = _service(
    "tuner",
    "Tuner",
    "Exports the finished call to Tuner for observation.",
    icon="Activity",
    needed=("tuner_agent_id", "tuner_workspace_id"),
    fields=[
        prop("tuner_agent_id", "string", "Agent id", "The agent's id in Tuner.", required=True),
        prop("tuner_workspace_id", "number", "Workspace id", "Number of the workspace in Tuner.", required=True),
    ],
)
NOVEUM = _service(
    "noveum",
    "Noveum",
    "Exports the finished call to Noveum for tracing.",
    icon="Waypoints",
    needed=("noveum_project",),
    fields=[
        prop("noveum_project", "string", "Project", "Project in Noveum.", required=True),
        prop(
            "noveum_environment",
            "string",
            "Environment",
            "Environment that calls are filed under.",
            default="production",
        ),
        prop("noveum_record_audio", "boolean", "Send audio", "Whether the recording is sent too.", default=True),
    ],
)
PAYGENT = _service(
    "paygent",
    "Paygent",
    "Reports the use of the finished call to Paygent for billing.",
    icon="Receipt",
    needed=("paygent_agent_id", "paygent_customer_id"),
    fields=[
        prop("paygent_agent_id", "string", "Agent id", "The agent's id in Paygent.", required=True),
        prop("paygent_customer_id", "string", "Customer id", "The customer's id in Paygent.", required=True),
        prop(
            "paygent_indicator", "string", "Indicator", "Name of the event that is reported.", default="per-minute-call"
        ),
    ],
)
