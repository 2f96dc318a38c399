"""The fields of a Vobiz account."""

from typing import Final

from offhook.telephony.ports import ConfigField, ConfigSpec

CONFIG: Final = ConfigSpec(
    display_name="Vobiz",
    fields=(
        ConfigField("auth_id", "Auth ID"),
        ConfigField("auth_token", "Auth token", kind="secret", help="Also proves that callbacks come from Vobiz."),
        ConfigField(
            "application_id",
            "Application",
            is_required=False,
            help="The XML application that your numbers belong to. If empty, one is created.",
        ),
        ConfigField("amd_enabled", "Detect answering machines", kind="boolean", is_required=False),
    ),
    account_field="auth_id",
    docs_url="https://docs.vobiz.ai/",
)
