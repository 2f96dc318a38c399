"""The names of this domain's jobs: enqueued where the work arises, run in ``tasks``."""

from typing import Final

# {organization_id, content_id}
PROCESS: Final = "document.process"
# {organization_id, document_id}
FETCH: Final = "document.fetch"
# {organization_id, content_id}
FORGET: Final = "document.forget"
# {organization_id}
REEMBED: Final = "documents.reembed"
# {organization_id, space_id}
INDEX: Final = "documents.index"
SWEEP: Final = "documents.sweep"
SWEEP_FILES: Final = "documents.sweep_files"
