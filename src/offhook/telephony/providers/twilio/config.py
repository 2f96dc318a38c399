"""The fields of a Twilio account."""

from typing import Final

from offhook.telephony.ports import ConfigField, ConfigSpec

CONFIG: Final = ConfigSpec(
    display_name="Twilio",
    fields=(
        ConfigField("account_sid", "Account SID", help="Begins with AC; shown on the first page of the console."),
        ConfigField(
            "auth_token",
            "Auth token",
            kind="secret",
            help="Also proves that callbacks come from Twilio. While you rotate it, the primary token signs.",
        ),
        ConfigField("amd_enabled", "Detect answering machines", kind="boolean", is_required=False),
    ),
    account_field="account_sid",
    docs_url="https://www.twilio.com/docs/voice",
)
