"""Every entry point with its longest input, and with half of it: whoever doubles an input may cost the server twice as much, and no more.

What is quadratic shows as four times. Each input is tried with the shortest and the longest parts that it may have."""

from __future__ import annotations

import base64
import http.client
import json
import time
from collections.abc import Callable
from dataclasses import dataclass

from client import ATTACKER, Connection, Socket, encode_frame
from server import Server

# An input of twice the length may take twice as long and this much more, in seconds.
NOISE_SECONDS = 0.05
MOST_TIMES = 2.6
# No single request may take longer, in a debug build.
MOST_SECONDS = 10.0
# Each is measured this often, and the fastest counts.
TRIES = 3
# Longest head, body of REST, of the other services, and frame.
HEAD, REST, BODY, FRAME = 60_000, 15_000_000, 1_000_000, 4_900_000


@dataclass(frozen=True)
class Input:
    """A request whose length is chosen."""

    name: str
    longest: int
    send: Callable[[Connection, int], object]


def get(path: Callable[[int], str], name: str, longest: int = HEAD) -> Input:
    return Input(name, longest, lambda connection, length: connection.send("GET", path(length))[0])


def header(name: str, text: Callable[[int], str], path: str = "/rest/v1/todos?limit=1", method: str = "GET", longest: int = HEAD) -> Input:
    def send(connection: Connection, length: int) -> int:
        return connection.send(method, path, None if method == "GET" else b"", **{name: text(length)})[0]

    return Input(f"header {name}, {text(8)!r}…, {path.split('?')[0]}", longest, send)


def body(path: str, kind: str, content: Callable[[int], bytes], longest: int = BODY, method: str = "POST") -> Input:
    return Input(
        f"{method} {path}, {kind}, {content(24)[:24]!r}…", longest,
        lambda connection, length: connection.send(method, path, content(length), Content_Type=kind)[0],
    )


def repeat(part: str) -> Callable[[int], str]:
    return lambda length: part * (length // len(part))


def wrap(before: str, part: str, after: str) -> Callable[[int], bytes]:
    """The part again and again between two texts."""
    return lambda length: (before + part * (length // len(part)) + after).encode()


def nest(opening: str, closing: str, inner: str = "") -> Callable[[int], str]:
    return lambda length: opening * (length // len(opening + closing)) + inner + closing * (length // len(opening + closing))


def numbered(length: int, part: str = '"{:x}":0,') -> str:
    """Names that differ."""
    return "".join(part.format(number) for number in range(length // (len(part) + 2)))


TABLE = "/rest/v1/todos?limit=1&"
FORM, JSON, CSV = "application/x-www-form-urlencoded", "application/json", "text/csv"

INPUTS = [
    # Addresses.
    get(lambda length: "/" + "a" * length, "a path of one part"),
    get(lambda length: "/a" * (length // 2), "a path of many parts"),
    get(lambda length: "/%61" * (length // 4), "an encoded path"),
    get(lambda length: "/../" * (length // 4), "a path that goes up"),
    get(lambda length: TABLE + "select=" + "id," * (length // 3) + "id", "a long select"),
    get(lambda length: TABLE + "select=" + numbered(length, "a{}:id,") + "id", "a select with names"),
    get(lambda length: TABLE + "select=" + "n->a" + "->a" * (length // 3), "a path into JSON"),
    get(lambda length: TABLE + "select=" + nest("notes(todos(", "))", "id")(length), "nested embeds"),
    get(lambda length: TABLE + "or=(" + "id.eq.1," * (length // 8) + "id.eq.1)", "conditions"),
    get(lambda length: TABLE + "and=" + nest("(and(", "))", "id.eq.1")(length), "nested conditions"),
    get(lambda length: TABLE + "id=in.(" + "1," * (length // 2) + "1)", "a list of values"),
    get(lambda length: TABLE + 'title=in.("' + "\\\\" * (length // 2) + '")', "a list of quoted values"),
    get(lambda length: TABLE + "id=eq.1&" * (length // 8), "many filters of one column"),
    get(lambda length: TABLE + "order=" + "id.desc," * (length // 8) + "id", "a long order"),
    get(lambda length: TABLE + "title=like." + "*" * length, "a pattern of stars"),
    get(lambda length: TABLE + "title=match." + "(x{1,200})" * (length // 10), "a regular expression"),
    get(lambda length: TABLE + "title=fts." + "a%26" * (length // 4) + "a", "a text search"),
    get(lambda length: TABLE + "columns=" + "id," * (length // 3) + "id", "columns"),
    get(lambda length: "/rest/v1/rpc/add?" + numbered(length, "p{}=1&"), "arguments of a call"),
    get(lambda length: "/auth/v1/authorize?provider=github&redirect_to=http://" + "a." * (length // 2), "an address to return to"),
    get(lambda length: "/auth/v1/verify?type=signup&token=" + "a" * length, "a token to verify"),
    get(lambda length: "/storage/v1/object/public/files/" + "a/" * (length // 2), "the name of an object"),
    get(lambda length: "/storage/v1/render/image/public/pictures/small.png?" + "width=1&" * (length // 8), "sizes of a picture"),
    get(lambda length: "/storage/v1/s3/files?list-type=2&prefix=" + "a/" * (length // 2), "a list by S3"),
    # Heads.
    header("Cookie", repeat("a;")),
    header("Cookie", lambda length: numbered(length, "{:x}=1;")),
    header("Prefer", repeat("tx=rollback,")),
    header("Prefer", repeat("a,")),
    header("Accept", repeat("a/b,")),
    header("Accept", lambda length: "application/json;" + "a=b;" * (length // 4)),
    header("Accept-Encoding", repeat("br;q=0.1,")),
    header("Range", lambda length: "items=" + "0-1," * (length // 4)),
    header("Range", lambda length: "bytes=" + "0-1," * (length // 4), "/storage/v1/object/public/files/small.txt"),
    header("If-None-Match", repeat('"a",'), "/storage/v1/object/public/files/small.txt"),
    header("Authorization", lambda length: "Bearer " + "e30." * (length // 4)),
    header("Authorization", lambda length: "Bearer e30." + "a" * length + ".a"),
    header("X-Forwarded-For", repeat("1.1.1.1,")),
    header("Forwarded", repeat("for=1.1.1.1;")),
    header("Origin", lambda length: "http://" + "a." * (length // 2)),
    header("Access-Control-Request-Headers", repeat("a,"), method="OPTIONS"),
    header("Content-Type", lambda length: "multipart/form-data; boundary=" + "a" * length, "/storage/v1/object/files/x", "POST"),
    header("Upload-Metadata", lambda length: "a YQ==," * (length // 7), "/storage/v1/upload/resumable", "POST"),
    header("x-amz-copy-source", repeat("a/"), "/storage/v1/s3/files/x", "PUT"),
    header("X-Many", lambda length: "a" * (length // 2)),
    # Bodies of REST.
    body("/rest/v1/rpc/length_of", JSON, wrap('{"body":"', "x", '"}'), REST),
    body("/rest/v1/rpc/length_of", JSON, wrap('{"body":"', "\\u0061", '"}'), REST),
    body("/rest/v1/nothing", JSON, lambda length: ("{" + numbered(length) + '"a":0}').encode(), REST),
    body("/rest/v1/nothing", JSON, wrap("[", "{},", "{}]"), REST),
    body("/rest/v1/nothing", JSON, wrap('{"a":[', "1,", "1]}"), REST),
    body("/rest/v1/nothing", JSON, lambda length: nest("[", "]")(length).encode(), REST),
    body("/rest/v1/nothing", JSON, wrap("", " ", "{}"), REST),
    body("/rest/v1/nothing", CSV, wrap("a\n", "1\n", ""), REST),
    body("/rest/v1/nothing", CSV, wrap("", "a,", "a\n1"), REST),
    body("/rest/v1/nothing", CSV, wrap('a\n"', '""', '"'), REST),
    body("/rest/v1/rpc/length_of", FORM, wrap("", "a&", ""), REST),
    body("/rest/v1/rpc/length_of", FORM, wrap("body=", "%61", ""), REST),
    body("/rest/v1/rpc/length_of", "text/plain", wrap("", "x", ""), REST),
    body("/graphql/v1", JSON, wrap('{"query":"', "{a", '"}'), BODY),
    # Bodies of the other services.
    body("/auth/v1/signup", JSON, wrap('{"email":"', "a", '@example.com"}')),
    body("/auth/v1/signup", JSON, wrap('{"email":[', "[],", "[]]}")),
    body("/auth/v1/signup", JSON, lambda length: ("{" + numbered(length) + '"a":0}').encode()),
    body("/auth/v1/token?grant_type=password", JSON, wrap('{"email":"a@example.com","password":"', "x", '"}')),
    body("/auth/v1/token?grant_type=id_token", JSON, wrap('{"provider":"google","id_token":"', "e30.", '"}')),
    body("/auth/v1/otp", JSON, wrap('{"phone":"+', "1", '"}')),
    body("/auth/v1/sso/saml/acs", FORM, lambda length: b"SAMLResponse=" + base64.b64encode(b"<a>" * (length // 4))),
    body("/auth/v1/sso/saml/acs", FORM, lambda length: b"SAMLResponse=" + base64.b64encode(b"<a " + b'a="1" ' * (length // 8) + b"/>")),
    body("/storage/v1/object/list/files", JSON, wrap('{"prefix":"', "a/", '"}')),
    body("/storage/v1/object/files", JSON, wrap('{"prefixes":[', '"a",', '"a"]}'), method="DELETE"),
    body("/storage/v1/object/copy", JSON, wrap('{"bucketId":"files","sourceKey":"', "a/", '","destinationKey":"b"}')),
    body("/storage/v1/s3/files?delete", "application/xml", wrap("<Delete>", "<a/>", "</Delete>")),
    body("/realtime/v1/api/broadcast", JSON, wrap('{"messages":[', '{"topic":"t","event":"e","payload":{}},', '{"topic":"t","event":"e","payload":{}}]}')),
    body("/realtime/v1/api/broadcast", JSON, wrap('{"messages":[{"topic":"t","event":"e","payload":[', "[],", "[]]}]}")),
    body("/functions/v1/nothing", JSON, wrap('"', "x", '"')),
]


def message(event: str, payload: object, topic: str = "realtime:inputs") -> bytes:
    return json.dumps({"topic": topic, "event": event, "payload": payload, "ref": "1", "join_ref": "1"}).encode()


# Every message of Realtime, by a text that is as long as a frame may be.
FRAMES: dict[str, Callable[[int], bytes]] = {
    "no JSON": lambda length: b"[" * length,
    "a long topic": lambda length: message("phx_join", {}, "realtime:" + "x" * length),
    "a join with many bindings": lambda length: message(
        "phx_join", {"config": {"postgres_changes": [{"event": "*", "schema": "public", "table": "beats", "filter": "name=eq.1"}] * (length // 85)}}
    ),
    "a join with a long filter": lambda length: message(
        "phx_join", {"config": {"postgres_changes": [{"event": "*", "schema": "public", "table": "beats", "filter": "name=in.(" + "1," * (length // 2) + "1)"}]}}
    ),
    "a join with a long token": lambda length: message("phx_join", {"config": {}, "access_token": "e30." * (length // 4)}),
    "a join with a long presence key": lambda length: message("phx_join", {"config": {"presence": {"enabled": True, "key": "k" * length}}}),
    "a broadcast": lambda length: message("broadcast", {"type": "broadcast", "event": "e", "payload": {"x": "y" * length}}),
    "a broadcast of arrays": lambda length: message("broadcast", {"type": "broadcast", "event": "e", "payload": {"x": [[]] * (length // 4)}}),
    "a presence": lambda length: message("presence", {"type": "presence", "event": "track", "payload": {"x": [0] * (length // 3)}}),
    "a token": lambda length: message("access_token", {"access_token": "e30." * (length // 4)}),
    "a heartbeat": lambda length: message("heartbeat", {"x": "y" * length}, "phoenix"),
    "an unknown event": lambda length: message("e" * length, {}),
}


def send_frame(port: int, frame: bytes) -> float:
    """Seconds until the server has read the frame, answered a heartbeat behind it, or closed the socket."""
    one = Socket(port)
    began = time.monotonic()
    try:
        one.raw.sendall(encode_frame(1, frame) + encode_frame(1, message("heartbeat", {}, "phoenix").replace(b'"ref": "1"', b'"ref": "last"')))
        while (answer := one.receive(30)) is not None and answer.get("ref") != "last":
            pass
    except OSError:
        pass
    finally:
        one.close()
    return time.monotonic() - began


def measure(try_once: Callable[[int], float], longest: int) -> tuple[float, float]:
    """Seconds for half of the length and for all of it."""
    half, whole = (min(try_once(length) for _ in range(TRIES)) for length in (longest // 2, longest))
    return half, whole


def check_inputs(server: Server) -> list[str]:
    """Prints what each input takes, and returns those that take too much."""

    def request(one: Input) -> Callable[[int], float]:
        def try_once(length: int) -> float:
            connection = Connection(server.api, ATTACKER)
            began = time.monotonic()
            try:
                one.send(connection, length)
            except (OSError, http.client.HTTPException):
                # The server may close the connection on a request that it refuses.
                pass
            finally:
                connection.close()
            return time.monotonic() - began

        return try_once

    cases = [(one.name, request(one), one.longest) for one in INPUTS]
    cases += [(f"frame: {name}", lambda length, make=make: send_frame(server.api, make(length)), FRAME) for name, make in FRAMES.items()]
    faults = []
    for name, try_once, longest in cases:
        half, whole = measure(try_once, longest)
        is_fault = whole > MOST_TIMES * half + NOISE_SECONDS or whole > MOST_SECONDS
        if is_fault:
            # A busy machine may have been the reason.
            half, whole = measure(try_once, longest)
            is_fault = whole > MOST_TIMES * half + NOISE_SECONDS or whole > MOST_SECONDS
        print(f"{'FAULT' if is_fault else 'sound'}  {name}: {longest // 2} bytes {half * 1000:.0f} ms, {longest} bytes {whole * 1000:.0f} ms", flush=True)
        if is_fault:
            faults.append(f"{name}: {half * 1000:.0f} ms for half, {whole * 1000:.0f} for all")
    return faults
