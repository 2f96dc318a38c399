"""Fields that several kinds of nodes share."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from offhook.workflows.nodes.spec import (
    DisplayOptions,
    FieldProblem,
    GraphConstraints,
    InstanceLimits,
    PropertyOption,
    PropertySpec,
    PropertyType,
)

# A post-call export is not part of the conversation.
UNCONNECTED: Final = GraphConstraints(min_incoming=0, max_incoming=0, min_outgoing=0, max_outgoing=0)
AT_MOST_ONE: Final = InstanceLimits(max_instances=1)


def define_property(name: str, kind: PropertyType, display_name: str, description: str, **more: Any) -> PropertySpec:
    return PropertySpec(name=name, type=kind, display_name=display_name, description=description, **more)


def property_options(*pairs: tuple[str, str]) -> list[PropertyOption]:
    return [PropertyOption(value=value, label=label) for value, label in pairs]


def shown_if(field: str, *values: Any) -> DisplayOptions:
    return DisplayOptions(show={field: list(values)})


def name_property(default: str) -> PropertySpec:
    return define_property(
        "name",
        "string",
        "Name",
        "Short name, shown in the editor and in call logs. The model sees it too.",
        default=default,
        required=True,
        min_length=1,
    )


def prompt_property(description: str) -> PropertySpec:
    return define_property(
        "prompt",
        "mention_textarea",
        "Prompt",
        description,
        required=True,
        min_length=1,
        placeholder="Ask for the caller's name, then …",
        llm_hint="Supports {{variables}}; {{name | default}} gives a default.",
    )


def interrupt_property(default: bool) -> PropertySpec:
    return define_property(
        "allow_interrupt",
        "boolean",
        "Allow interruption",
        "Whether the caller can interrupt the agent during this step.",
        default=default,
    )


def global_prompt_property(default: bool) -> PropertySpec:
    return define_property(
        "add_global_prompt",
        "boolean",
        "Add global prompt",
        "Whether the global prompt is added before this step's prompt.",
        default=default,
    )


def say_properties() -> list[PropertySpec]:
    """The fixed sentences: instead of a model turn always, or only where no language model is configured."""
    return [
        define_property(
            "say",
            "mention_textarea",
            "Fixed sentence",
            "Spoken word for word on entering the node instead of a model turn. Supports {{variables}}.",
        ),
        define_property(
            "say_type",
            "options",
            "Fixed sentence type",
            "Whether the fixed sentence is spoken from text or played from a recording.",
            default="text",
            options=property_options(("text", "Text"), ("audio", "Recording")),
        ),
        define_property(
            "say_recording_id",
            "recording_ref",
            "Fixed recording",
            "The recording to play on entering the node. If it is missing, the fixed sentence is spoken.",
            display_options=shown_if("say_type", "audio"),
        ),
        define_property(
            "offline_say",
            "mention_textarea",
            "Offline sentence",
            "Spoken on entering the node by the built-in offline model, which cannot write its own sentences.",
            llm_hint="Enter what a model would say first after reading the prompt.",
        ),
    ]


def listening_properties() -> list[PropertySpec]:
    return [
        define_property(
            "examples",
            "json",
            "Example phrases",
            "Phrases that a caller might say at this node. Helps speech recognition and the offline model.",
            llm_hint='An array of strings, e.g. ["on monday", "next week"].',
        ),
        define_property(
            "expects",
            "multi_options",
            "Expected words",
            "Ready-made vocabularies for this node. If empty, derived from the node's texts.",
            options=property_options(
                ("yes_no", "Yes or no"),
                ("digits", "Digits"),
                ("days", "Days"),
                ("times", "Times"),
                ("numbers", "Numbers"),
            ),
        ),
    ]


def extraction_properties() -> list[PropertySpec]:
    when_on = shown_if("extraction_enabled", True)
    return [
        define_property(
            "extraction_enabled",
            "boolean",
            "Extract variables",
            "Whether variables are read from the conversation when it leaves this node.",
            default=False,
        ),
        define_property(
            "extraction_prompt",
            "string",
            "Extraction instructions",
            "General instructions for reading the variables.",
            editor="textarea",
            display_options=when_on,
        ),
        define_property(
            "extraction_variables",
            "fixed_collection",
            "Variables",
            "The variables to read, each with a name, a type and a hint.",
            display_options=when_on,
            properties=[
                define_property(
                    "name", "string", "Name", "Name under which the value is kept, e.g. first_name.", required=True
                ),
                define_property(
                    "type",
                    "options",
                    "Type",
                    "Type of the value.",
                    default="string",
                    required=True,
                    options=property_options(("string", "Text"), ("number", "Number"), ("boolean", "Yes or no")),
                ),
                define_property("prompt", "string", "Hint", "What to look for in the conversation."),
            ],
        ),
    ]


def reference_properties() -> list[PropertySpec]:
    return [
        define_property(
            "tool_uuids",
            "tool_refs",
            "Tools",
            "Tools that the agent can use at this node.",
            llm_hint="Ids from list_tools.",
        ),
        define_property(
            "document_refs",
            "document_refs",
            "Documents",
            "Knowledge-base documents that the agent can search at this node.",
            llm_hint="Ids from list_documents.",
        ),
        define_property(
            "document_uuids",
            "document_refs",
            "Documents (other name)",
            "Another name for document_refs; both are read.",
            llm_hint="Prefer document_refs.",
        ),
        define_property(
            "mcp_tool_filters",
            "json",
            "MCP functions",
            "For each tool of kind mcp, by id, the functions offered at this node; all if there is no list.",
            llm_hint='For example {"<tool id>": ["find_order"]}.',
            # declared for clients that refuse what is not; no form shows it
            display_options=shown_if("mcp_tool_filters"),
        ),
    ]


def speaking_properties(prompt: str, *, interruptible: bool) -> list[PropertySpec]:
    """Returns the properties for what a node says to callers, and whether they can interrupt it; ``prompt`` describes
    its prompt."""
    return [
        prompt_property(prompt),
        *say_properties(),
        interrupt_property(default=interruptible),
        global_prompt_property(default=True),
    ]


def understanding_properties() -> list[PropertySpec]:
    """Returns the properties for what such a node listens for, extracts, and can use to answer."""
    return [*listening_properties(), *extraction_properties(), *reference_properties()]


def check_phrases(data: Mapping[str, Any]) -> Iterator[FieldProblem]:
    """``data.examples`` is a list of strings; that it is a list or an object was seen by its type."""
    phrases = data.get("examples")
    if isinstance(phrases, Mapping) or (
        isinstance(phrases, list) and not all(isinstance(phrase, str) for phrase in phrases)
    ):
        yield FieldProblem("data.examples", "field_invalid", "Example phrases are a list of strings.")
