"""The knowledge base: documents go in, agents find the passage that answers."""

from offhook.kit.files.objects import Objects
from offhook.kit.tasks import Tasks
from offhook.knowledge import endpoints, tasks
from offhook.knowledge.document_processing import Processing
from offhook.knowledge.document_reader import Reader
from offhook.knowledge.embedder_registry import Embedders
from offhook.knowledge.jobs import INDEX, PROCESS, REEMBED, SWEEP, SWEEP_FILES
from offhook.knowledge.offline.model import OfflineModel
from offhook.knowledge.passage_lookup import Consultant
from offhook.knowledge.reembedding import Moving, models_changed
from offhook.knowledge.search import Hit, Search
from offhook.knowledge.uploads import Intake
from offhook.models import ModelConfigurations
from offhook.root import Root

__all__ = ["Consultant", "Hit", "Search", "register"]


def register(root: Root) -> None:
    """Add the routes, the services and the jobs. The offline model is loaded by the first question or document."""
    data = root.settings.data_dir
    objects = Objects(root.settings.storage_url or root.storage.root)
    offline = OfflineModel(data / "models")
    root.on_stop.append(offline.aclose)
    configurations = root.get(ModelConfigurations)
    configurations.on_change(models_changed)
    embedders = Embedders(root.db, configurations, configurations.egress, offline)
    intake = Intake(objects, data / "drafts")
    root.provide(Intake, intake)
    search, warming = Search(root.db, embedders), Tasks()
    root.on_stop.append(warming.close)
    root.provide(Search, search)
    root.provide(Consultant, Consultant(root.db, search, embedders, warming))
    processing = Processing(db=root.db, reader=Reader(intake), embedders=embedders, clock=root.clock)
    root.jobs.add(PROCESS, processing.handle)
    root.jobs.add(REEMBED, Moving(root.db, embedders).handle)
    root.jobs.add(INDEX, tasks.index_handler(root))
    root.jobs.add(SWEEP, tasks.sweep_handler(root), every_s=tasks.SWEEP_EVERY_S)
    root.jobs.add(SWEEP_FILES, tasks.files_handler(root, intake), every_s=tasks.FILES_EVERY_S)
    root.on_work.append(tasks.vectors_hook(root, embedders))
    root.api.include_router(endpoints.router)
