"""People with a password, as they are after their sign-in link."""

from httpx2 import AsyncClient

from offhook.orgs import service
from offhook.orgs.sign_in.passwords import PasswordService
from offhook.root import Root

PASSWORD = "correct horse battery"


async def make_account(
    root: Root, email: str = "ada@example.com", *, name: str | None = None, organization_name: str = "Analytical"
) -> int:
    """Makes a user with a password and an organization of their own; returns the user's id."""
    password_hash = await PasswordService().hash_password(PASSWORD)
    async with root.db.transaction() as session:
        user = await service.create_user(session, email, name=name, password_hash=password_hash)
        organization_id = await service.create_organization(session, organization_name)
        await service.add_member(session, organization_id, user.id, "owner")
        return user.id


async def sign_in(client: AsyncClient, email: str = "ada@example.com", password: str = PASSWORD) -> dict[str, str]:
    """Returns the headers of a new session."""
    answer = await client.post("/auth/login", json={"email": email, "password": password})
    assert answer.status_code == 200, answer.text
    return {"Authorization": f"Bearer {answer.json()['token']}"}
