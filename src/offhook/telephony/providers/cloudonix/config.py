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
        ConfigField("bearer_token", "Domain API key", kind="secret", help="Begins with XI; for requests to Cloudonix."),
        ConfigField("domain_id", "Domain", help="Its name, such as example.cloudonix.net."),
        ConfigField(
            "webhook_api_key",
            "Key of webhooks",
            kind="secret",
            is_required=False,
            is_missed=True,
            help="What Cloudonix sends as X-CX-APIKey. Cloudonix signs nothing: without it no call can come in.",
        ),
        ConfigField(
            "application_name", "Voice application", is_required=False, help="Whose address is set for calls that come."
        ),
        ConfigField("trunk", "Outbound trunk", is_required=False, help="Left empty, Cloudonix tries them in order."),
    ),
    account_field="domain_id",
    docs_url="https://developers.cloudonix.com/",
    canonical_account=canonical_domain,
)
