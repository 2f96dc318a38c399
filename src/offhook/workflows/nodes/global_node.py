"""Global Node: the prompt that all steps share."""

from offhook.workflows.nodes.common import AT_MOST_ONE, UNCONNECTED, name_property, prompt_property
from offhook.workflows.nodes.spec import NodeExample, NodeKind, NodeSpec

KIND = NodeKind(
    spec=NodeSpec(
        name="globalNode",
        display_name="Global Node",
        description="The agent's persona and manner. Added before the prompt of each step that uses it.",
        llm_hint="At most one; it is not connected to other nodes.",
        category="global_node",
        icon="Globe",
        properties=[
            name_property("Global Node"),
            prompt_property("The agent's character, its manner, and what it must never do."),
        ],
        examples=[
            NodeExample(
                name="persona",
                data={"name": "Persona", "prompt": "You are Sarah, the friendly receptionist of a dental practice."},
            )
        ],
        graph_constraints=UNCONNECTED,
    ),
    instances=AT_MOST_ONE,
    prompt_name="global",
)
