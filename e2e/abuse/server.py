"""A server with its PostgreSQL in a control group with a limit of memory, and what it takes there.

Where no control group can be made, the limit is a setting of the server, and what all its processes hold is compared with it."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODULES = HERE.parent / "node_modules"
MIB = 1024 * 1024
# The development keys of every `selvedge start`.
PUBLISHABLE_KEY = "sb_publishable_ACJWlzQHlZjBrEguHvfOxg_3BJgxAaH"
SECRET_KEY = "sb_secret_N7UND0UgjKTVK-Uodkm0Hg_xSvEMPvz"
START_SECONDS = 120


def free_ports(count: int) -> list[int]:
    """Ports on which nothing listens, below those that the system gives to clients."""
    found: list[int] = []
    while len(found) < count:
        port = random.randrange(26_000, 32_000)
        with socket.socket() as probe:
            if port not in found and probe.connect_ex(("127.0.0.1", port)) != 0:
                found.append(port)
    return found


class ControlGroup:
    """A control group of version 1 or 2 with a limit of memory."""

    def __init__(self, folder: Path, limit_file: str, used_file: str, droppable: tuple[str, str]):
        self.folder, self.limit_file, self.used_file, self.droppable = folder, limit_file, used_file, droppable

    @staticmethod
    def create(limit_bytes: int) -> ControlGroup | None:
        """None where this user may not make one."""
        name = f"selvedge-abuse-{os.getpid()}"
        kinds = [
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", ("total_inactive_file", "total_active_file")),
            ("/sys/fs/cgroup", "memory.max", "memory.current", ("inactive_file", "active_file")),
        ]
        for top, limit_file, used_file, droppable in kinds:
            folder = Path(top) / name
            try:
                folder.mkdir()
            except OSError:
                continue
            try:
                (folder / limit_file).write_text(str(limit_bytes))
                # Without the right to write here, no process can be moved into it.
                (folder / "cgroup.procs").open("w").close()
            except OSError:
                folder.rmdir()
                continue
            return ControlGroup(folder, limit_file, used_file, droppable)
        return None

    def enter(self, command: list[str]) -> list[str]:
        """A command that moves its process into the group and runs `command` there."""
        return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(self.folder / "cgroup.procs"), *command]

    def used_bytes(self) -> int:
        """Without pages of files that the system can drop."""
        used = int((self.folder / self.used_file).read_text())
        statistics = dict(line.split() for line in (self.folder / "memory.stat").read_text().splitlines())
        return used - sum(int(statistics.get(name, 0)) for name in self.droppable)

    def kills(self) -> int:
        """How many of its processes the system has killed for their memory."""
        for name in ("memory.oom_control", "memory.events"):
            try:
                text = (self.folder / name).read_text()
            except OSError:
                continue
            found = re.search(r"^oom_kill (\d+)", text, re.M)
            if found:
                return int(found[1])
        return 0

    def remove(self) -> None:
        """Once its processes have ended, which the system notices a moment later."""
        for _ in range(500):
            try:
                self.folder.rmdir()
                return
            except OSError:
                time.sleep(0.01)


def children_of(pid: int) -> list[int]:
    """A process and all that it has started."""
    found = [pid]
    for parent in found:
        for task in Path(f"/proc/{parent}/task").glob("*"):
            try:
                found += [int(child) for child in (task / "children").read_text().split()]
            except OSError:
                continue
    return found


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def own_memory(pid: int) -> tuple[int, int]:
    """Bytes of a process that no file backs: its own, and those that it shares with others."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0, 0
    sizes = dict(re.findall(r"^(\w+):\s+(\d+) kB", status, re.M))
    return int(sizes.get("RssAnon", 0)) * 1024, int(sizes.get("RssShmem", 0)) * 1024


def size_of(*paths: Path) -> int:
    """Bytes of files and folders together."""
    total = 0
    for path in paths:
        for file in [path, *path.rglob("*")]:
            try:
                if file.is_file() and not file.is_symlink():
                    total += file.stat().st_size
            except OSError:
                continue
    return total


class Server:
    """`selvedge start` on a copy of the project beside this file."""

    def __init__(self, binary: str, limit_mib: int):
        self.binary, self.limit = binary, limit_mib * MIB
        self.api, self.database, self.inbox, self.studio, self.sink = free_ports(5)
        self.folder = Path(tempfile.mkdtemp(prefix="selvedge-abuse-"))
        # The cluster runs as another user where this one is root.
        self.folder.chmod(0o755)
        self.project = self.folder / "project"
        shutil.copytree(HERE / "project", self.project)
        for migration in (self.project / "migrations").glob("*.sql"):
            migration.write_text(migration.read_text().replace("SINK_PORT", str(self.sink)))
        self.log = self.folder / "server.log"
        self.group = ControlGroup.create(self.limit)
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.api}"

    @property
    def postgres_log(self) -> Path:
        return self.project / ".selvedge" / "postgres.log"

    def start(self) -> None:
        command = [
            self.binary, "start", "--project", str(self.project), "--port", str(self.api), "--db-port", str(self.database),
            "--inbox-port", str(self.inbox), "--studio-port", str(self.studio),
        ]
        environment = {
            **os.environ,
            "SELVEDGE_STATE_HOME": str(self.folder / "state"),
            "SELVEDGE_FUNCTIONS_CACHE_DIR": str(MODULES / ".cache" / "deno"),
            "PATH": os.pathsep.join([str(MODULES / ".bin"), os.environ["PATH"]]),
        }
        environment.pop("DATABASE_URL", None)
        if self.group:
            command = self.group.enter(command)
        else:
            environment["SELVEDGE_LIMITS_MEMORY"] = str(self.limit)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=environment, start_new_session=True
            )
        deadline = time.monotonic() + START_SECONDS
        while "is ready after" not in self.log.read_text(errors="replace"):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"the server did not start:\n{self.log.read_text(errors='replace')[-4000:]}")
            time.sleep(0.1)

    def stop(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.group:
            self.group.remove()
        shutil.rmtree(self.folder, ignore_errors=True)

    def postmaster(self) -> int | None:
        """The process that is PostgreSQL's first."""
        for name in ("postgres", "pgdata", "data", "db"):
            file = self.project / ".selvedge" / name / "postmaster.pid"
            if file.exists():
                return int(file.read_text().split()[0])
        for file in (self.project / ".selvedge").rglob("postmaster.pid"):
            return int(file.read_text().split()[0])
        return None

    def restarts(self) -> int:
        """How often PostgreSQL has ended all its sessions because one of them was killed."""
        logs = [self.postgres_log, self.postgres_log.with_suffix(".log.1")]
        texts = [log.read_bytes() for log in logs if log.exists()]
        return sum(text.count(b"all server processes terminated; reinitializing") for text in texts)

    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def used_bytes(self) -> int:
        if self.group:
            return self.group.used_bytes()
        assert self.process
        sizes = [own_memory(pid) for pid in children_of(self.process.pid)]
        return sum(own for own, _ in sizes) + max((shared for _, shared in sizes), default=0)

    def own_bytes(self) -> int:
        """The memory of the server's own process."""
        return own_memory(self.process.pid)[0] if self.process else 0

    def postgres_bytes(self) -> int:
        """What all processes of PostgreSQL have for themselves."""
        pids = children_of(self.process.pid)[1:] if self.process else []
        return sum(own_memory(pid)[0] for pid in pids if name_of(pid) == "postgres")

    def log_bytes(self) -> int:
        return size_of(self.log, self.postgres_log, self.postgres_log.with_suffix(".log.1"))

    def disk_bytes(self) -> int:
        """What is on the disk without logs and PostgreSQL's files: what rows take is counted where a client may insert."""
        return size_of(self.folder) - self.log_bytes() - size_of(*self.postgres_folders())

    def postgres_folders(self) -> list[Path]:
        return [file.parent for file in (self.project / ".selvedge").rglob("PG_VERSION") if (file.parent / "global").exists()]

    def request(self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None) -> tuple[int, bytes]:
        """One request with the secret key, for what has to be there before an attack."""
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        sent = {"apikey": SECRET_KEY, "Content-Type": "application/json", **(headers or {})}
        request = urllib.request.Request(self.url + path, data=data, headers=sent, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return response.status, response.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()


class Peak:
    """The most memory that a server takes while this runs, in all and in its own process."""

    def __init__(self, server: Server):
        self.server, self.used, self.own, self.postgres = server, 0, 0, 0
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)

    def watch(self) -> None:
        while not self.is_over.wait(0.02):
            try:
                self.used = max(self.used, self.server.used_bytes())
            except OSError:
                continue
            self.own = max(self.own, self.server.own_bytes())
            self.postgres = max(self.postgres, self.server.postgres_bytes())

    def __enter__(self) -> Peak:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_over.set()
        self.thread.join()
