"""Start Call: where every conversation begins."""

from offhook.workflows.nodes.common import (
    check_phrases,
    define_property,
    name_property,
    property_options,
    shown_if,
    speaking_properties,
    understanding_properties,
)
from offhook.workflows.nodes.spec import (
    GraphConstraints,
    InstanceLimits,
    NodeExample,
    NodeKind,
    NodeSpec,
    PropertyExtra,
    PropertySpec,
)


def _greeting_properties() -> list[PropertySpec]:
    return [
        define_property(
            "greeting_type",
            "options",
            "Greeting type",
            "Whether the greeting is spoken from text or played from a recording.",
            default="text",
            options=property_options(("text", "Text"), ("audio", "Recording")),
        ),
        define_property(
            "greeting",
            "mention_textarea",
            "Greeting",
            "The agent's first words, spoken immediately, without a model. Supports {{variables}}.",
            display_options=shown_if("greeting_type", "text"),
        ),
        define_property(
            "greeting_recording_id",
            "recording_ref",
            "Greeting recording",
            "The recording to play as the greeting.",
            display_options=shown_if("greeting_type", "audio"),
        ),
    ]


def _delay_properties() -> list[PropertySpec]:
    return [
        define_property(
            "delayed_start",
            "boolean",
            "Wait before greeting",
            "Whether the agent listens first, so that the person who answers can say hello.",
            default=False,
        ),
        define_property(
            "delayed_start_duration",
            "number",
            "Seconds to wait",
            "How long it listens before the greeting, in seconds.",
            default=2.0,
            min_value=0.1,
            max_value=10,
            display_options=shown_if("delayed_start", True),
            extra=PropertyExtra(fractional=True),
        ),
    ]


def _pre_call_properties() -> list[PropertySpec]:
    when_on = shown_if("pre_call_fetch_mode", "always", "inbound", "outbound")
    return [
        define_property(
            "pre_call_fetch_mode",
            "options",
            "Ask before the call",
            "For which calls your server is asked for variables before the agent speaks.",
            default="disabled",
            options=property_options(
                ("disabled", "Never"), ("always", "Every call"), ("inbound", "Inbound"), ("outbound", "Outbound")
            ),
        ),
        define_property(
            "pre_call_fetch_url",
            "url",
            "Address to ask",
            "Receives a POST with the caller's and the called number, and returns variables.",
            display_options=when_on,
        ),
        define_property(
            "pre_call_fetch_credential_uuid",
            "credential_ref",
            "Credential",
            "Credential sent to that address.",
            display_options=when_on,
        ),
        define_property(
            "pre_call_fetch_enabled",
            "boolean",
            "Ask before every call (old form)",
            "Older form of pre_call_fetch_mode: true means always.",
            llm_hint="Do not set: use pre_call_fetch_mode.",
            display_options=shown_if("pre_call_fetch_enabled", True, False),
        ),
    ]


KIND = NodeKind(
    spec=NodeSpec(
        name="startCall",
        display_name="Start Call",
        description="Where every conversation begins: greets the caller and opens the conversation.",
        llm_hint="Exactly one in every workflow. Nothing leads into it.",
        category="call_node",
        icon="Play",
        properties=[
            name_property("Start Call"),
            *_greeting_properties(),
            *speaking_properties("What the agent does in the opening of the conversation.", interruptible=False),
            *_delay_properties(),
            *understanding_properties(),
            *_pre_call_properties(),
        ],
        examples=[
            NodeExample(
                name="warm_greeting",
                data={
                    "name": "Greeting",
                    "greeting": "Hi {{ first_name | there }}, this is Sarah from Acme. Do you have a minute?",
                    "prompt": "Find out whether the caller has time to talk.",
                    "allow_interrupt": False,
                },
            )
        ],
        graph_constraints=GraphConstraints(min_incoming=0, max_incoming=0),
    ),
    instances=InstanceLimits(min_instances=1, max_instances=1),
    is_conversational=True,
    prompt_name="start",
    check=check_phrases,
)
