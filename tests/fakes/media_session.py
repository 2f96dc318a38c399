"""A media session whose call is made by a function."""

from collections.abc import Awaitable, Callable

from offhook.telephony.media.leg import EventListener, MediaLeg
from offhook.telephony.media.session import LiveConversation, MediaSession
from offhook.telephony.ports import MediaWire


class ConnectedSession(MediaSession):
    def __init__(
        self,
        wire: MediaWire,
        connect: Callable[[MediaLeg], Awaitable[LiveConversation]],
        listener: EventListener | None = None,
    ) -> None:
        super().__init__(wire, listener=listener)
        self._connect = connect

    async def connect_call(self) -> LiveConversation:
        return await self._connect(self.leg)
