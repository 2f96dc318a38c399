"""The fields of a Telnyx account."""

from typing import Final

from offhook.telephony.ports import ConfigField, ConfigSpec

CONFIG: Final = ConfigSpec(
    display_name="Telnyx",
    fields=(
        ConfigField("api_key", "API key (v2)", kind="secret"),
        ConfigField(
            "connection_id",
            "Voice API application",
            is_required=False,
            help="The application's ID. If empty, one is created; give it an outbound voice profile to place calls.",
        ),
        ConfigField(
            "webhook_public_key",
            "Public key",
            help="Under Account settings, Keys & credentials. Proves that callbacks come from Telnyx; without it, all are refused.",
        ),
        ConfigField("amd_enabled", "Detect answering machines", kind="boolean", is_required=False),
    ),
    account_field="connection_id",
    docs_url="https://developers.telnyx.com/docs/voice/programmable-voice",
)
