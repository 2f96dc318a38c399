"""QA Analysis: a model reads the finished call and rates it."""

from offhook.workflows.nodes.common import UNCONNECTED, define_property, name_property, property_options, shown_if
from offhook.workflows.nodes.spec import NodeExample, NodeKind, NodeSpec, PropertySpec


def _model_properties() -> list[PropertySpec]:
    own = shown_if("qa_use_workflow_llm", False)
    return [
        define_property(
            "qa_use_workflow_llm",
            "boolean",
            "Use the workflow's model",
            "Whether the workflow's model rates the call, or a different one.",
            default=True,
        ),
        define_property(
            "qa_provider",
            "options",
            "Provider",
            "Vendor of the rating model. Uses the key from the organization's model configuration.",
            options=property_options(
                ("openai", "OpenAI"),
                ("anthropic", "Anthropic"),
                ("google", "Google"),
                ("groq", "Groq"),
            ),
            display_options=own,
        ),
        define_property(
            "qa_model", "string", "Model", "Name of the rating model.", default="default", display_options=own
        ),
    ]


KIND = NodeKind(
    spec=NodeSpec(
        name="qa",
        display_name="QA Analysis",
        description="A model reads the transcript of the finished call and rates it.",
        llm_hint="It is not connected to other nodes.",
        category="integration",
        icon="ClipboardCheck",
        properties=[
            name_property("QA Analysis"),
            define_property("qa_enabled", "boolean", "Enabled", "Whether calls are rated.", default=True),
            *_model_properties(),
            define_property(
                "qa_system_prompt",
                "string",
                "Instructions",
                "What the rating considers. If empty, general instructions.",
                editor="textarea",
            ),
            define_property(
                "qa_min_call_duration",
                "number",
                "Shortest call",
                "Calls shorter than this many seconds are not rated.",
                default=15,
                min_value=0,
            ),
            define_property(
                "qa_voicemail_calls", "boolean", "Rate voicemail", "Whether voicemail is rated too.", default=False
            ),
            define_property(
                "qa_sample_rate",
                "number",
                "Share of calls",
                "Percentage of calls that are rated.",
                default=100,
                min_value=1,
                max_value=100,
            ),
        ],
        examples=[NodeExample(name="every_call", data={"name": "QA Analysis", "qa_enabled": True})],
        graph_constraints=UNCONNECTED,
    ),
    secrets=("qa_api_key",),
)
