"""The services of the knowledge base, built once per process by ``register`` and passed to requests by one dependency."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from offhook.kit.egress import EgressClient
from offhook.knowledge.search import PassageSearch
from offhook.knowledge.uploads import DocumentIntake
from offhook.root import use_service


@dataclass(frozen=True, slots=True)
class KnowledgeServices:
    """The services that the endpoints of the knowledge base use."""

    intake: DocumentIntake
    search: PassageSearch
    egress: EgressClient


Services = Annotated[KnowledgeServices, Depends(use_service(KnowledgeServices))]
