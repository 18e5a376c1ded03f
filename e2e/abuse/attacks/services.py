"""Auth, Storage without pictures, Realtime over HTTP, and the console's sign-in."""

from __future__ import annotations

import base64
import datetime
import hashlib
import hmac
import json
import urllib.parse

from client import Connection, Target
from server import PUBLISHABLE_KEY

from . import attack


def post(path: str, body: bytes, clients: int = 16, method: str = "POST", kind: str = "application/json", seconds: float = 5):
    def run(target: Target) -> None:
        target.repeat(clients, lambda connection, _: connection.send(method, path, body, Content_Type=kind)[0])

    return run


ARRAYS = b'{"email":[' + b"[]," * 330_000 + b"[]]}"
attack("auth/json-of-arrays", chosen=True)(post("/auth/v1/signup", ARRAYS))
attack("auth/json-of-keys")(post("/auth/v1/signup", ("{" + ",".join(f'"{n:x}":0' for n in range(100_000)) + "}").encode()))
attack("auth/json-deep")(post("/auth/v1/signup", b"[" * 1_000_000))
attack("auth/user-metadata")(post("/auth/v1/signup", b'{"email":"a@example.com","password":"Long-pass-2026!","data":{"a":[' + b"[]," * 330_000 + b"[]]}}"))
attack("auth/long-password")(post("/auth/v1/token?grant_type=password", b'{"email":"a@example.com","password":"' + b"x" * 900_000 + b'"}'))
attack("auth/sign-ins", seconds=6)(post("/auth/v1/token?grant_type=password", b'{"email":"nobody@example.com","password":"Long-pass-2026!"}'))
attack("auth/id-tokens")(post("/auth/v1/token?grant_type=id_token", b'{"provider":"google","id_token":"' + b"e30." * 200_000 + b'"}'))
attack("auth/saml-responses")(
    post("/auth/v1/sso/saml/acs", b"SAMLResponse=" + base64.b64encode(b"<a>" * 200_000), kind="application/x-www-form-urlencoded")
)


@attack("auth/sign-ups", seconds=6)
def sign_ups(target: Target) -> None:
    def send(connection: Connection, number: int) -> int:
        return connection.json("POST", "/auth/v1/signup", {"email": f"flood-{number}@example.com", "password": "Long-pass-2026!"})[0]

    target.repeat(16, send)


@attack("storage/many-keys", chosen=True)
def many_keys(target: Target) -> None:
    _, token = target.user("many")
    body = json.dumps({"prefixes": [0] * 510_000}, separators=(",", ":")).encode()
    target.repeat(
        16, lambda connection, _: connection.send("DELETE", "/storage/v1/object/files", body, Content_Type="application/json", Authorization=f"Bearer {token}")[0]
    )


@attack("storage/list-of-arrays")
def list_of_arrays(target: Target) -> None:
    body = b'{"prefix":[' + b"[]," * 330_000 + b"[]]}"
    target.repeat(16, lambda connection, _: connection.send("POST", "/storage/v1/object/list/files", body, Content_Type="application/json")[0])


# The development JWT of the role anon, by which anybody signs for the S3 protocol.
ANON_TOKEN = (
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJzdXBhYmFzZS1kZW1vIiwicm9sZSI6ImFub24iLCJleHAiOjE5ODM4MTI5OTZ9"
    ".CRXP1A7WOeoJeXxjNni43kdQwgnWNReilDMblYTn_I0"
)


def sign_s3(method: str, path: str, query: dict[str, str], body: bytes, host: str, token: str) -> dict[str, str]:
    """Headers of a request of the S3 protocol with a session token (AWS Signature Version 4)."""
    now = datetime.datetime.now(datetime.timezone.utc)
    stamp, date = now.strftime("%Y%m%dT%H%M%SZ"), now.strftime("%Y%m%d")
    scope, digest = f"{date}/local/s3/aws4_request", hashlib.sha256(body).hexdigest()
    headers = {"host": host, "x-amz-content-sha256": digest, "x-amz-date": stamp, "x-amz-security-token": token}
    names = ";".join(sorted(headers))
    text = "&".join(f"{urllib.parse.quote(name, safe='-_.~')}={urllib.parse.quote(value, safe='-_.~')}" for name, value in sorted(query.items()))
    lines = "".join(f"{name}:{value}\n" for name, value in sorted(headers.items()))
    canonical = f"{method}\n{path}\n{text}\n{lines}\n{names}\n{digest}"
    to_sign = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    key = ("AWS4" + PUBLISHABLE_KEY).encode()
    for part in (date, "local", "s3", "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    signature = hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()
    del headers["host"]
    return {**headers, "Authorization": f"AWS4-HMAC-SHA256 Credential=stub/{scope}, SignedHeaders={names}, Signature={signature}"}


def send_s3(target: Target, connection: Connection, method: str, path: str, query: dict[str, str], body: bytes, token: str = ANON_TOKEN) -> tuple[int, bytes]:
    headers = sign_s3(method, path, query, body, f"127.0.0.1:{target.api}", token)
    text = "&".join(f"{name}={urllib.parse.quote(value)}" if value else name for name, value in query.items())
    return connection.send(method, f"{path}?{text}", body, **headers)


@attack("storage/xml-elements")
def xml_elements(target: Target) -> None:
    keys = "".join(f"<Object><Key>k{number}</Key></Object>" for number in range(1000))
    body = ("<Delete>" + keys + "<a/>" * ((4 * 1024 * 1024 - len(keys) - 100) // 4) + "</Delete>").encode()
    target.repeat(8, lambda connection, _: send_s3(target, connection, "POST", "/storage/v1/s3/files", {"delete": ""}, body)[0])


@attack("storage/unfinished-parts", seconds=8, stores=True)
def unfinished_parts(target: Target) -> None:
    user, token = target.user("parts")
    part = b"x" * 5_000_000

    def send(connection: Connection, number: int) -> int:
        path = f"/storage/v1/s3/files/{user}/{number}.bin"
        status, body = send_s3(target, connection, "POST", path, {"uploads": ""}, b"", token)
        if status != 200:
            return status
        upload = body.split(b"<UploadId>")[1].split(b"<")[0].decode()
        return send_s3(target, connection, "PUT", path, {"partNumber": "1", "uploadId": upload}, part, token)[0]

    target.repeat(4, send)


@attack("storage/unfinished-uploads", seconds=6)
def unfinished_uploads(target: Target) -> None:
    user, token = target.user("uploads")
    encode = lambda text: base64.b64encode(text.encode()).decode()  # noqa: E731

    def send(connection: Connection, number: int) -> int:
        metadata = f"bucketName {encode('files')},objectName {encode(f'{user}/{number}')}"
        return connection.send(
            "POST", "/storage/v1/upload/resumable", b"x" * 999, Tus_Resumable="1.0.0", Upload_Length="1000", Upload_Metadata=metadata,
            Content_Type="application/offset+octet-stream", Authorization=f"Bearer {token}",
        )[0]

    target.repeat(8, send)


attack("realtime/batch-over-http")(
    post(
        "/realtime/v1/api/broadcast",
        json.dumps({"messages": [{"topic": "t", "event": "e", "payload": {}}] * 50_000}).encode()[: 2_900_000],
        clients=4,
    )
)
attack("realtime/batches-of-500-private-topics")(
    post(
        "/realtime/v1/api/broadcast",
        json.dumps({"messages": [{"topic": f"t{n % 50}", "event": "e", "payload": {}, "private": True} for n in range(500)]}).encode(),
        clients=8,
    )
)
attack("meta/query-without-a-key")(post("/pg/query", b'{"query":"' + b"x" * 900_000 + b'"}', clients=8))


@attack("console/sign-ins", chosen=True)
def console_sign_ins(target: Target) -> None:
    def send(connection: Connection, number: int) -> int:
        name = f"{number}" + "a" * 3000
        return connection.send(
            "POST", "/api/session", json.dumps({"name": name, "password": "x"}).encode(), Content_Type="application/json",
            Sec_Fetch_Site="same-origin", X_Selvedge_Console="x",
        )[0]

    target.repeat(8, send, target.studio)


@attack("console/large-sign-ins")
def console_large_sign_ins(target: Target) -> None:
    body = b'{"name":"' + b"a" * 60_000_000 + b'","password":"x"}'

    def send(connection: Connection, _: int) -> int:
        return connection.send("POST", "/api/session", body, Content_Type="application/json", Sec_Fetch_Site="same-origin", X_Selvedge_Console="x")[0]

    target.repeat(4, send, target.studio)


@attack("server/unknown-paths", seconds=5)
def unknown_paths(target: Target) -> None:
    target.repeat(8, lambda connection, number: connection.send("GET", f"/no-such-page-{number}")[0])
