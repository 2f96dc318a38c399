"""A reader of strangers' files that was taken over reaches nothing: no network, file, process or secret of ours."""

import json
import os
import pwd
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from offhook.commands.doctor import check_file_readers
from offhook.kit.database.postgres_program import SERVER_USER
from offhook.kit.processes import seccomp_filter
from offhook.kit.processes.limited_programs import (
    InputFile,
    OutputFile,
    ProcessLimits,
    SandboxedProcessRunner,
    reader_user_id,
)

INTRUDER = Path(__file__).with_name("intruder_program.py")
LIMITS = ProcessLimits(timeout_s=60.0, cpu_s=30, memory_bytes=1 << 30, file_bytes=1 << 20)
INHERITED = 200
X86_HEADER = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
ARM_HEADER = Path("/usr/include/asm-generic/unistd.h")
# A process for which the kernel has no Landlock: the call fails as an unknown one.
WITHOUT_LANDLOCK = """
import asyncio, ctypes, struct, sys
from pathlib import Path
from offhook.kit.processes.limited_programs import ProcessLimits, SandboxedProcessRunner

code = b"".join(struct.pack("<HBBI", *one) for one in ((0x20, 0, 0, 0), (0x15, 0, 1, 444), (6, 0, 0, 0x50026), (6, 0, 0, 0x7FFF0000)))
class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))
libc = ctypes.CDLL(None)
libc.prctl(38, 1, 0, 0, 0)
assert libc.prctl(22, 2, ctypes.byref(Program(len(code) // 8, code)), 0, 0) == 0
program = Path(sys.argv[1])
program.write_text("print('ran')")
runner = SandboxedProcessRunner(ProcessLimits(60.0, 30, 1 << 30, 0), max_concurrent=1)
for _ in range(2):
    print(asyncio.run(runner.run(program, owner=None)))
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an intruder would like to reach."""

    folder: Path
    key: Path
    port: int
    unix_socket: Path


@pytest.fixture
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Surroundings]:
    monkeypatch.setenv("OFFHOOK_LLM_API_KEY", "sk-of-the-operator")
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    key = data / "secret.key"
    key.write_text("the key of everything")
    os.dup2(os.open(key, os.O_RDONLY), INHERITED, inheritable=True)
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket(socket.AF_UNIX) as local:
        local.bind(str(tmp_path / "db"))
        local.listen()
        (tmp_path / "db").chmod(0o777)
        yield Surroundings(data, key, listener.getsockname()[1], tmp_path / "db")
    os.close(INHERITED)


async def test_a_reader_that_was_taken_over_is_refused_everything(surroundings: Surroundings) -> None:
    source, target = surroundings.folder / "upload", surroundings.folder / "result"
    source.write_bytes(b"of a stranger")
    source.chmod(0o600)
    runner = SandboxedProcessRunner(LIMITS, max_concurrent=1)
    places = (str(surroundings.key), str(os.getpid()), str(surroundings.port), str(surroundings.unix_socket))
    done = await runner.run(INTRUDER, InputFile(source), OutputFile(target), *places, str(INHERITED), owner=1)
    assert done.exit_code == 0
    report = json.loads(done.stdout)
    assert {name: got for name, got in report["attempts"].items() if got != "refused"} == {}
    assert len(report["attempts"]) == 18
    allowed = {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "RAYON_NUM_THREADS", "TOKENIZERS_PARALLELISM", "LC_CTYPE"}
    assert set(report["environment"]) <= allowed
    assert report["user"] == (reader_user_id() or os.getuid())
    assert target.read_bytes() == b"of a stranger", "it can do its work"
    assert surroundings.key.exists()
    assert done.gaps == ()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
def test_readers_have_a_user_that_nobody_else_is() -> None:
    user_id = reader_user_id()
    assert user_id not in {None, 0, *(user.pw_uid for user in pwd.getpwall())}
    assert SERVER_USER not in {user.pw_name for user in pwd.getpwall() if user.pw_uid == user_id}


@pytest.mark.slow
async def test_output_without_end_is_cut_and_a_reader_without_end_is_stopped(tmp_path: Path) -> None:
    program = tmp_path / "loud.py"
    program.write_text("import sys\nsys.stdout.write('x' * 50_000_000 + 'end')")
    done = await SandboxedProcessRunner(LIMITS, max_concurrent=1).run(program, owner=1)
    assert (len(done.stdout), done.stdout[-4:]) == (LIMITS.output_bytes, "xend")
    program.write_text("while True: pass")
    limits = ProcessLimits(timeout_s=60.0, cpu_s=1, memory_bytes=1 << 30, file_bytes=0)
    assert (await SandboxedProcessRunner(limits, max_concurrent=1).run(program, owner=1)).exit_code < 0


def test_without_landlock_programs_run_and_one_line_says_so(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_LANDLOCK, tmp_path / "program.py"], capture_output=True, text=True, check=True
    )
    assert done.stdout.count("exit_code=0, stdout='ran', gaps=('landlock',)") == 2
    assert done.stdout.count("sandbox_incomplete") == 1


async def test_the_doctor_knows_the_sandbox() -> None:
    check = await check_file_readers()
    user = reader_user_id()
    expected = "Landlock, seccomp, as " + ("the server's user" if user is None else f"user {user}")
    assert (check.status, check.detail) == ("ok", expected)


@pytest.mark.parametrize(("header", "column"), [(X86_HEADER, 0), (ARM_HEADER, 1)])
def test_the_numbers_are_those_of_the_kernels_headers(header: Path, column: int) -> None:
    if not header.exists():
        pytest.skip("without the kernel's headers")
    found = dict(re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text()))
    if column == 1:
        found["newfstatat"] = found["fstatat"]
    singles = ("OPEN", "OPENAT", "CLONE", "CLONE3", "IOCTL", "FCNTL", "PRCTL", "PRLIMIT64", "TGKILL")
    table = seccomp_filter.ALLOWED | {name.lower(): getattr(seccomp_filter, name) for name in singles}
    wrong = {
        name: numbers[column] for name, numbers in table.items() if str(numbers[column] or 0) != found.get(name, "0")
    }
    assert wrong == {}
