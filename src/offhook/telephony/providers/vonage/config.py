"""The fields of a Vonage account."""

from typing import Final

from offhook.telephony.ports import ConfigField, ConfigSpec

CONFIG: Final = ConfigSpec(
    display_name="Vonage",
    fields=(
        ConfigField("api_key", "API key"),
        ConfigField("api_secret", "API secret", kind="secret"),
        ConfigField("application_id", "Application ID", help="An application with the Voice capability."),
        ConfigField(
            "private_key", "Private key", kind="multiline_secret", help="The application's private key, as PEM."
        ),
        ConfigField(
            "signature_secret",
            "Signature secret",
            kind="secret",
            is_required=False,
            is_missed=True,
            help="Under API settings. Proves that callbacks come from Vonage; without it, all are refused.",
        ),
        ConfigField("amd_enabled", "Detect answering machines", kind="boolean", is_required=False),
    ),
    account_field="api_key",
    docs_url="https://developer.vonage.com/en/voice/voice-api/overview",
)
