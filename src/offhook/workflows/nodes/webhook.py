"""Webhook: a user's address that receives a report of the finished call."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from offhook.workflows.nodes.common import UNCONNECTED, define_property, name_property, property_options
from offhook.workflows.nodes.spec import FieldProblem, NodeExample, NodeKind, NodeSpec

DEFAULT_PAYLOAD: Final = {
    "call_id": "{{workflow_run_id}}",
    "first_name": "{{initial_context.first_name}}",
    "rsvp": "{{gathered_context.rsvp}}",
    "duration": "{{cost_info.call_duration_seconds}}",
    "recording_url": "{{recording_url}}",
    "user_recording_url": "{{user_recording_url}}",
    "bot_recording_url": "{{bot_recording_url}}",
    "transcript_url": "{{transcript_url}}",
}


def _check_payload(data: Mapping[str, Any]) -> Iterator[FieldProblem]:
    if isinstance(data.get("payload_template"), list):
        yield FieldProblem("data.payload_template", "field_invalid", "Input should be a JSON object.")


KIND = NodeKind(
    spec=NodeSpec(
        name="webhook",
        display_name="Webhook",
        description="Sends the result of the call to your server after the call has ended.",
        llm_hint="Any number of them; none is connected to other nodes.",
        category="integration",
        icon="Link2",
        properties=[
            name_property("Webhook"),
            define_property("enabled", "boolean", "Enabled", "Whether this webhook is sent.", default=True),
            define_property(
                "http_method",
                "options",
                "Method",
                "HTTP method of the request.",
                default="POST",
                options=property_options(*((method, method) for method in ("GET", "POST", "PUT", "PATCH", "DELETE"))),
            ),
            define_property("endpoint_url", "url", "Address", "Where the request goes."),
            define_property(
                "credential_uuid", "credential_ref", "Credential", "Credential that is sent with the request."
            ),
            define_property(
                "custom_headers",
                "fixed_collection",
                "Headers",
                "Headers added to the request.",
                properties=[
                    define_property("key", "string", "Name", "Name of the header.", required=True),
                    define_property("value", "string", "Value", "Value of the header.", required=True),
                ],
            ),
            define_property(
                "payload_template",
                "json",
                "Body",
                "The JSON object to send. Values support {{variables}}.",
                default=DEFAULT_PAYLOAD,
            ),
        ],
        examples=[
            NodeExample(
                name="crm",
                data={
                    "name": "Tell the CRM",
                    "enabled": True,
                    "http_method": "POST",
                    "endpoint_url": "https://crm.example.com/calls",
                    "payload_template": {"call": "{{workflow_run_id}}"},
                },
            )
        ],
        graph_constraints=UNCONNECTED,
    ),
    check=_check_payload,
)
