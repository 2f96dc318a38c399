"""The services of this domain, built once per process by ``register``."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from offhook.kit.files.file_store import FileStore
from offhook.privacy.service import PersonData
from offhook.root import use_service


@dataclass(frozen=True, slots=True)
class PrivacyServices:
    person_data: PersonData
    storage: FileStore


Services = Annotated[PrivacyServices, Depends(use_service(PrivacyServices))]
