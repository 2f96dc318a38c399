"""Answers to calls of the dialect's carriers: documents only, no requests."""

from offhook.telephony.carrier_kit.dialects.twilio import documents
from offhook.telephony.carrier_kit.xml import build_document
from offhook.telephony.ports import CallLinks, CarrierAccount, CarrierDocument


class TwilioDialectAnswers:
    """Implements ``CallAnswerer``."""

    async def answer_call(self, account: CarrierAccount, call_id: str, links: CallLinks) -> CarrierDocument:
        return documents.connect_stream(links.media_url)

    async def refuse_call(self, account: CarrierAccount, call_id: str, message: str) -> CarrierDocument:
        return documents.say_message(message)

    def unavailable_document(self, message: str) -> CarrierDocument:
        return documents.say_message(message)

    def conference_document(self, transfer_id: str) -> CarrierDocument | None:
        return build_document(documents.conference_element(transfer_id))

    def forward_document(self, to_number: str, from_number: str, timeout_s: float) -> CarrierDocument | None:
        """Returns None: a blind transfer sends its document along with the request."""
        return None
