"""Which model embeds for an organization."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from offhook.kit.database.database import Database
from offhook.kit.egress import EgressClient
from offhook.knowledge.embedder import Embedder, EmbeddingModel, Vectors, normalised
from offhook.knowledge.errors import EmbeddingFailed
from offhook.knowledge.offline.model import MODEL, OfflineModel
from offhook.models import ModelConfigurations
from offhook.models.configuration.embeddings import EmbeddingChoice, chosen
from offhook.models.errors import KeyMissing, UnknownModel
from offhook.models.ports import ModelError
from offhook.models.providers.openai_compatible.embeddings import embed
from offhook.models.speech.network_route import Way

# A passage may wait in a vendor's queue, a caller's question may not.
PASSAGES_S: Final = 60.0
QUESTION_S: Final = 2.0


class VendorEmbedder:
    """Implements ``Embedder`` with a vendor's ``/embeddings``."""

    batch = 64

    def __init__(self, choice: EmbeddingChoice, egress: EgressClient) -> None:
        self.model = EmbeddingModel(choice.provider, choice.model, choice.base_url)
        self._choice = choice
        # an address that an organization typed in is reached through the guard
        self._way = Way(is_guarded=bool(choice.base_url), egress=egress)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return await self._embed(texts, PASSAGES_S)

    async def embed_query(self, text: str) -> Vectors:
        return await self._embed([text], QUESTION_S)

    async def _embed(self, texts: Sequence[str], within_s: float) -> Vectors:
        try:
            return normalised(await embed(self._choice, self._way, texts, within_s=within_s))
        except ModelError as error:
            message = f"The embedding model {self._choice.model} failed: {error}"
            raise EmbeddingFailed(message, retryable=error.retryable) from error


class Embedders:
    """One per process."""

    def __init__(
        self, db: Database, configurations: ModelConfigurations, egress: EgressClient, offline: OfflineModel
    ) -> None:
        self._db = db
        self._configurations = configurations
        self._egress = egress
        self._offline = offline

    async def warm(self) -> None:
        """Load the offline model. EmbeddingFailed where it is not installed."""
        await self._offline.load()

    def is_offline_installed(self) -> bool:
        return self._offline.is_installed()

    async def chosen(self, organization_id: int) -> Embedder:
        """What the organization has configured, or the offline model. EmbeddingFailed where that cannot be used."""
        return self._built(await self._choice(organization_id))

    async def of(self, organization_id: int, model: EmbeddingModel) -> Embedder | None:
        """The model that made vectors which are there already; None when the organization has no access to it any more."""
        if model == MODEL:
            return self._offline
        try:
            choice = await self._choice(organization_id)
        except EmbeddingFailed:
            return None
        if (choice.provider, choice.base_url) != (model.provider, model.base_url):
            return None
        return self._built(replace(choice, model=model.model))

    def _built(self, choice: EmbeddingChoice) -> Embedder:
        return self._offline if choice.provider == MODEL.provider else VendorEmbedder(choice, self._egress)

    async def _choice(self, organization_id: int) -> EmbeddingChoice:
        async with self._db.transaction() as session:
            stored = await self._configurations.stored(session, organization_id)
        try:
            return chosen(stored.services)
        except (UnknownModel, KeyMissing) as error:
            raise EmbeddingFailed(error.message, retryable=False) from error
