"""Credential data: its types, sealing, and the headers made from it."""

import base64
import json
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from offhook.errors import UnprocessableRequest
from offhook.kit.crypto import Keyring, SecretUnreadable
from offhook.kit.egress import HeaderInvalid, check_header
from offhook.kit.schema import Schema
from offhook.tools.errors import CredentialUnreadable

CredentialType = Literal["none", "api_key", "bearer_token", "basic_auth", "custom_header"]
Secret = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
HeaderName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=128)]


class _BaseData(Schema):
    model_config = ConfigDict(extra="forbid")


class NoData(_BaseData):
    type: Literal["none"] = "none"

    def to_headers(self) -> dict[str, str]:
        return {}


class ApiKeyData(_BaseData):
    type: Literal["api_key"] = "api_key"
    header_name: HeaderName
    api_key: Secret

    def to_headers(self) -> dict[str, str]:
        return {self.header_name: self.api_key}


class BearerData(_BaseData):
    type: Literal["bearer_token"] = "bearer_token"
    token: Secret

    def to_headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


class BasicData(_BaseData):
    type: Literal["basic_auth"] = "basic_auth"
    username: Annotated[str, StringConstraints(max_length=1024, pattern=r"^[^:\x00-\x1f\x7f]*$")]
    password: Annotated[str, StringConstraints(max_length=4096)]

    def to_headers(self) -> dict[str, str]:
        pair = base64.b64encode(f"{self.username}:{self.password}".encode()).decode()
        return {"Authorization": f"Basic {pair}"}


class CustomHeaderData(_BaseData):
    type: Literal["custom_header"] = "custom_header"
    header_name: HeaderName
    header_value: Secret

    def to_headers(self) -> dict[str, str]:
        return {self.header_name: self.header_value}


CredentialData = Annotated[NoData | ApiKeyData | BearerData | BasicData | CustomHeaderData, Field(discriminator="type")]
_ADAPTER: Final[TypeAdapter[CredentialData]] = TypeAdapter(CredentialData)


class CredentialDataInvalid(UnprocessableRequest):
    """The credential data does not match the credential type."""

    code = "credential_data_invalid"


def read_data(kind: str, data: Mapping[str, Any]) -> CredentialData:
    """Validates the data sent for a type; CredentialDataInvalid (422) never repeats a secret."""
    try:
        read = _ADAPTER.validate_python({**data, "type": kind})
        for name, value in read.to_headers().items():
            check_header(name, value)
    except ValidationError as error:
        problems = [
            {"loc": ["body", "credential_data", *problem["loc"][1:]], "msg": problem["msg"], "type": problem["type"]}
            for problem in error.errors(include_input=False, include_url=False)
        ]
        raise CredentialDataInvalid(detail=problems) from None
    except (HeaderInvalid, UnicodeError) as error:
        raise CredentialDataInvalid(f"This value is not allowed in a header: {error}") from None
    return read


def seal_data(keyring: Keyring, organization_id: int, data: CredentialData) -> bytes:
    return keyring.seal(data.model_dump_json().encode(), _seal_context(organization_id))


def open_headers(keyring: Keyring, organization_id: int, sealed: bytes) -> dict[str, str]:
    """Returns the headers of a stored credential; raises CredentialUnreadable when its key is gone."""
    try:
        return _ADAPTER.validate_python(json.loads(keyring.open(sealed, _seal_context(organization_id)))).to_headers()
    except SecretUnreadable as error:
        raise CredentialUnreadable from error


def _seal_context(organization_id: int) -> bytes:
    return f"credential:{organization_id}".encode()
