"""Every message of Realtime at its worst: topics, joins, presence, frames that end never or are not read, and filters."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

from client import Socket, Target, encode_frame

from . import attack
from .connections import allow_descriptors


def with_sockets(target: Target, count: int, act: Callable[[Socket, int], object]) -> None:
    """Opens so many sockets one after the other, does the same on each, and keeps them until the end."""
    allow_descriptors()
    held = []
    for number in range(count):
        if target.is_over():
            break
        try:
            one = Socket(target.api)
            held.append(one)
            target.note(act(one, number))
        except (OSError, ValueError, IndexError) as error:
            target.note(f"{type(error).__name__} {error}"[:48])
    while not target.is_over():
        time.sleep(0.05)
    for one in held:
        one.close()


def again_and_again(target: Target, act: Callable[[Socket, int], object]) -> None:
    """One socket after the other until the end, which repeats the same."""
    number = 0
    while not target.is_over():
        try:
            one = Socket(target.api)
            while not target.is_over():
                number += 1
                target.note(act(one, number))
        except (OSError, ValueError, IndexError) as error:
            target.note(f"{type(error).__name__} {error}"[:48])
            time.sleep(0.02)


@attack("realtime/long-topics", seconds=6)
def long_topics(target: Target) -> None:
    again_and_again(target, lambda one, number: one.join(f"{number}" + "x" * 4_800_000, {}))


@attack("realtime/topics-of-longest-length", seconds=6)
def longest_topics(target: Target) -> None:
    def act(one: Socket, number: int) -> str:
        for index in range(90):
            status = one.join(f"{number}-{index}-" + "x" * 200, {})
        return status

    with_sockets(target, 200, act)


@attack("realtime/presence", seconds=8, chosen=True)
def presence(target: Target) -> None:
    def act(one: Socket, number: int) -> str:
        for index in range(20):
            one.join(f"p{number}-{index}", {"presence": {"enabled": True, "key": "k"}})
            one.send(f"realtime:p{number}-{index}", "presence", {"type": "presence", "event": "track", "payload": {"x": "y" * 2_900_000}})
        return "tracked"

    with_sockets(target, 20, act)


@attack("realtime/presence-of-arrays", seconds=6)
def presence_of_arrays(target: Target) -> None:
    def act(one: Socket, number: int) -> str:
        one.join(f"q{number}", {"presence": {"enabled": True, "key": "k"}})
        one.send(f"realtime:q{number}", "presence", {"type": "presence", "event": "track", "payload": {"x": [[]] * 700_000}})
        return "tracked"

    with_sockets(target, 100, act)


@attack("realtime/one-room", seconds=8)
def one_room(target: Target) -> None:
    """Messages of 1 MB in a room of 100 sockets that read nothing."""

    def act(one: Socket, number: int) -> str:
        one.join("room", {"broadcast": {"self": True}})
        return "joined"

    allow_descriptors()
    members = [Socket(target.api, receive_buffer=4096) for _ in range(100)]
    for number, one in enumerate(members):
        target.note(act(one, number))

    def send(one: Socket, _: int) -> str:
        one.join("room", {})
        for _ in range(50):
            one.send("realtime:room", "broadcast", {"type": "broadcast", "event": "e", "payload": {"x": "y" * 1_000_000}})
        return "sent"

    again_and_again(target, send)


@attack("realtime/unfinished-frames", seconds=6, chosen=True)
def unfinished_frames(target: Target) -> None:
    def act(one: Socket, _: int) -> str:
        one.raw.sendall(encode_frame(1, b"x" * 4_900_000)[:-10_000])
        return "held"

    with_sockets(target, 200, act)


@attack("realtime/unfinished-small-frames", seconds=6)
def unfinished_small_frames(target: Target) -> None:
    """Messages just below the size from which larger ones are counted."""

    def act(one: Socket, _: int) -> str:
        one.raw.sendall(encode_frame(1, b"x" * 65_000)[:-1_000])
        return "held"

    with_sockets(target, 4000, act)


@attack("realtime/unread-answers", seconds=8)
def unread_answers(target: Target) -> None:
    def act(one: Socket, _: int) -> str:
        one.raw.settimeout(1)
        message = {"topic": "realtime:nope" + "x" * 200, "event": "e", "payload": {}, "ref": "r" * 200, "join_ref": "1"}
        for _ in range(2000):
            one.raw.sendall(encode_frame(1, json.dumps(message).encode()))
        return "sent"

    with_sockets(target, 200, act)


@attack("realtime/refused-joins", seconds=5, chosen=True)
def refused_joins(target: Target) -> None:
    again_and_again(target, lambda one, number: one.join(f"{number}" + "x" * 200, {"private": True, "postgres_changes": "wrong" * 1000}))


@attack("realtime/frames-that-are-no-json", seconds=5)
def no_json(target: Target) -> None:
    def act(one: Socket, _: int) -> str:
        one.raw.sendall(encode_frame(1, b"[" * 4_900_000))
        return str(one.receive(5))[:30]

    again_and_again(target, act)


def bindings(count: int, filter_of: Callable[[int], str]) -> dict:
    return {"postgres_changes": [{"event": "*", "schema": "public", "table": "filtered", "filter": filter_of(number)} for number in range(count)]}


@attack("realtime/many-bindings", seconds=8, chosen=True)
def many_bindings(target: Target) -> None:
    again_and_again(target, lambda one, number: one.join(f"b{number}", bindings(40_000, lambda index: f"body=neq.{index}")))


@attack("realtime/bindings-of-many-channels", seconds=10)
def bindings_of_channels(target: Target) -> None:
    """As many as are allowed, and a change for each of which they are all evaluated."""
    connection = target.connect()

    def act(one: Socket, number: int) -> str:
        status = ""
        for channel in range(10):
            status = one.join(f"c{number}-{channel}", bindings(100, lambda index: f"body=neq.{number}-{channel}-{index}"))
            connection.json("POST", "/rest/v1/filtered", {"body": "x"})
        return status

    with_sockets(target, 30, act)


@attack("realtime/slow-filters", seconds=10)
def slow_filters(target: Target) -> None:
    """Filters that take seconds for a long text, and such texts."""
    slow = r"body=match.^(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.+)\8$"
    sockets = [Socket(target.api) for _ in range(5)]
    for number, one in enumerate(sockets):
        target.note(one.join(f"slow-{number}", bindings(1, lambda _: slow)))
    text = "The quick brown fox jumps over the lazy dog"
    target.repeat(2, lambda connection, _: connection.json("POST", "/rest/v1/filtered", {"body": text})[0])


@attack("realtime/filters-that-compile-slowly", seconds=6)
def slow_to_compile(target: Target) -> None:
    again_and_again(target, lambda one, number: one.join(f"r{number}", bindings(10, lambda index: f"body=match.((x{{1,200}}){{1,200}}){{1,{index + 100}}}")))


@attack("realtime/large-changes", seconds=8)
def large_changes(target: Target) -> None:
    """Rows of 8 MB in a published table, with ten readers that read nothing."""
    for number in range(10):
        one = Socket(target.api, receive_buffer=4096)
        target.note(one.join(f"l{number}", {"postgres_changes": [{"event": "*", "schema": "public", "table": "filtered"}]}))
    body = b'{"body":"' + b"x" * 8_000_000 + b'"}'
    target.repeat(2, lambda connection, _: connection.send("POST", "/rest/v1/filtered", body, Content_Type="application/json")[0])


@attack("realtime/tokens", seconds=5)
def tokens(target: Target) -> None:
    def act(one: Socket, number: int) -> str:
        one.send(f"realtime:t{number}", "phx_join", {"config": {}, "access_token": "e30." * 200_000})
        return str(one.receive(5))[:30]

    again_and_again(target, act)
