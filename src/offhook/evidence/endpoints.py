"""The evidence of a run over HTTP."""

from fastapi import Response

from offhook.evidence.schemas import EvidenceFile
from offhook.evidence.services import Services
from offhook.kit.files.downloads import content_disposition
from offhook.kit.http.path_ids import Id, LongId
from offhook.kit.http.routing import Router
from offhook.orgs import ReadTransaction, RequireAdmin

router = Router(prefix="/workflow/{workflow_id}/runs/{run_id}", tags=["runs"])


@router.get("/evidence", response_model=EvidenceFile, operation_id="export_run_evidence")
async def export_run_evidence(
    workflow_id: Id, run_id: LongId, org: RequireAdmin, services: Services, response: Response, _read: ReadTransaction
) -> EvidenceFile:
    """Returns what is known about a run in one file: who placed it, what was checked before, what was said about further
    calls, the recording's hash, the carrier's reports, and the audit entries. `not_recorded` says what is not known, and
    why. `sha256` is over the rest of the file: UTF-8, sorted names, no spaces."""
    response.headers["Content-Disposition"] = content_disposition(f"run_{run_id}_evidence.json", kind="attachment")
    response.headers["Cache-Control"] = "no-store"
    return await services.collector.collect_evidence(org.organization_id, run_id, workflow_id=workflow_id)
