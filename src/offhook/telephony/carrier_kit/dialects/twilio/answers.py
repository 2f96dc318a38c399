"""What the dialect's carriers are answered: documents only, no request."""

from offhook.telephony.carrier_kit.dialects.twilio import documents
from offhook.telephony.carrier_kit.xml import document
from offhook.telephony.ports import CallLinks, CarrierAccount, Document


class DialectAnswers:
    """Implements ``Answerer``."""

    async def connect(self, account: CarrierAccount, call_id: str, links: CallLinks) -> Document:
        return documents.connect(links.media_url)

    async def refuse(self, account: CarrierAccount, call_id: str, message: str) -> Document:
        return documents.say(message)

    def unavailable(self, message: str) -> Document:
        return documents.say(message)

    def room(self, transfer_id: str) -> Document | None:
        return document(documents.conference(transfer_id))

    def forward(self, to_number: str, from_number: str, timeout_s: float) -> Document | None:
        """A blind transfer's document goes along with the request."""
        return None
