"""PostgreSQL that speaks TLS: the embedded one cannot, so a port of ours does in its place.

It answers the question whether there is TLS (SSLRequest) as a server does, and then carries what it reads.
"""

import asyncio
import ipaddress
import ssl
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

_SSL_REQUEST: Final = struct.pack("!ll", 8, 80877103)


@dataclass(frozen=True)
class Issued:
    """A certificate and its key, as files."""

    certificate: Path
    key: Path


class Authority:
    """Issues certificates into a folder; ``certificate`` is its own."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        self.certificate = folder / f"{name}.crt"
        made = self._sign(self._name, self._key, x509.BasicConstraints(ca=True, path_length=None))
        self.certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))

    def issue(self, name: str, *, password: str | None = None, days: int = 2) -> Issued:
        """Of a host or an address, or of a client."""
        key = ec.generate_private_key(ec.SECP256R1())
        try:
            also: x509.GeneralName = x509.IPAddress(ipaddress.ip_address(name))
        except ValueError:
            also = x509.DNSName(name)
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        made = self._sign(subject, key, x509.SubjectAlternativeName([also]), days=days)
        issued = Issued(self._folder / f"{name}.crt", self._folder / f"{name}.key")
        issued.certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
        lock = serialization.BestAvailableEncryption(password.encode()) if password else serialization.NoEncryption()
        form = serialization.PrivateFormat.PKCS8
        issued.key.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, lock))
        return issued

    def _sign(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, extension: x509.ExtensionType, days: int = 2
    ) -> x509.Certificate:
        until = datetime.now(UTC) + timedelta(days=days)
        builder = x509.CertificateBuilder(self._name, subject, key.public_key(), x509.random_serial_number())
        builder = builder.not_valid_before(until - timedelta(days=9)).not_valid_after(until)
        return builder.add_extension(extension, critical=False).sign(self._key, hashes.SHA256())


class TlsDatabase:
    """The port of one, before the server of ``url``; without ``issued`` it says that it has no TLS.

    ``clients`` is the authority whose certificates clients must have; ``demands_tls`` refuses connections without it.
    """

    def __init__(
        self, url: str, issued: Issued | None = None, *, clients: Authority | None = None, demands_tls: bool = False
    ) -> None:
        self._target = urlsplit(url)
        self._demands_tls = demands_tls
        self._context: ssl.SSLContext | None = None
        if issued is not None:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(issued.certificate, issued.key)
            if clients is not None:
                self._context.load_verify_locations(clients.certificate)
                self._context.verify_mode = ssl.CERT_REQUIRED
        self.port = 0
        # Of each connection, whether it was encrypted, and by whose certificate it came.
        self.seen: list[tuple[bool, str | None]] = []

    def address(self, *, host: str = "127.0.0.1", scheme: str = "postgresql", **parameters: object) -> str:
        query = "&".join(f"{name}={value}" for name, value in parameters.items())
        user = self._target.username
        return f"{scheme}://{user}:secret@{host}:{self.port}{self._target.path}" + (f"?{query}" if query else "")

    @asynccontextmanager
    async def serve(self) -> AsyncIterator["TlsDatabase"]:
        tasks = set[asyncio.Task[None]]()

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            tasks.add(task)
            try:
                await self._carry(reader, writer)
            except (OSError, asyncio.IncompleteReadError):
                writer.close()

        server = await asyncio.start_server(accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = await reader.readexactly(8)
        is_encrypted, client = False, None
        if first == _SSL_REQUEST:
            writer.write(b"N" if self._context is None else b"S")
            await writer.drain()
            if self._context is not None:
                await writer.start_tls(self._context)
                found = writer.get_extra_info("peercert") or {}
                client = dict(part for parts in found.get("subject", ()) for part in parts).get("commonName")
                is_encrypted = True
            first = await reader.readexactly(8)
        self.seen.append((is_encrypted, client))
        if self._demands_tls and not is_encrypted:
            words = b'SFATAL\0C28000\0Mno pg_hba.conf entry for host "127.0.0.1", user "offhook", no encryption\0\0'
            writer.write(b"E" + struct.pack("!l", len(words) + 4) + words)
            await writer.drain()
            writer.close()
            return
        folder = parse_qs(self._target.query)["host"][0]
        far_reader, far_writer = await asyncio.open_unix_connection(f"{folder}/.s.PGSQL.5432")
        far_writer.write(first)
        try:
            await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))
        finally:
            far_writer.close()


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while data := await source.read(65536):
        sink.write(data)
    sink.close()
