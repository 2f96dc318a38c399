"""The embedding models of organizations."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from offhook.kit.database.database import Database
from offhook.kit.egress import EgressClient
from offhook.knowledge.embedder import EmbeddingModel, TextEmbedder, Vectors, normalize_vectors
from offhook.knowledge.errors import EmbeddingFailed
from offhook.knowledge.offline.model import MODEL, OfflineModel
from offhook.models import ModelConfigurationStore
from offhook.models.configuration.embeddings import EmbeddingChoice, resolve_embedding_choice
from offhook.models.errors import KeyMissing, UnknownModel
from offhook.models.ports import ModelError
from offhook.models.providers.openai_compatible.embeddings import embed_texts
from offhook.models.speech.network_route import NetworkRoute

# A passage can wait in a vendor's queue, a caller's question cannot.
PASSAGES_TIMEOUT_S: Final = 60.0
QUESTION_TIMEOUT_S: Final = 2.0


class VendorEmbedder:
    """Implements ``TextEmbedder`` with a vendor's ``/embeddings``."""

    batch_size = 64

    def __init__(self, choice: EmbeddingChoice, egress: EgressClient) -> None:
        self.model = EmbeddingModel(choice.provider, choice.model, choice.base_url)
        self._choice = choice
        # an address that an organization entered is reached through the guard
        self._route = NetworkRoute(is_guarded=bool(choice.base_url), egress=egress)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return await self._embed_within(texts, PASSAGES_TIMEOUT_S)

    async def embed_query(self, text: str) -> Vectors:
        return await self._embed_within([text], QUESTION_TIMEOUT_S)

    async def _embed_within(self, texts: Sequence[str], within_s: float) -> Vectors:
        try:
            return normalize_vectors(await embed_texts(self._choice, self._route, texts, within_s=within_s))
        except ModelError as error:
            message = f"The embedding model {self._choice.model} failed: {error}"
            raise EmbeddingFailed(message, retryable=error.retryable) from error


class EmbedderRegistry:
    """Finds the embedding model of an organization."""

    def __init__(
        self, db: Database, configurations: ModelConfigurationStore, egress: EgressClient, offline: OfflineModel
    ) -> None:
        self._db = db
        self._configurations = configurations
        self._egress = egress
        self.offline = offline

    async def current_embedder(self, organization_id: int) -> TextEmbedder:
        """Returns the configured model or the offline one; raises EmbeddingFailed when it cannot be used."""
        return self._build_embedder(await self._resolve_choice(organization_id))

    async def embedder_for(self, organization_id: int, model: EmbeddingModel) -> TextEmbedder | None:
        """Returns the model that made existing vectors; None when the organization no longer has access to it."""
        if model == MODEL:
            return self.offline
        try:
            choice = await self._resolve_choice(organization_id)
        except EmbeddingFailed:
            return None
        if (choice.provider, choice.base_url) != (model.provider, model.base_url):
            return None
        return self._build_embedder(replace(choice, model=model.model))

    def _build_embedder(self, choice: EmbeddingChoice) -> TextEmbedder:
        return self.offline if choice.provider == MODEL.provider else VendorEmbedder(choice, self._egress)

    async def _resolve_choice(self, organization_id: int) -> EmbeddingChoice:
        async with self._db.transaction() as session:
            stored = await self._configurations.load_configuration(session, organization_id)
        try:
            return resolve_embedding_choice(stored.services)
        except (UnknownModel, KeyMissing) as error:
            raise EmbeddingFailed(error.message, retryable=False) from error
