"""An S3 server of the tests' own (moto, in its own process), which checks keys and signatures as the real one does."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx2

NAME = "offhook-documents"
# The first four requests make a user and a bucket; from then on every one must be signed.
SERVE = """
import sys, threading
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""
EVERYTHING = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"}]}'


@dataclass(frozen=True, slots=True)
class Bucket:
    """Its address, and variables of the environment with which it is reached."""

    address: str
    variables: dict[str, str]


@contextmanager
def bucket() -> Iterator[Bucket]:
    """A bucket on this machine, for as long as the block lasts."""
    server = subprocess.Popen(
        [sys.executable, "-c", SERVE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "INITIAL_NO_AUTH_ACTION_COUNT": "4"},
        text=True,
    )
    assert server.stdout is not None
    try:
        base = f"http://127.0.0.1:{int(server.stdout.readline())}"
        yield Bucket(f"s3://{NAME}/kept", {**_user(base), "AWS_ENDPOINT_URL": base, "AWS_ALLOW_HTTP": "true"})
    finally:
        server.kill()
        server.wait()


def _user(base: str) -> dict[str, str]:
    """A bucket, and somebody who may use it."""
    _ask(base, "iam", Action="CreateUser", UserName="offhook")
    made = _ask(base, "iam", Action="CreateAccessKey", UserName="offhook")
    _ask(base, "iam", Action="PutUserPolicy", UserName="offhook", PolicyName="all", PolicyDocument=EVERYTHING)
    httpx2.put(f"{base}/{NAME}", headers=_signed("s3")).raise_for_status()
    found = [re.search(f"<{name}>(.*?)</", made) for name in ("AccessKeyId", "SecretAccessKey")]
    key, secret = (match[1] for match in found if match is not None)
    return {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret, "AWS_REGION": "us-east-1"}


def _ask(base: str, service: str, **form: str) -> str:
    answer = httpx2.post(f"{base}/", data={**form, "Version": "2010-05-08"}, headers=_signed(service), timeout=60)
    return answer.raise_for_status().text


def _signed(service: str) -> dict[str, str]:
    """Says whose request it is; the first ones are not looked at more closely."""
    scope = f"AKIAX/20200101/us-east-1/{service}/aws4_request"
    host = f"{service}.amazonaws.com"
    value = f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=x"
    return {"Authorization": value, **({"Host": host} if service != "s3" else {})}


def closed_port() -> int:
    """A port at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
