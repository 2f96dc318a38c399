"""Agent Node: one step of the conversation, with its own task, tools and documents."""

from offhook.workflows.nodes.common import (
    check_phrases,
    name_property,
    speaking_properties,
    understanding_properties,
)
from offhook.workflows.nodes.spec import GraphConstraints, NodeExample, NodeKind, NodeSpec

KIND = NodeKind(
    spec=NodeSpec(
        name="agentNode",
        display_name="Agent Node",
        description="One step of the conversation, with its own task.",
        llm_hint="Give each step one task. The conditions of its edges say when the task is done.",
        category="call_node",
        icon="Headset",
        properties=[
            name_property("Agent Node"),
            *speaking_properties("The task of this step: what to find out or to explain, and how.", interruptible=True),
            *understanding_properties(),
        ],
        examples=[
            NodeExample(
                name="ask_for_a_day",
                data={
                    "name": "Which day",
                    "prompt": "Ask which day suits the caller. Offer Monday to Friday.",
                    "extraction_enabled": True,
                    "extraction_variables": [{"name": "day", "type": "string", "prompt": "The day that was chosen."}],
                },
            )
        ],
        graph_constraints=GraphConstraints(min_incoming=1),
    ),
    is_conversational=True,
    prompt_name="agent",
    check=check_phrases,
)
