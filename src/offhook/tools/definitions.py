"""The definition of each tool category, checked when a tool is saved."""

import json
import re
from typing import Annotated, Any, Final, Literal

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    field_validator,
    model_validator,
)

from offhook.kit.egress.errors import HeaderInvalid, UrlInvalid
from offhook.kit.egress.headers import check_header
from offhook.kit.json_numbers import WholeNumber, reject_boolean
from offhook.kit.phone_numbers import is_e164
from offhook.kit.schema import Schema
from offhook.kit.template import find_variables
from offhook.tools.hosts import host_of

Category = Literal["http_api", "end_call", "transfer_call", "calculator", "mcp", "recording"]
ParameterType = Literal["string", "number", "boolean", "object", "array"]
MessageType = Literal["none", "custom", "audio"]
RecordingAction = Literal["pause", "resume", "discard"]
ShortText = Annotated[str, StringConstraints(max_length=2000)]
# Argument names that every model vendor accepts.
ParameterName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")]
CredentialRef = Annotated[str, StringConstraints(max_length=64)]

MAX_BODY_TEMPLATE: Final = 65_536
MAX_PARAMETERS: Final = 40
# Beyond this, a caller has hung up.
MAX_HTTP_TIMEOUT_MS: Final = 30_000
DEFAULT_HTTP_TIMEOUT_MS: Final = 5_000


class _StrictConfig(Schema):
    # unknown keys are refused, so that a mistyped setting is noticed
    model_config = ConfigDict(extra="forbid")


class ToolParameter(_StrictConfig):
    """An argument that the model fills in."""

    name: ParameterName
    type: ParameterType = "string"
    description: ShortText = ""
    required: bool = True


class PresetParameter(_StrictConfig):
    """An argument that the platform fills in, from a fixed value or the call's variables; the model never sees it."""

    name: ParameterName
    type: ParameterType = "string"
    value_template: ShortText
    required: bool = True


def _check_names(parameters: list[ToolParameter], presets: list[PresetParameter]) -> None:
    names = [item.name for item in parameters] + [item.name for item in presets]
    if len(names) > MAX_PARAMETERS:
        raise ValueError(f"a tool is limited to {MAX_PARAMETERS} parameters")
    doubled = {name for name in names if names.count(name) > 1}
    if doubled:
        raise ValueError(f"parameter names must be unique: {', '.join(sorted(doubled))}")


def check_endpoint(url: str) -> str:
    """An http(s) address whose scheme, host and port have no variables: what a caller says must not choose a server."""
    origin = re.match(r"[a-z]+://[^/?#]*", url.strip(), re.IGNORECASE)
    if origin is None or "{{" in origin[0] or "}}" in origin[0]:
        raise ValueError("a URL must begin with http:// or https:// and a host without variables")
    try:
        host_of(url)
    except UrlInvalid as error:
        raise ValueError(error.message) from None
    return url.strip()


def check_headers(headers: dict[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        try:
            check_header(name, value)
        except HeaderInvalid as error:
            raise ValueError(error.message) from None
    return headers


Endpoint = Annotated[str, StringConstraints(min_length=1, max_length=2048)]


class HttpApiConfig(_StrictConfig):
    """``response_mapping``: names for parts of the answer by path (``{"status": "order.state"}``); empty: all of it."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "GET"
    url: Endpoint
    headers: Annotated[dict[str, str], Field(max_length=40)] = Field(default_factory=dict)
    credential_uuid: CredentialRef | None = None
    parameters: list[ToolParameter] = Field(default_factory=list)
    preset_parameters: list[PresetParameter] = Field(default_factory=list)
    timeout_ms: Annotated[WholeNumber, Field(ge=1, le=MAX_HTTP_TIMEOUT_MS)] = DEFAULT_HTTP_TIMEOUT_MS
    body_template: dict[str, Any] | None = None
    response_mapping: Annotated[dict[str, ShortText], Field(max_length=40)] = Field(default_factory=dict)
    # None: all methods but GET may change something at the other end
    has_side_effects: bool | None = None
    customMessage: ShortText | None = None  # noqa: N815 - Dograh's name
    customMessageType: Literal["text", "audio"] | None = None  # noqa: N815
    customMessageRecordingId: str | None = None  # noqa: N815

    @field_validator("method", mode="before")
    @classmethod
    def _upper_method(cls, value: Any) -> Any:
        return value.upper() if isinstance(value, str) else value

    @field_validator("headers", "parameters", "preset_parameters", "response_mapping", "timeout_ms", mode="before")
    @classmethod
    def _null_is_default(cls, value: Any, info: Any) -> Any:
        return cls.model_fields[info.field_name].get_default(call_default_factory=True) if value is None else value

    @field_validator("body_template", mode="before")
    @classmethod
    def _body_from_text(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            raise ValueError("body_template must be a JSON object") from None

    _endpoint = field_validator("url")(check_endpoint)
    _headers = field_validator("headers")(check_headers)

    @model_validator(mode="after")
    def _is_consistent(self) -> "HttpApiConfig":
        _check_names(self.parameters, self.preset_parameters)
        if self.body_template is not None:
            if self.method in {"GET", "DELETE"}:
                raise ValueError("a body_template requires the method POST, PUT or PATCH")
            if len(json.dumps(self.body_template)) > MAX_BODY_TEMPLATE:
                raise ValueError(f"a body_template is limited to {MAX_BODY_TEMPLATE} bytes")
        return self

    @property
    def may_change_something(self) -> bool:
        return self.method != "GET" if self.has_side_effects is None else self.has_side_effects


class EndCallConfig(_StrictConfig):
    messageType: MessageType = "none"  # noqa: N815
    customMessage: ShortText | None = None  # noqa: N815
    audioRecordingId: str | None = None  # noqa: N815
    endCallReason: bool = False  # noqa: N815
    endCallReasonDescription: ShortText | None = None  # noqa: N815


class Destination(_StrictConfig):
    """A destination for transfers; the model chooses by name and never sees or says the number."""

    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]
    phone_number: Annotated[str, StringConstraints(strip_whitespace=True, max_length=32)]
    description: ShortText = ""

    @field_validator("phone_number")
    @classmethod
    def _is_number(cls, value: str) -> str:
        if not is_e164(value):
            raise ValueError("a destination must be a phone number in E.164 format, such as +14155550100")
        return value


class TransferCallConfig(_StrictConfig):
    """``destinations`` by name, or one ``destination`` (Dograh's field). Both are fixed: nothing that a caller says
    and no variable can become a dialed number. ``mode``: warm (the agent stays until the destination answers) or
    blind."""

    mode: Literal["warm", "blind"] = "warm"
    destination_source: Literal["static"] = "static"
    destination: Annotated[str, StringConstraints(strip_whitespace=True, max_length=32)] = ""
    destinations: Annotated[list[Destination], Field(max_length=20)] = Field(default_factory=list)
    messageType: MessageType = "none"  # noqa: N815
    customMessage: ShortText | None = None  # noqa: N815
    audioRecordingId: str | None = None  # noqa: N815
    timeout: Annotated[WholeNumber, Field(ge=5, le=120)] = 30

    @model_validator(mode="after")
    def _has_destination(self) -> "TransferCallConfig":
        if any(find_variables(self.destination)) or (self.destination and not is_e164(self.destination)):
            raise ValueError("a destination must be a fixed phone number in E.164 format, without variables")
        names = [item.name.casefold() for item in self.all_destinations]
        if not names:
            raise ValueError("a transfer requires a destination or a list of destinations")
        if len(names) != len(set(names)):
            raise ValueError("the names of destinations must be unique")
        return self

    @property
    def all_destinations(self) -> list[Destination]:
        single = [Destination(name="default", phone_number=self.destination)] if self.destination else []
        return [*single, *self.destinations]


class McpConfig(_StrictConfig):
    """``discovered_tools`` is the server's catalog as it was last read; it is written by the platform alone:
    what a client sends in it is ignored."""

    transport: Literal["streamable_http"] = "streamable_http"
    url: Endpoint
    credential_uuid: CredentialRef | None = None
    tools_filter: Annotated[list[Annotated[str, StringConstraints(max_length=128)]], Field(max_length=200)] = Field(
        default_factory=list
    )
    timeout_secs: Annotated[WholeNumber, Field(ge=0, le=120)] = 30
    sse_read_timeout_secs: Annotated[WholeNumber, Field(ge=0, le=600)] = 300
    discovered_tools: list[dict[str, Any]] = Field(default_factory=list)

    _endpoint = field_validator("url")(check_endpoint)


class RecordingConfig(_StrictConfig):
    """What the tool does with the recording of the call; ``discard`` deletes it and stops recording this call."""

    action: RecordingAction
    messageType: MessageType = "none"  # noqa: N815 - the name that the other tools have
    customMessage: ShortText | None = None  # noqa: N815
    audioRecordingId: str | None = None  # noqa: N815


class _BaseDefinition(Schema):
    model_config = ConfigDict(extra="forbid")

    schema_version: Annotated[Literal[1], BeforeValidator(reject_boolean)] = 1


class HttpApiDefinition(_BaseDefinition):
    type: Literal["http_api"]
    config: HttpApiConfig


class EndCallDefinition(_BaseDefinition):
    type: Literal["end_call"]
    config: EndCallConfig = Field(default_factory=EndCallConfig)


class TransferCallDefinition(_BaseDefinition):
    type: Literal["transfer_call"]
    config: TransferCallConfig


class CalculatorDefinition(_BaseDefinition):
    type: Literal["calculator"]


class McpDefinition(_BaseDefinition):
    type: Literal["mcp"]
    config: McpConfig


class RecordingDefinition(_BaseDefinition):
    type: Literal["recording"]
    config: RecordingConfig


ToolDefinition = Annotated[
    HttpApiDefinition
    | EndCallDefinition
    | TransferCallDefinition
    | CalculatorDefinition
    | McpDefinition
    | RecordingDefinition,
    Field(discriminator="type"),
]
_ADAPTER: Final[TypeAdapter[ToolDefinition]] = TypeAdapter(ToolDefinition)


def read_definition(stored: dict[str, Any]) -> ToolDefinition:
    """A stored definition; it was checked when it was saved, so a pydantic error here is a fault of ours."""
    return _ADAPTER.validate_python(stored)


def credential_of(definition: ToolDefinition) -> str | None:
    """The uuid of the credential that this definition refers to."""
    config = getattr(definition, "config", None)
    return getattr(config, "credential_uuid", None) or None
