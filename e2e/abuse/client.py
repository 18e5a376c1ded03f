"""Clients of a server under attack: HTTP and WebSocket by Python's own library, each from an address of 127.0.0.0/8 of its own."""

from __future__ import annotations

import base64
import collections
import http.client
import json
import os
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from server import PUBLISHABLE_KEY

ATTACKER, BYSTANDER = "127.0.0.66", "127.0.0.7"
# Longer lines of responses than this are no concern of these tests.
http.client._MAXLINE = 10_000_000  # type: ignore[attr-defined]


class Connection:
    """A kept HTTP connection."""

    def __init__(self, port: int, address: str = ATTACKER, timeout: float = 60):
        self.http = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout, source_address=(address, 0))

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
        """Status and body. Header names are written with _ for -."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            self.http.request(method, path, body, {"apikey": PUBLISHABLE_KEY, **named})
            response = self.http.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException):
            self.http.close()
            raise

    def json(self, method: str, path: str, body: object, **headers: str) -> tuple[int, bytes]:
        return self.send(method, path, json.dumps(body).encode(), Content_Type="application/json", **headers)

    def close(self) -> None:
        self.http.close()


@dataclass
class Target:
    """What an attack gets: where the server is, and how long it may go on."""

    api: int
    studio: int
    until: float
    # Answers by status or by the name of an error.
    answers: collections.Counter[str] = field(default_factory=collections.Counter)

    def is_over(self) -> bool:
        return time.monotonic() > self.until

    def note(self, outcome: object) -> None:
        self.answers[str(outcome)] += 1

    def connect(self) -> Connection:
        return Connection(self.api)

    def repeat(self, clients: int, send: Callable[[Connection, int], int], port: int | None = None) -> None:
        """So many clients at once, each one request after the other on a kept connection until the end. `send` gets the number of the
        request and returns its status. The port is the API's unless it is given."""
        numbers = iter(range(1 << 60))

        def work() -> None:
            connection = Connection(port or self.api)
            while not self.is_over():
                try:
                    self.note(send(connection, next(numbers)))
                except (OSError, http.client.HTTPException) as error:
                    self.note(type(error).__name__)
                    time.sleep(0.02)
            connection.close()

        self.together(clients, work)

    def together(self, clients: int, work: Callable[[], None]) -> None:
        threads = [threading.Thread(target=work, daemon=True) for _ in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.0, self.until + 60 - time.monotonic()))

    def hold(self, count: int, begin: bytes, rest: bytes = b"") -> None:
        """Opens so many connections that never finish their request, and keeps them until the end."""
        held = []
        for _ in range(count):
            if self.is_over():
                break
            try:
                connection = socket.create_connection(("127.0.0.1", self.api), timeout=5, source_address=(ATTACKER, 0))
                connection.sendall(begin)
                if rest:
                    connection.sendall(rest)
                held.append(connection)
                self.note("held")
            except OSError as error:
                self.note(type(error).__name__)
        while not self.is_over():
            time.sleep(0.05)
        for connection in held:
            connection.close()

    def user(self, name: str) -> tuple[str, str]:
        """The id and token of a new user."""
        email = f"{name}-{os.urandom(6).hex()}@example.com"
        status, body = self.connect().json("POST", "/auth/v1/signup", {"email": email, "password": "Long-pass-2026!"})
        assert status == 200, (status, body[:200])
        answer = json.loads(body)
        return answer["user"]["id"], answer["access_token"]


def encode_frame(opcode: int, data: bytes) -> bytes:
    """A frame of a client, masked with zeros."""
    length = len(data)
    if length < 126:
        size = bytes([0x80 | length])
    elif length < 1 << 16:
        size = bytes([0x80 | 126]) + struct.pack(">H", length)
    else:
        size = bytes([0x80 | 127]) + struct.pack(">Q", length)
    return bytes([0x80 | opcode]) + size + bytes(4) + data


class Socket:
    """A socket of Realtime."""

    def __init__(self, port: int, address: str = ATTACKER, receive_buffer: int | None = None):
        self.raw = socket.socket()
        if receive_buffer:
            self.raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.raw.settimeout(10)
        self.raw.bind((address, 0))
        self.raw.connect(("127.0.0.1", port))
        key = base64.b64encode(os.urandom(16)).decode()
        self.raw.sendall(
            f"GET /realtime/v1/websocket?apikey={PUBLISHABLE_KEY}&vsn=1.0.0 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            f"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode()
        )
        self.file = self.raw.makefile("rb")
        self.status = int(self.file.readline().split()[1])
        while self.file.readline().strip():
            pass
        if self.status != 101:
            raise ConnectionRefusedError(f"status {self.status}")

    def send(self, topic: str, event: str, payload: object, reference: str = "1") -> None:
        message = {"topic": topic, "event": event, "payload": payload, "ref": reference, "join_ref": "1"}
        self.raw.sendall(encode_frame(1, json.dumps(message).encode()))

    def receive(self, timeout: float = 10) -> dict | None:
        """The next message; None when none comes in time. `ConnectionError` at the end."""
        self.raw.settimeout(timeout)
        try:
            head = self.file.read(2)
            if len(head) < 2:
                raise ConnectionResetError("the server has closed the socket")
            opcode, length = head[0] & 15, head[1] & 127
            if length == 126:
                length = struct.unpack(">H", self.file.read(2))[0]
            elif length == 127:
                length = struct.unpack(">Q", self.file.read(8))[0]
            data = self.file.read(length)
        except TimeoutError:
            # A file that has timed out reads no more.
            self.file = self.raw.makefile("rb")
            return None
        if opcode == 8:
            code = struct.unpack(">H", data[:2])[0] if len(data) > 1 else 0
            raise ConnectionResetError(f"closed with {code}")
        if opcode == 9:
            self.raw.sendall(encode_frame(10, data))
            return self.receive(timeout)
        return json.loads(data)

    def join(self, name: str, config: object, timeout: float = 10) -> str:
        """Joins a channel. Returns the status of the reply, or `none`."""
        self.send(f"realtime:{name}", "phx_join", {"config": config})
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            message = self.receive(max(0.05, end - time.monotonic()))
            if message and message["event"] == "phx_reply":
                return message["payload"]["status"]
        return "none"

    def close(self) -> None:
        self.raw.close()
