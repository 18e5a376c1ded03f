"""A client that does nothing unusual, and notes how long each of its requests takes: reads of a row, pages of settings, small files, a
write whose change arrives at its socket, and a message that comes back."""

from __future__ import annotations

import http.client
import json
import multiprocessing
import os
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection as Pipe

from client import BYSTANDER, Connection, Socket
from server import SECRET_KEY

# Pause between two requests of one kind.
PAUSE_SECONDS = 0.02
# Without an answer for this long, the kind counts as stalled.
PATIENCE_SECONDS = 30


class Samples:
    """Times in seconds, and failures by their cause."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.failures: dict[str, int] = {}

    def fail(self, cause: str) -> None:
        self.failures[cause] = self.failures.get(cause, 0) + 1

    def percentile(self, share: float) -> float:
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else float("inf")

    def add(self, other: Samples) -> None:
        self.seconds += other.seconds
        for cause, count in other.failures.items():
            self.failures[cause] = self.failures.get(cause, 0) + count


class Kind(threading.Thread):
    """Repeats one kind of request until it is told to stop."""

    def __init__(self, name: str, samples: Samples, is_over: threading.Event):
        super().__init__(name=name, daemon=True)
        self.samples, self.is_over = samples, is_over

    def prepare(self) -> None:
        """Makes a new connection, before the first request and after a failure."""

    def act(self) -> None:
        """One request. Raises for a failure."""

    def run(self) -> None:
        is_prepared = False
        while not self.is_over.is_set():
            try:
                if not is_prepared:
                    self.prepare()
                    is_prepared = True
                began = time.monotonic()
                self.act()
                self.samples.seconds.append(time.monotonic() - began)
            except (OSError, http.client.HTTPException, RuntimeError) as error:
                if not self.is_over.is_set():
                    self.samples.fail(str(error) if isinstance(error, RuntimeError) else f"{type(error).__name__}: {error}"[:80])
                is_prepared = False
                time.sleep(0.1)
            time.sleep(PAUSE_SECONDS)


class Get(Kind):
    """Reads one address again and again."""

    def __init__(self, port: int, path: str, *rest: object):
        super().__init__(*rest)  # type: ignore[arg-type]
        self.port, self.path = port, path

    def prepare(self) -> None:
        self.connection = Connection(self.port, BYSTANDER, PATIENCE_SECONDS)

    def act(self) -> None:
        status, _ = self.connection.send("GET", self.path)
        if status != 200:
            raise RuntimeError(f"status {status}")


class Change(Kind):
    """Writes a row and waits for the change at a socket; with a filter that only PostgreSQL can evaluate or without."""

    def __init__(self, port: int, *rest: object):
        super().__init__(*rest)  # type: ignore[arg-type]
        self.port, self.number = port, 0

    def prepare(self) -> None:
        self.connection = Connection(self.port, BYSTANDER, PATIENCE_SECONDS)
        self.socket = Socket(self.port, BYSTANDER)
        topic = f"changes-{os.urandom(4).hex()}"
        status = self.socket.join(topic, {"postgres_changes": [{"event": "INSERT", "schema": "public", "table": "beats"}]}, PATIENCE_SECONDS)
        if status != "ok":
            raise RuntimeError(f"join: {status}")
        while True:
            message = self.socket.receive(PATIENCE_SECONDS)
            if message is None:
                raise RuntimeError("the subscription was not confirmed")
            if message["event"] == "system":
                return

    def act(self) -> None:
        self.number += 1
        name = f"{os.getpid()}-{self.number}"
        status, _ = self.connection.json("POST", "/rest/v1/beats", {"name": name})
        if status != 201:
            raise RuntimeError(f"write: status {status}")
        while True:
            message = self.socket.receive(PATIENCE_SECONDS)
            if message is None:
                raise RuntimeError("no change in time")
            if message["event"] == "postgres_changes" and message["payload"]["data"]["record"]["name"] == name:
                return


class Broadcast(Kind):
    """Sends a message to itself."""

    def __init__(self, port: int, *rest: object):
        super().__init__(*rest)  # type: ignore[arg-type]
        self.port = port

    def prepare(self) -> None:
        self.socket = Socket(self.port, BYSTANDER)
        self.topic = f"echo-{os.urandom(4).hex()}"
        status = self.socket.join(self.topic, {"broadcast": {"self": True}}, PATIENCE_SECONDS)
        if status != "ok":
            raise RuntimeError(f"join: {status}")

    def act(self) -> None:
        self.socket.send(f"realtime:{self.topic}", "broadcast", {"type": "broadcast", "event": "e", "payload": {}})
        while True:
            message = self.socket.receive(PATIENCE_SECONDS)
            if message is None:
                raise RuntimeError("no message in time")
            if message["event"] == "broadcast":
                return


class Bystander:
    """Runs in a process of its own, so that the attack's threads do not slow it down."""

    KINDS = ("row", "auth", "file", "picture", "change", "broadcast")

    def __init__(self, port: int):
        self.pipe, inner = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=self.work, args=(port, inner), daemon=True)
        self.process.start()

    @classmethod
    def kinds(cls, port: int, samples: dict[str, Samples], is_over: threading.Event) -> list[Kind]:
        gets: dict[str, str] = {
            "row": "/rest/v1/todos?id=eq.7",
            "auth": "/auth/v1/settings",
            "file": "/storage/v1/object/public/files/small.txt",
        }
        found: list[Kind] = [Get(port, path, name, samples[name], is_over) for name, path in gets.items()]
        return [
            *found,
            Picture(port, "picture", samples["picture"], is_over),
            Change(port, "change", samples["change"], is_over),
            Broadcast(port, "broadcast", samples["broadcast"], is_over),
        ]

    @classmethod
    def work(cls, port: int, pipe: Pipe) -> None:
        """One measurement for each message in the pipe: begins at the first, ends at the second."""
        while True:
            pipe.recv()
            samples, is_over = {name: Samples() for name in cls.KINDS}, threading.Event()
            kinds = cls.kinds(port, samples, is_over)
            for kind in kinds:
                kind.start()
            pipe.recv()
            is_over.set()
            for kind in kinds:
                kind.join(PATIENCE_SECONDS + 5)
                if kind.is_alive():
                    samples[kind.name].fail("stalled")
            pipe.send(samples)

    def begin(self) -> None:
        self.pipe.send("begin")

    def end(self) -> dict[str, Samples]:
        self.pipe.send("end")
        return self.pipe.recv()


class Picture(Kind):
    """Has a small picture rendered in another size each time, which no cache has."""

    def __init__(self, port: int, *rest: object):
        super().__init__(*rest)  # type: ignore[arg-type]
        self.port, self.number = port, int(time.time()) % 1000

    def prepare(self) -> None:
        self.connection = Connection(self.port, BYSTANDER, PATIENCE_SECONDS)

    def act(self) -> None:
        self.number += 1
        size = f"width={20 + self.number % 80}&height={20 + self.number // 80 % 80}&quality={20 + self.number // 6400 % 80}"
        status, body = self.connection.send("GET", f"/storage/v1/render/image/public/pictures/small.png?{size}")
        if status != 200:
            raise RuntimeError(f"status {status}: {body[:60]!r}")


def put_files(server, picture: bytes) -> None:
    """What the bystander reads."""
    for path, content, kind in (("files/small.txt", b"small", "text/plain"), ("pictures/small.png", picture, "image/png")):
        status, body = server.request("POST", f"/storage/v1/object/{path}", content, {"Content-Type": kind, "Authorization": f"Bearer {SECRET_KEY}"})
        if status != 200:
            raise SystemExit(f"{path}: {status} {body[:200]!r}")


def describe(alone: dict[str, Samples], beside: dict[str, Samples]) -> str:
    """One line: for each kind its p99 alone and beside the attack."""
    parts = []
    for name, samples in beside.items():
        before, after = alone[name].percentile(0.99) * 1000, samples.percentile(0.99) * 1000
        parts.append(f"{name} {before:.0f} → {after:.0f} ms" + (f" {json.dumps(samples.failures)}" if samples.failures else ""))
    return ", ".join(parts)
