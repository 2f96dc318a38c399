"""Authenticator apps of test people: they read what the server shows and make codes by the clock."""

import base64
from urllib.parse import parse_qs, urlsplit

from httpx2 import AsyncClient, Response

from offhook.kit.clock import Clock
from offhook.kit.one_time_codes import STEP_S, code_at
from tests.orgs.accounts import PASSWORD

ACCOUNT = "/auth/second-factor"


class AuthenticatorApp:
    """Knows the secret from the address in the QR code, as a telephone would."""

    def __init__(self, uri: str, clock: Clock) -> None:
        self.uri = urlsplit(uri)
        (text,) = parse_qs(self.uri.query)["secret"]
        self._secret = base64.b32decode(text + "=" * (-len(text) % 8))
        self._clock = clock

    def code(self, steps: int = 0) -> str:
        """The code that is shown now, or so many half minutes later."""
        return code_at(self._secret, int(self._clock.now().timestamp()) // STEP_S + steps)

    def wrong_code(self) -> str:
        valid = {self.code(steps) for steps in range(-2, 3)}
        return next(code for code in ("000000", "111111", "222222", "333333", "444444", "555555") if code not in valid)


async def enroll(
    client: AsyncClient, headers: dict[str, str], clock: Clock, password: str | None = PASSWORD
) -> tuple[AuthenticatorApp, list[str]]:
    """Sets two-step sign-in up; returns the app and the recovery codes."""
    begun = await client.post(f"{ACCOUNT}/enrollment", json={"current_password": password}, headers=headers)
    assert begun.status_code == 200, begun.text
    app = AuthenticatorApp(begun.json()["uri"], clock)
    confirmed = await client.post(f"{ACCOUNT}/confirmation", json={"code": app.code()}, headers=headers)
    assert confirmed.status_code == 200, confirmed.text
    return app, confirmed.json()["recovery_codes"]


async def first_step(client: AsyncClient, email: str = "ada@example.com") -> str:
    """Gives the right password; returns the challenge."""
    answer = await client.post("/auth/login", json={"email": email, "password": PASSWORD})
    assert set(answer.json()) == {"challenge", "expires_at"}, answer.text
    challenge: str = answer.json()["challenge"]
    return challenge


async def second_step(client: AsyncClient, challenge: str, code: str) -> Response:
    return await client.post("/auth/second-step", json={"challenge": challenge, "code": code})
