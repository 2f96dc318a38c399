"""Errors of customers' webhooks."""

from offhook.errors import Conflict, NotFound, UnprocessableRequest


class WebhookNotFound(NotFound):
    """Webhook not found."""

    code = "webhook_not_found"


class DeliveryNotFound(NotFound):
    """Delivery not found."""

    code = "webhook_delivery_not_found"


class TooManyWebhooks(Conflict):
    """Your organization has reached its limit of webhooks. Delete one to add another."""

    code = "too_many_webhooks"


class WebhookUrlRefused(UnprocessableRequest):
    """Webhooks cannot be sent to this address."""

    code = "webhook_url_refused"


class WebhookDisabled(Conflict):
    """This webhook is disabled. Enable it first."""

    code = "webhook_disabled"


class WebhookSecretUnreadable(Conflict):
    """The secret of this webhook cannot be decrypted. Rotate the secret, then send again."""

    code = "webhook_secret_unreadable"
