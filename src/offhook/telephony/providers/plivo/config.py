"""The fields of a Plivo account."""

from typing import Final

from offhook.telephony.ports import ConfigField, ConfigSpec

CONFIG: Final = ConfigSpec(
    display_name="Plivo",
    fields=(
        ConfigField("auth_id", "Auth ID"),
        ConfigField("auth_token", "Auth token", kind="secret", help="Also proves that callbacks come from Plivo."),
        ConfigField(
            "application_id",
            "Application",
            is_required=False,
            help="The XML application that your numbers belong to. If empty, one is created.",
        ),
        ConfigField("amd_enabled", "Detect answering machines", kind="boolean", is_required=False),
    ),
    account_field="auth_id",
    docs_url="https://www.plivo.com/docs/voice/",
)
