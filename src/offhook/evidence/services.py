"""The service of evidence, built once per process by ``register`` and passed to requests by one dependency."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from offhook.evidence.collector import EvidenceCollector
from offhook.root import use_service


@dataclass(frozen=True, slots=True)
class EvidenceServices:
    collector: EvidenceCollector


Services = Annotated[EvidenceServices, Depends(use_service(EvidenceServices))]
