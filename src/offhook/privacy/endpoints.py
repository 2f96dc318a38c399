"""Everything about one phone number over HTTP: erase it, export it, see the receipts."""

from typing import Annotated

from fastapi import Query, Request, Response

from offhook.kit.database.database import Session
from offhook.kit.files.byte_ranges import RangeResponse
from offhook.kit.http.pagination import PageParams
from offhook.kit.http.path_ids import LongId
from offhook.kit.http.routing import Router
from offhook.kit.phone_numbers import E164
from offhook.orgs import ReadTransaction, RequireAdmin
from offhook.privacy.errors import ArchiveNotReady
from offhook.privacy.schemas import DataRequestCreate, DataRequestList, DataRequestResponse
from offhook.privacy.services import Services
from offhook.privacy.tables import PersonDataRequest

router = Router(prefix="/organizations/data-requests", tags=["privacy"])


@router.post("", response_model=DataRequestResponse, operation_id="create_data_request")
async def create_data_request(
    body: DataRequestCreate, org: RequireAdmin, services: Services, session: Session
) -> PersonDataRequest:
    """Erases or exports everything about a phone number, in a job: poll the request until its state is `done`.
    Repeating a request that is not done returns the existing one."""
    return await services.person_data.create_request(session, org, body.kind, body.phone_number)


@router.get("", response_model=DataRequestList, operation_id="list_data_requests")
async def list_data_requests(
    org: RequireAdmin,
    services: Services,
    session: Session,
    page: PageParams,
    phone_number: Annotated[E164 | None, Query(max_length=32)] = None,
) -> DataRequestList:
    """Lists the requests with their receipts, newest first; `phone_number` finds those about it."""
    rows, total = await services.person_data.list_requests(
        session, org.organization_id, phone_number, limit=page.limit, offset=page.offset
    )
    requests = [DataRequestResponse.model_validate(row) for row in rows]
    return DataRequestList(
        requests=requests,
        total_count=total,
        page=page.page,
        limit=page.limit,
        total_pages=page.total_pages(total),
    )


@router.get("/{data_request_id}", response_model=DataRequestResponse, operation_id="get_data_request")
async def get_data_request(
    data_request_id: LongId, org: RequireAdmin, services: Services, session: Session
) -> PersonDataRequest:
    """Returns a request, with its receipt when it is done."""
    return await services.person_data.get_request(session, org.organization_id, data_request_id)


@router.get(
    "/{data_request_id}/archive",
    response_class=Response,
    responses={200: {"content": {"application/zip": {}}}},
    operation_id="download_data_archive",
)
async def download_data_archive(
    data_request_id: LongId, org: RequireAdmin, services: Services, request: Request, _read: ReadTransaction
) -> Response:
    """Returns the archive of an export (ZIP): `person.json`, and the recordings. It is deleted after seven days."""
    key = await services.person_data.find_archive(org.organization_id, data_request_id)
    name, wanted = f"person_{data_request_id}.zip", request.headers.get("range")
    return RangeResponse(services.storage, key, wanted, "application/zip", name, missing=ArchiveNotReady)
