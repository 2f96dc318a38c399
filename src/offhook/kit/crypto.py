"""Tokens, secrets at rest and signed links; the only module that touches cryptographic primitives."""

import base64
import binascii
import hashlib
import hmac
import os
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from offhook.errors import DomainError

_VERSION = b"\x01"
_KEY_ID_BYTES = 4
_NONCE_BYTES = 12
_WORD_BYTES = 6


class LinkRefused(DomainError):
    """This link is invalid or has expired."""

    code = "link_refused"
    status = 401


class SecretUnreadable(Exception):
    """A sealed value cannot be opened: another key, other associated data, or damaged bytes."""


def new_token(prefix: str = "") -> str:
    """Returns ``prefix`` and 43 URL-safe characters that hold 256 random bits."""
    return prefix + secrets.token_urlsafe(32)


def hash_token(token: str) -> bytes:
    """Returns the SHA-256 of a token (32 bytes), for storage. Random tokens need neither salt nor a slow hash."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True, slots=True)
class _DerivedKey:
    id: bytes
    sealing: AESGCM
    signing: bytes


def _derive_key(master: bytes) -> _DerivedKey:
    def derive_bytes(info: bytes) -> bytes:
        return HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(master)

    return _DerivedKey(
        derive_bytes(b"offhook key id")[:_KEY_ID_BYTES],
        AESGCM(derive_bytes(b"offhook sealing")),
        derive_bytes(b"offhook signing"),
    )


class Keyring:
    """Seals secrets and signs links with the installation's key.

    ``secret_key`` is a text of at least 32 characters, or several separated by commas: the first one seals and
    signs, and all of them open, so a key is rotated by putting the new one in front. Without it a key is generated
    once in ``key_file`` (mode 0600); processes on several machines must share ``secret_key``. Nothing is read
    before the first use.
    """

    def __init__(self, secret_key: str | None, key_file: Path) -> None:
        self._secret_key = secret_key
        self._key_file = key_file

    @cached_property
    def _derived_keys(self) -> list[_DerivedKey]:
        text = self._secret_key or _read_or_make(self._key_file)
        return [_derive_key(part.strip().encode()) for part in text.split(",") if part.strip()]

    def seal(self, plaintext: bytes, associated: bytes) -> bytes:
        """Encrypts with AES-256-GCM; opening needs the same ``associated`` (the organization's id, the kind of
        secret)."""
        key, nonce = self._derived_keys[0], os.urandom(_NONCE_BYTES)
        return _VERSION + key.id + nonce + key.sealing.encrypt(nonce, plaintext, associated)

    def open(self, sealed: bytes, associated: bytes) -> bytes:
        """Returns the plaintext of :meth:`seal`; raises :class:`SecretUnreadable`."""
        key_id = sealed[1 : 1 + _KEY_ID_BYTES]
        nonce = sealed[1 + _KEY_ID_BYTES : 1 + _KEY_ID_BYTES + _NONCE_BYTES]
        for key in self._derived_keys:
            if sealed[:1] == _VERSION and key.id == key_id and len(nonce) == _NONCE_BYTES:
                with suppress(InvalidTag):
                    return key.sealing.decrypt(nonce, sealed[1 + _KEY_ID_BYTES + _NONCE_BYTES :], associated)
        raise SecretUnreadable("no key of this installation opens the value")

    def derive_token(self, purpose: str) -> str:
        """Returns 43 URL-safe characters that permanently belong to ``purpose`` and are secret without the key."""
        return _derive_token(self._derived_keys[0], purpose)

    def is_derived(self, purpose: str, token: str) -> bool:
        """Returns whether any key of this installation derives this token from ``purpose``; in constant time."""
        given = token.encode("utf-8", "surrogatepass")
        return any(hmac.compare_digest(_derive_token(key, purpose).encode(), given) for key in self._derived_keys)

    def fingerprints(self) -> list[str]:
        """Returns a name for each key, the sealing one first; it tells keys apart and reveals nothing of them."""
        return [_derive_token(key, "fingerprint of the key") for key in self._derived_keys]

    def sign_link(self, purpose: str, payload: str, expires_at: int) -> str:
        """Returns a URL-safe token with a readable ``payload``, valid for ``purpose`` (a word, without colons) until
        ``expires_at`` (unix seconds)."""
        body = f"{_encode_base64(f'{purpose}:{payload}'.encode())}.{expires_at}"
        return f"{body}.{_encode_base64(_sign_body(self._derived_keys[0], body))}"

    def verify_link(self, purpose: str, token: str, now: float, *, older_start: str | None = None) -> str:
        """Returns the payload of :meth:`sign_link`; raises :class:`LinkRefused`, also for a link of another purpose.

        ``now`` is in unix seconds. ``older_start``: how payloads of this purpose begin that earlier versions signed without
        it; no purpose begins like that.
        """
        body, _, signature = token.rpartition(".")
        signed, _, expires_at = body.partition(".")
        try:
            given, data = _decode_base64(signature), _decode_base64(signed)
        except (binascii.Error, ValueError):
            raise LinkRefused from None
        if not any(hmac.compare_digest(_sign_body(key, body), given) for key in self._derived_keys):
            raise LinkRefused
        if int(expires_at) < now:
            raise LinkRefused
        text = data.decode()
        if older_start is not None and text.startswith(older_start):
            return text
        found, colon, payload = text.partition(":")
        if not colon or found != purpose:
            raise LinkRefused
        return payload


class FileCipher:
    """Encrypts the numbered parts of one file with AES-256-GCM."""

    def __init__(self, key: bytes) -> None:
        self._sealing = AESGCM(key)

    def encrypt(self, index: int, plain: bytes) -> bytes:
        """Returns nonce, ciphertext and tag: 28 bytes more than ``plain``."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._sealing.encrypt(nonce, plain, index.to_bytes(8, "big"))

    def decrypt(self, index: int, stored: bytes) -> bytes:
        """Returns the plain bytes. Raises SecretUnreadable when they are damaged or of another place or file."""
        try:
            return self._sealing.decrypt(stored[:_NONCE_BYTES], stored[_NONCE_BYTES:], index.to_bytes(8, "big"))
        except (InvalidTag, ValueError):  # ValueError: shorter than a nonce
            raise SecretUnreadable("a part of the file cannot be decrypted") from None


@dataclass(frozen=True, slots=True)
class DataKey:
    """A key that encrypts files and words of one organization; ``number`` tells its keys apart."""

    number: int
    secret: bytes = field(repr=False)

    def derive_cipher(self, salt: bytes) -> FileCipher:
        """Returns the cipher of the file with this salt."""
        derived = HKDF(algorithm=SHA256(), length=32, salt=salt, info=b"offhook file").derive(self.secret)
        return FileCipher(derived)

    def derive_word_index(self) -> "WordIndex":
        """Returns the tokens of the organization's words under this key."""
        return WordIndex(HKDF(algorithm=SHA256(), length=32, salt=None, info=b"offhook words").derive(self.secret))


class WordIndex:
    """Tokens that stand for words in a search index: equal for equal words, and not to be reversed or guessed without
    the key."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def hash_word(self, word: str) -> str:
        """Returns 8 URL-safe characters, 48 bits."""
        return _encode_base64(hmac.digest(self._key, word.encode("utf-8", "replace"), "sha256")[:_WORD_BYTES])


def new_data_key() -> bytes:
    """Returns 256 random bits."""
    return os.urandom(32)


def _sign_body(key: _DerivedKey, body: str) -> bytes:
    return hmac.digest(key.signing, body.encode("utf-8", "surrogatepass"), "sha256")


def _derive_token(key: _DerivedKey, purpose: str) -> str:
    return _encode_base64(hmac.digest(key.signing, b"derived:" + purpose.encode(), "sha256"))


def _encode_base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode_base64(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def _read_or_make(path: Path) -> str:
    with suppress(FileNotFoundError):
        return path.read_text()
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secrets.token_urlsafe(48))
        file.flush()
        os.fsync(file.fileno())
    # A hard link instead of a rename: of two processes that start together, the second one keeps the first one's key.
    with suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()
    return path.read_text()
