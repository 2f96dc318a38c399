"""Identity providers of tests: one on loopback that says what a test wants, and the way of a browser through a sign-in."""

import base64
import hashlib
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from httpx2 import AsyncClient, Response
from jwt.algorithms import ECAlgorithm
from sqlalchemy import select

from offhook.orgs.tables import AuditEntry
from offhook.root import Root
from tests.fakes.web import LocalServer, Reply, Seen, json_reply, local_server
from tests.fixtures_orgs import OrgFixture

PROVIDER = "/organizations/identity-provider"
CLIENT_ID = "offhook"
CLIENT_SECRET = "s3cret/of:client"
KEY_ID = "k1"

Claims = dict[str, Any]


@cache
def signing_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def public_keys(kid: str = KEY_ID, **more: Any) -> dict[str, Any]:
    """The JWK set of ``signing_key``."""
    return {"keys": [{**json.loads(ECAlgorithm.to_jwk(signing_key().public_key())), "kid": kid, **more}]}


def sign(claims: Claims, kid: str = KEY_ID) -> str:
    return jwt.encode(claims, signing_key(), algorithm="ES256", headers={"kid": kid})


@dataclass
class ScriptedProvider:
    """A provider that redeems the code ``good`` once, if the PKCE verifier and the client's secret are right.

    ``change`` edits the claims, ``token`` replaces the signed token, ``metadata`` is added to the discovery document.
    """

    server: LocalServer | None = None
    claims: Claims = field(default_factory=lambda: {"sub": "1001", "email": "member@acme.example"})
    change: Callable[[Claims], Claims] = lambda claims: claims
    token: Callable[[Claims], str] = sign
    metadata: dict[str, Any] = field(default_factory=dict)
    keys: dict[str, Any] = field(default_factory=public_keys)
    asked: dict[str, str] = field(default_factory=dict)
    redeemed: list[str] = field(default_factory=list)

    @property
    def issuer(self) -> str:
        assert self.server is not None
        return self.server.url("127.0.0.1", "")

    def open(self, authorization_url: str) -> tuple[str, str]:
        """What the provider's page does with the browser: it remembers the request and gives a code and the state back."""
        self.asked = {name: values[0] for name, values in parse_qs(urlsplit(authorization_url).query).items()}
        return "good", self.asked["state"]

    def answer(self, request: Seen) -> Reply:
        path = request.target.partition("?")[0]
        if path == "/.well-known/openid-configuration":
            addresses = {
                name: f"{self.issuer}/{name}" for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")
            }
            return json_reply({"issuer": self.issuer, **addresses, **self.metadata})
        return json_reply(self.keys) if path == "/jwks_uri" else self._redeem(request)

    def _redeem(self, request: Seen) -> Reply:
        form = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=")
        credentials = base64.b64decode(request.headers["authorization"].removeprefix("Basic ")).decode()
        is_ours = (
            form["grant_type"] == "authorization_code"
            and form["code"] == "good"
            and form["code"] not in self.redeemed
            and form["redirect_uri"] == self.asked.get("redirect_uri")
            and challenge.decode() == self.asked.get("code_challenge")
            # each half is form-encoded (RFC 6749, 2.3.1)
            and credentials == "offhook:s3cret%2Fof%3Aclient"
        )
        if not is_ours:
            return json_reply({"error": "invalid_grant"}, 400)
        self.redeemed.append(form["code"])
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 300,
            "nonce": self.asked["nonce"],
            "email_verified": True,
            **self.claims,
        }
        return json_reply({"access_token": "a", "token_type": "Bearer", "id_token": self.token(self.change(claims))})


@asynccontextmanager
async def scripted_provider() -> AsyncIterator[ScriptedProvider]:
    provider = ScriptedProvider()
    async with local_server(provider.answer) as server:
        provider.server = server
        yield provider


def body_for(issuer: str, **changes: Any) -> dict[str, Any]:
    return {
        "sign_in_name": "acme",
        "issuer": issuer,
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
        "email_domains": ["acme.example"],
        **changes,
    }


async def set_up(client: AsyncClient, org: OrgFixture, issuer: str, **changes: Any) -> None:
    answer = await client.put(PROVIDER, json=body_for(issuer, **changes), headers=org.owner_headers)
    assert answer.status_code == 200, answer.text


async def start(client: AsyncClient, name: str = "acme") -> tuple[str, str]:
    """The provider's address, and the secret that the browser keeps."""
    answer = await client.post("/auth/provider/start", json={"sign_in_name": name})
    assert answer.status_code == 200, answer.text
    return answer.json()["authorization_url"], answer.json()["secret"]


async def finish(client: AsyncClient, code: str, state: str, secret: str, **more: Any) -> Response:
    body = {"code": code, "state": state, "secret": secret, **more}
    return await client.post("/auth/provider/finish", json=body)


async def sign_in_by(client: AsyncClient, provider: ScriptedProvider, name: str = "acme") -> Response:
    url, secret = await start(client, name)
    provider.redeemed.clear()
    code, state = provider.open(url)
    return await finish(client, code, state, secret)


async def session_by(client: AsyncClient, provider: ScriptedProvider, name: str = "acme") -> dict[str, str]:
    """The headers of the session that the provider opens."""
    answer = await sign_in_by(client, provider, name)
    assert answer.status_code == 200, answer.text
    return {"Authorization": f"Bearer {answer.json()['token']}"}


def told(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


async def entries(root: Root, action: str) -> list[AuditEntry]:
    async with root.db.transaction() as session:
        return list(
            await session.scalars(select(AuditEntry).where(AuditEntry.action == action).order_by(AuditEntry.id))
        )


@pytest.fixture
async def provider() -> AsyncIterator[ScriptedProvider]:
    async with scripted_provider() as made:
        yield made


@pytest.fixture
async def ready(client: AsyncClient, org: OrgFixture, provider: ScriptedProvider) -> ScriptedProvider:
    """The provider of ``org``, which knows its member."""
    await set_up(client, org, provider.issuer)
    return provider
