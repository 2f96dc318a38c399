"""End Call: the goodbye, after which the agent hangs up."""

from offhook.workflows.nodes.common import (
    extraction_properties,
    global_prompt_property,
    name_property,
    prompt_property,
    say_properties,
)
from offhook.workflows.nodes.spec import GraphConstraints, NodeExample, NodeKind, NodeSpec

KIND = NodeKind(
    spec=NodeSpec(
        name="endCall",
        display_name="End Call",
        description="Says goodbye, waits until that has been heard, and hangs up.",
        llm_hint="Any number of them; no edges lead out of them.",
        category="call_node",
        icon="PhoneOff",
        properties=[
            name_property("End Call"),
            prompt_property("How to say goodbye."),
            *say_properties(),
            global_prompt_property(default=False),
            *extraction_properties(),
        ],
        examples=[
            NodeExample(
                name="thanks_and_goodbye",
                data={"name": "Goodbye", "prompt": "Thank the caller for their time and say goodbye."},
            )
        ],
        graph_constraints=GraphConstraints(min_incoming=1, min_outgoing=0, max_outgoing=0),
    ),
    is_conversational=True,
    prompt_name="end",
)
