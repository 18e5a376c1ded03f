#!/usr/bin/env python3
"""Measures reads beside slow statements, beside ever new statements, and during changes of the schema.

  steady.py --config targets.json [--target NAME] [--shapes 100000] [--dur 3] [--reps 3]

Takes the targets.json of run.py (the target needs `pid`, the file `db` and `pg_pidfile`) and data of schema.sql.
Prints p99 of single rows alone and beside 8 clients of a function that takes a second; memory of the server and of
the connections in PostgreSQL before and after 100 000 distinct shapes of statements; and how long after its COMMIT a
new table is answered, while 8 clients read without pause a table that gains and loses columns. Needs wrk and psql."""

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from urllib.parse import urlsplit

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import run  # noqa: E402

SLOW_RATIO, KNOWN_MS, GROWTH = 2, 200, 1.2
PK_ID = run.uid("c0de", 2)


class Client:
    """One connection to the server that is kept open."""

    def __init__(self, cfg, target):
        url = urlsplit(target["base"])
        self.prefix = target.get("prefix", "")
        self.headers = {name: run.fill_placeholders(value, cfg) for name, value in target.get("headers", {}).items()}
        self.connection = http.client.HTTPConnection(url.hostname, url.port, timeout=30)

    def status(self, path, method="GET", body=None):
        headers = {**self.headers, **({"Content-Type": "application/json"} if body else {})}
        self.connection.request(method, self.prefix + path, body, headers)
        answer = self.connection.getresponse()
        answer.read()
        return answer.status


class RepeatingClients:
    """Clients that repeat one request without pause until the end; counts the responses by status."""

    def __init__(self, cfg, target, clients, *request):
        self.statuses, self.stop = {}, threading.Event()
        self.threads = [
            threading.Thread(target=self.work, args=(Client(cfg, target), request)) for _ in range(clients)
        ]

    def work(self, client, request):
        while not self.stop.is_set():
            status = client.status(*request)
            self.statuses[status] = self.statuses.get(status, 0) + 1

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join()


class OwnerSession:
    """A psql session of the database's owner, kept open so that a statement needs no new connection."""

    def __init__(self, db):
        self.psql = subprocess.Popen(
            ["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", db],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, sql):
        self.psql.stdin.write(f"{sql};\n\\echo done\n")
        self.psql.stdin.flush()
        answer = []
        while (line := self.psql.stdout.readline()).strip() != "done":
            if not line:
                sys.exit(f"psql refused: {sql}")
            answer.append(line.strip())
        return answer

    def close(self):
        self.psql.stdin.close()
        self.psql.wait()


def format_goal(value, limit, unit=""):
    return f"{value:.2f}{unit} (≤ {limit}{unit}{'' if value <= limit else ', missed'})"


def wait_for(client, path, wanted, method="GET", body=None):
    """Milliseconds until `path` responds with status `wanted`."""
    began = time.perf_counter()
    while client.status(path, method, body) != wanted:
        if time.perf_counter() - began > 30:
            sys.exit(f"{path} never answered {wanted}")
    return (time.perf_counter() - began) * 1e3


def measure_beside_slow(cfg, target, owner, args):
    owner.run(
        "create or replace function public.bench_second() returns int language sql volatile as $$ select 1 from pg_sleep(1) $$"
    )
    wait_for(Client(cfg, target), "/rpc/bench_second", 200, "POST", "{}")
    alone, beside = [], []
    for _ in range(args.reps):
        alone.append(run.wrk_once(cfg, target, "pk", 16, args.dur))
        with RepeatingClients(cfg, target, 8, "/rpc/bench_second", "POST", "{}") as slow:
            time.sleep(1)
            beside.append(run.wrk_once(cfg, target, "pk", 16, args.dur))
        if set(slow.statuses) != {200}:
            sys.exit(f"the slow function answered {slow.statuses}")
    owner.run("drop function public.bench_second()")
    failed = sum(result["err_status"] + result["err_sock"] for result in alone + beside)
    p99 = [statistics.median(result["p99_us"] / 1e3 for result in results) for results in (alone, beside)]
    print(
        f"p99 of one row: alone {p99[0]:.2f} ms, beside 8 clients of a 1 s function {p99[1]:.2f} ms: "
        f"{format_goal(p99[1] / p99[0], SLOW_RATIO, ' times')}, {failed} failed"
    )


def pg_memory_mb(owner):
    """Private memory of the server's connections in PostgreSQL: the largest in MB, and their number."""
    sizes = []
    for pid in owner.run(
        "select pid from pg_stat_activity where usename = 'authenticator' and backend_type = 'client backend'"
    ):
        try:
            private = [
                int(line.split()[1]) for line in open(f"/proc/{pid}/smaps_rollup") if line.startswith("Private_")
            ]
            sizes.append(sum(private) / 1024)
        except OSError:
            pass
    return (max(sizes) if sizes else 0.0), len(sizes)


def measure_shapes(cfg, target, owner, args):
    run.SEQ[0] = 0
    before = None
    began = time.perf_counter()
    while run.SEQ[0] < 2 * args.shapes:
        if run.wrk_once(cfg, target, "shapes", 16, args.dur)["err_status"]:
            sys.exit("a new shape was refused")
        # Everything that is loaded at the first use has been loaded by now.
        if before is None:
            before = (server_rss_mb(target["pid"]), *pg_memory_mb(owner))
    after = (server_rss_mb(target["pid"]), *pg_memory_mb(owner))
    print(
        f"{run.SEQ[0] // 2} distinct shapes, twice each, in {time.perf_counter() - began:.0f} s: "
        f"server {before[0]:.1f} → {after[0]:.1f} MB: {format_goal(after[0] / before[0], GROWTH, ' times')}; "
        f"largest of {after[2]} connections in PostgreSQL {before[1]:.1f} → {after[1]:.1f} MB: "
        f"{format_goal(after[1] / before[1], GROWTH, ' times')}"
    )


def server_rss_mb(pid):
    for line in open(f"/proc/{pid}/smaps_rollup"):
        if line.startswith("Rss:"):
            return int(line.split()[1]) / 1024
    return 0.0


def measure_schema_changes(cfg, target, owner, args):
    client, known, readers = Client(cfg, target), [], []
    # The readers run in wrk, a process of its own, so that they do not slow down the client that measures.
    read = {
        **target,
        "paths": {"read": f"{target.get('prefix', '')}/combines?select=*,likes(count)&id=eq.{PK_ID}"},
    }
    reading = threading.Thread(target=lambda: readers.append(run.wrk_once(cfg, read, "read", 8, 3 * args.dur)))
    reading.start()
    number = 0
    while reading.is_alive():
        number += 1
        owner.run(
            f"begin; create table public.bench_new_{number} (id int primary key); "
            f"grant select on public.bench_new_{number} to anon, authenticated, service_role; commit"
        )
        known.append(wait_for(client, f"/bench_new_{number}", 200))
        owner.run(f"alter table public.combines add column bench_new_{number} int")
        wait_for(client, f"/combines?select=bench_new_{number}&limit=1", 200)
        owner.run(
            f"alter table public.combines drop column bench_new_{number}; drop table public.bench_new_{number}"
        )
        time.sleep(0.3)
    reading.join()
    failed = readers[0]["err_status"] + readers[0]["err_sock"]
    print(
        f"a new table is answered {statistics.median(known):.0f} ms after its COMMIT (median of {len(known)}), at most "
        f"{format_goal(max(known), KNOWN_MS, ' ms')}; {readers[0]['requests']} reads of a table being altered meanwhile, {failed} failed"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", required=True)
    parser.add_argument("--target", default="selvedge")
    parser.add_argument("--shapes", type=int, default=100_000)
    parser.add_argument("--dur", type=int, default=3)
    parser.add_argument("--reps", type=int, default=3)
    args = parser.parse_args()
    cfg = json.load(open(args.config))
    target = next(target for target in cfg["targets"] if target["name"] == args.target)
    owner = OwnerSession(cfg["db"])
    try:
        for part in (measure_beside_slow, measure_schema_changes, measure_shapes):
            part(cfg, target, owner, args)
    finally:
        owner.close()


if __name__ == "__main__":
    main()
