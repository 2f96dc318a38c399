"""ID tokens: who signed in, read from what the provider signed. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import jwt

from offhook.kit.crypto import hash_token
from offhook.kit.filters.filter_values import is_storable
from offhook.orgs.identity_provider.errors import IdentityRefused

# Signatures with a public key only: with HS256 the public key, or an empty one, would be the secret.
ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
MAX_CLOCK_SKEW_S: Final = 60
MAX_SUBJECT_CHARS: Final = 255
MAX_KEYS: Final = 50
# With private members, the library works out prime factors from them, which takes as long as a stranger likes.
PUBLIC_MEMBERS: Final = ("kty", "kid", "use", "alg", "crv", "x", "y", "n", "e")
# An RSA key of 16,384 bits has 2,731 characters.
MAX_MEMBER_CHARS: Final = 4096
_REQUIRED: Final = ("iss", "aud", "exp", "iat", "sub", "nonce")


@dataclass(frozen=True, slots=True)
class TokenExpectation:
    """What a token of one sign-in must say; ``nonce_sha256`` is the hash of its nonce."""

    issuer: str
    client_id: str
    nonce_sha256: bytes


@dataclass(frozen=True, slots=True)
class Identity:
    """A person as the provider knows them. ``email`` is None unless the provider confirms that it is theirs."""

    subject: str
    email: str | None
    name: str | None


def read_identity(id_token: str, keys: Mapping[str, Any], expected: TokenExpectation) -> Identity:
    """Verifies a token with the provider's keys (a JWK set) and returns who it is about; raises ``IdentityRefused``."""
    try:
        header = jwt.get_unverified_header(id_token)
        algorithm = header.get("alg")
        if algorithm not in ALGORITHMS:
            raise IdentityRefused(f"The identity provider signs with {str(algorithm)[:20]!r}, which is not accepted.")
        claims = jwt.decode(
            id_token,
            _select_key(keys, algorithm, header.get("kid")),
            algorithms=[algorithm],
            issuer=expected.issuer,
            audience=expected.client_id,
            leeway=MAX_CLOCK_SKEW_S,
            options={"require": list(_REQUIRED), "verify_sub": True},
        )
    except (jwt.PyJWTError, ValueError, TypeError, KeyError) as error:
        raise IdentityRefused(f"The identity provider's answer could not be verified: {_reason_of(error)}.") from None
    _check_parties(claims, expected)
    return Identity(_read_subject(claims), _read_email(claims), _read_name(claims))


def _select_key(keys: Mapping[str, Any], algorithm: str, kid: object) -> jwt.PyJWK:
    """Returns the signing key with the token's key id; the only one that fits, when the token names none."""
    listed = keys.get("keys")
    fitting: list[jwt.PyJWK] = []
    for entry in (listed if isinstance(listed, list) else [])[:MAX_KEYS]:
        if not isinstance(entry, dict) or entry.get("use", "sig") != "sig" or entry.get("alg", algorithm) != algorithm:
            continue
        if kid is not None and entry.get("kid") != kid:
            continue
        try:
            fitting.append(jwt.PyJWK(_public_part(entry), algorithm=algorithm))
        except (jwt.PyJWTError, ValueError, TypeError, KeyError):
            continue  # of another kind: an RSA key does not verify ES256
    if len(fitting) != 1:
        raise IdentityRefused("The identity provider does not publish the key that signed its answer.")
    return fitting[0]


def _public_part(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the members of a public key; raises ValueError for one that is too long."""
    part = {name: entry[name] for name in PUBLIC_MEMBERS if name in entry}
    if any(isinstance(value, str) and len(value) > MAX_MEMBER_CHARS for value in part.values()):
        raise ValueError("The key is too long.")
    return part


def _check_parties(claims: Mapping[str, Any], expected: TokenExpectation) -> None:
    audience, party = claims["aud"], claims.get("azp")
    is_shared = isinstance(audience, list) and len(audience) > 1
    if (party is not None or is_shared) and party != expected.client_id:
        raise IdentityRefused(
            "The identity provider's answer was issued for another application. Ask an owner to check the client ID."
        )
    nonce = claims["nonce"]
    if not isinstance(nonce, str) or hash_token(nonce) != expected.nonce_sha256:
        raise IdentityRefused("The identity provider's answer belongs to another sign-in.")


def _read_subject(claims: Mapping[str, Any]) -> str:
    subject = claims["sub"]
    if not isinstance(subject, str) or not 0 < len(subject) <= MAX_SUBJECT_CHARS or not is_storable(subject):
        raise IdentityRefused("The identity provider's answer does not identify the user.")
    return subject


def _read_email(claims: Mapping[str, Any]) -> str | None:
    email, verified = claims.get("email"), claims.get("email_verified")
    # Some providers write the boolean as text.
    is_usable = isinstance(email, str) and is_storable(email) and (verified is True or verified == "true")
    return email if is_usable else None


def _read_name(claims: Mapping[str, Any]) -> str | None:
    name = claims.get("name")
    if not isinstance(name, str):
        return None
    return "".join(filter(is_storable, name)).strip()[:200] or None


def _reason_of(error: Exception) -> str:
    """Returns what is wrong without quoting the token."""
    reasons: tuple[tuple[type[Exception], str], ...] = (
        (jwt.ExpiredSignatureError, "it has expired"),
        (jwt.ImmatureSignatureError, "it is not valid yet"),
        (jwt.InvalidAudienceError, "it is for another application"),
        (jwt.InvalidIssuerError, "it is of another issuer"),
        (jwt.MissingRequiredClaimError, "it is incomplete"),
        (jwt.InvalidSignatureError, "its signature is wrong"),
    )
    return next((reason for kind, reason in reasons if isinstance(error, kind)), "it is damaged")
