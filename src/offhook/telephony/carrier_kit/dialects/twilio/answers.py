"""Answers to calls of the dialect's carriers: documents only, no requests."""

from offhook.telephony.carrier_kit.dialects.twilio import documents
from offhook.telephony.carrier_kit.xml import build_document
from offhook.telephony.ports import CallAnswerer, CallLinks, CarrierAccount, CarrierDocument


class TwilioDialectAnswers(CallAnswerer):
    """Answers with documents. A blind transfer sends its document along with the request, and none is fetched.

    ``asks_again``: the carrier is told to ask what follows the stream, instead of hanging up."""

    def __init__(self, *, asks_again: bool = False) -> None:
        self._asks_again = asks_again

    async def answer_call(self, account: CarrierAccount, call_id: str, links: CallLinks) -> CarrierDocument:
        return documents.connect_stream(links.media_url, links.resume_url if self._asks_again else "")

    def hang_up_document(self) -> CarrierDocument | None:
        return documents.hang_up()

    async def refuse_call(self, account: CarrierAccount, call_id: str, message: str) -> CarrierDocument:
        return documents.say_message(message)

    async def reject_as_busy(self, account: CarrierAccount, call_id: str) -> CarrierDocument | None:
        return documents.reject_as_busy()

    def unavailable_document(self, message: str) -> CarrierDocument:
        return documents.say_message(message)

    def conference_document(self, transfer_id: str) -> CarrierDocument | None:
        return build_document(documents.conference_element(transfer_id))
