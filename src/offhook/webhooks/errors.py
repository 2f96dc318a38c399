"""Errors of customers' webhooks."""

from offhook.errors import Conflict, NotFound, UnprocessableRequest


class WebhookNotFound(NotFound):
    """Webhook not found."""

    code = "webhook_not_found"


class DeliveryNotFound(NotFound):
    """Delivery not found."""

    code = "webhook_delivery_not_found"


class TooManyWebhooks(Conflict):
    """Your organization has as many webhooks as it may have."""

    code = "too_many_webhooks"


class WebhookUrlRefused(UnprocessableRequest):
    """This address cannot be called."""

    code = "webhook_url_refused"


class WebhookDisabled(Conflict):
    """This webhook is switched off: enable it first."""

    code = "webhook_disabled"


class WebhookSecretUnreadable(Conflict):
    """The secret of this webhook was sealed with a key that is gone: rotate the secret, then send again."""

    code = "webhook_secret_unreadable"
