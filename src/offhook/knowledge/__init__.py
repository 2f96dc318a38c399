"""The knowledge base: agents answer with passages from uploaded documents."""

from offhook.jobs.shares import OrganizationShares
from offhook.kit.egress import EgressClient
from offhook.kit.tasks import TaskTracker
from offhook.knowledge import endpoints, tasks
from offhook.knowledge.document_processing import DocumentProcessor
from offhook.knowledge.document_reader import MAX_CONCURRENT, DocumentReader
from offhook.knowledge.embedder_registry import EmbedderRegistry
from offhook.knowledge.jobs import FETCH, FORGET, INDEX, PROCESS, REEMBED, SWEEP, SWEEP_FILES
from offhook.knowledge.offline.edge_reader import OfflineEdgeReader
from offhook.knowledge.offline.model import OfflineModel
from offhook.knowledge.passage_lookup import PassageLookup
from offhook.knowledge.passages import KnowledgePassage
from offhook.knowledge.search import PassageSearch
from offhook.knowledge.services import KnowledgeServices
from offhook.knowledge.uploads import STORAGE_FOLDER, DocumentIntake
from offhook.knowledge.vectors.reembedding import ReembeddingJob, enqueue_reembedding
from offhook.knowledge.web_pages.fetching import PageFetcher
from offhook.knowledge.web_pages.page_reading import PageReading
from offhook.models import EdgeReader, ModelConfigurationStore, SentenceEncoder
from offhook.orgs import StorageQuota
from offhook.root import Root

__all__ = ["KnowledgePassage", "PassageLookup", "PassageSearch", "register"]


def register(root: Root) -> None:
    """Adds the routes, services and jobs. The first question or document loads the offline model."""
    data = root.settings.data_dir
    offline = OfflineModel(data / "models")
    root.on_stop.append(offline.aclose)
    root.get(SentenceEncoder).connect(offline.embed_sentences)
    reader = OfflineEdgeReader(data / "models")
    root.on_stop.append(reader.aclose)
    root.get(EdgeReader).connect(reader.read)
    configurations = root.get(ModelConfigurationStore)
    configurations.on_change.append(enqueue_reembedding)
    embedders = EmbedderRegistry(root.db, configurations, configurations.egress, offline)
    quota = root.get(StorageQuota)
    quota.folders["documents"] = STORAGE_FOLDER
    intake = DocumentIntake(root.storage, data / "drafts", quota.hold_room)
    search, warming = PassageSearch(root.db, embedders), TaskTracker()
    root.on_stop.append(warming.close)
    root.provide(KnowledgeServices, KnowledgeServices(intake, search, root.get(EgressClient)))
    root.provide(PassageLookup, PassageLookup(root.db, search, embedders, warming))
    processing = DocumentProcessor(db=root.db, reader=DocumentReader(intake), embedders=embedders, clock=root.clock)
    root.jobs.add(PROCESS, processing.process_document, shares=OrganizationShares(MAX_CONCURRENT, MAX_CONCURRENT - 1))
    pages = PageReading(db=root.db, fetcher=PageFetcher(root.get(EgressClient)), intake=intake, clock=root.clock)
    root.jobs.add(FETCH, pages.read_page, lane="requests", shares=OrganizationShares(4, 2))
    root.jobs.add(FORGET, pages.forget_content)
    reembedding = ReembeddingJob(root.db, embedders)
    root.jobs.add(REEMBED, reembedding.run_job, shares=OrganizationShares(4, 2))
    maintenance = tasks.KnowledgeMaintenance(root.db, root.clock, intake, embedders)
    root.jobs.add(INDEX, maintenance.build_space_index)
    root.jobs.add(SWEEP, maintenance.requeue_stale, every_s=tasks.SWEEP_INTERVAL_S)
    root.jobs.add(SWEEP_FILES, maintenance.delete_orphaned_files, every_s=tasks.FILES_INTERVAL_S)
    root.on_work.append(maintenance.make_missing_vectors)
    root.api.include_router(endpoints.router)
