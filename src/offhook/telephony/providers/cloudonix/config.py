"""The fields of a Cloudonix account."""

from typing import Final

from offhook.telephony.ports import ConfigField, ConfigSpec

_SUFFIX: Final = ".cloudonix.net"


def canonical_domain(text: str) -> str:
    """Returns the domain with the common suffix, which may be left out."""
    domain = text.strip().lower()
    return domain if "." in domain or not domain else f"{domain}{_SUFFIX}"


CONFIG: Final = ConfigSpec(
    display_name="Cloudonix",
    fields=(
        ConfigField(
            "bearer_token", "Domain API key", kind="secret", help="Starts with XI. Authenticates requests to Cloudonix."
        ),
        ConfigField("domain_id", "Domain", help="The domain name, such as example.cloudonix.net."),
        ConfigField(
            "webhook_api_key",
            "Webhook key",
            kind="secret",
            is_required=False,
            is_missed=True,
            help="The key that Cloudonix sends in X-CX-APIKey. Required for incoming calls, because Cloudonix does not sign webhooks.",
        ),
        ConfigField(
            "application_name",
            "Voice application",
            is_required=False,
            help="The application whose URL is set for incoming calls.",
        ),
        ConfigField(
            "trunk", "Outbound trunk", is_required=False, help="If empty, Cloudonix tries its trunks in order."
        ),
    ),
    account_field="domain_id",
    docs_url="https://developers.cloudonix.com/",
    canonical_account=canonical_domain,
)
