#!/usr/bin/env python3
"""Benchmark of the console on a release build: pages of a table with ten million rows beside the same SQL by psql, the
catalog of 500 tables, a million users, reads of the API beside an open overview and a running export, the start with and
without the console, its share of the binary, and (with Chromium) scrolling, screens and memory of the page. Each result names
the goal of the console's contract (CONSOLE-151 to 155).

  console.py [--binary FILE] [--reps 5] [--dur 5] [--scroll 60] [--no-browser]

Medians of the repetitions. Needs psql and wrk, about 3 GB of disk, and Chromium for the part in the browser."""
import argparse
import functools
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from bench import free_ports, server_rss, start, stop  # noqa: E402
from functions import read_latencies  # noqa: E402

# What an open overview asks for, and after how many seconds again.
OVERVIEW = [("/api/catalog", 1), ("/api/series", 1), ("/api/slow-queries?order=total", 15), ("/api/advisors", 30), ("/api/sizes", 30)]
STARTS = 7
# The console refuses more than 50 requests a second of one session.
PAUSE_SECONDS = 0.025


class Console:
    """Requests to the console's own API."""

    def __init__(self, port):
        self.base = f"http://127.0.0.1:{port}"

    def open(self, path, body=None, **headers):
        data = None if body is None else json.dumps(body).encode()
        given = {"x-selvedge-console": "1", "origin": self.base, "sec-fetch-site": "same-origin", "content-type": "application/json", **headers}
        return urllib.request.urlopen(urllib.request.Request(self.base + path, data, given), timeout=120)

    def request(self, path, body=None):
        with self.open(path, body) as response:
            return json.load(response)

    def time(self, args, path, body=None):
        """Median milliseconds of a request, and its last answer."""
        runs = []
        for _ in range(args.reps):
            time.sleep(PAUSE_SECONDS)
            began = time.perf_counter()
            answer = self.request(path, body)
            runs.append((time.perf_counter() - began) * 1e3)
        return statistics.median(runs), answer


def time_statement(args, url, sql):
    """Median milliseconds of a statement by psql, as it reports them."""
    command = ["psql", "-qAt", url, "-c", "\\timing on", *["-c", sql] * (args.reps + 1)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    times = [float(line.split()[1]) for line in output.splitlines() if line.startswith("Time: ")]
    return statistics.median(times[1:])


def print_page(args, console, url, name, body):
    """A page beside its SQL; the goal is 1.5 times the SQL's own time and 20 ms."""
    console.request("/api/rows/read", body)
    ours, answer = console.time(args, "/api/rows/read", body)
    sql = time_statement(args, url, answer["sql"])
    goal = 1.5 * sql + 20
    print(f"{name:<34}{ours:>9.1f} ms{sql:>9.1f} ms{goal:>9.1f} ms{'' if ours <= goal else '  missed'}")
    return answer


def measure_rows(args, console, url, catalog):
    tables = catalog["tables"]
    oid_of = {f"{schema}.{name}": oid for oid, schema, name in zip(tables["oid"], tables["schema"], tables["name"])}
    events, users = oid_of["public.events"], oid_of["auth.users"]
    print(f"{'page of 100 rows':<34}{'console':>12}{'psql':>12}{'goal':>12}")

    def read(name, table, sort=(), filters=(), **cursor):
        keys = [{"column": column, "descending": descending, "nulls_first": False} for column, descending in sort]
        conditions = [dict(zip(("column", "operator", "value"), each)) for each in filters]
        return print_page(args, console, url, name, {"table": table, "filters": conditions, "sort": keys, "limit": 100, **cursor})

    answer = read("10 M rows, first", events)
    for _ in range(50):
        time.sleep(PAUSE_SECONDS)
        answer = console.request("/api/rows/read", {"table": events, "filters": [], "sort": [], "limit": 100, "after": answer["next"]})
    read("10 M rows, the 52nd", events, after=answer["next"])
    read("10 M rows, last", events, end=True)
    read("10 M rows, sorted without index", events, sort=[("amount", True)])
    read("10 M rows, filtered without index", events, filters=[("note", "eq", "note 9000000")])
    read("1 M users, newest", users, sort=[("created_at", True)])
    read("1 M users, by address", users, filters=[("email", "eq", "user765432@example.com")])
    read("1 M users, by phone", users, filters=[("phone", "eq", "4915100765432")])


def measure_catalog(args, console):
    elapsed, _ = console.time(args, "/api/catalog")
    with console.open("/api/catalog", **{"accept-encoding": "br"}) as response:
        sent, encoding = len(response.read()), response.headers.get("content-encoding")
    print(f"\nCONSOLE-153 catalog of 500 tables × 50 columns: {elapsed:.0f} ms uncompressed, {sent / 1e3:.0f} kB as {encoding} (goals 500 ms, 200 kB)")
    runs = []
    for _ in range(args.reps):
        began = time.perf_counter()
        console.open("/api/catalog", **{"accept-encoding": "br"}).read()
        runs.append((time.perf_counter() - began) * 1e3)
    print(f"CONSOLE-153 catalog as it is sent to browsers: {statistics.median(runs):.0f} ms")


def keep_exporting(console, table, ended):
    """Downloads all rows of a table as CSV, again and again. This thread has the lowest priority, because the browser that takes a
    download runs on another machine than the API, or is not what the API is measured for."""
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)
    body = {"table": table, "filters": [], "sort": [], "format": "csv"}
    while not ended.is_set():
        ticket = console.request("/api/rows/export", body)["ticket"]
        with console.open(f"/api/rows/export/{ticket}") as download:
            while not ended.is_set() and download.read(1 << 16):
                pass


def ask_again(console, path, etag):
    """Asks as a browser does that knows the answer with this ETag, and returns the ETag of what it knows now."""
    headers = {"accept-encoding": "br"} if etag is None else {"accept-encoding": "br", "if-none-match": etag}
    try:
        with console.open(path, **headers) as response:
            response.read()
            return response.headers.get("etag")
    except urllib.error.HTTPError as error:
        if error.code != 304:
            raise
        return etag


def keep_overview_open(console, ended):
    """Asks for what an open overview asks for, as often as it does. Each run begins at a random moment between two requests, because
    an overview that was opened long ago is measured, and not one that asks for everything at once."""
    due = {path: time.monotonic() + random.uniform(0, seconds) for path, seconds in OVERVIEW}
    known = {}
    while not ended.wait(0.1):
        for path, seconds in OVERVIEW:
            if time.monotonic() >= due[path]:
                due[path] += seconds
                known[path] = ask_again(console, path, known.get(path))


def measure_api_beside(args, row_url, name, *work):
    """CONSOLE-155: reads of the API alone and beside the console's work, in turn, so that a drift of the machine meets both. Each run
    is compared with the one alone before it, also the next one alone, which shows how much the machine itself varies.
    Each work is a function that goes on until its event is set."""
    one_run = argparse.Namespace(dur=args.dur, reps=1)

    def run_beside():
        ended = threading.Event()
        threads = [threading.Thread(target=each, args=(ended,)) for each in work]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        latencies = read_latencies(one_run, row_url)
        ended.set()
        for thread in threads:
            thread.join()
        return latencies

    read_latencies(one_run, row_url)
    alone, beside = [read_latencies(one_run, row_url)], []
    for _ in range(args.reps):
        beside.append(run_beside())
        alone.append(read_latencies(one_run, row_url))
    (p50, p99), (p50_beside, p99_beside) = [[statistics.median(column) for column in zip(*runs)] for runs in (alone, beside)]
    slower = [run[1] / before[1] for run, before in zip(beside, alone)]
    noise = [after[1] / before[1] for after, before in zip(alone[1:], alone)]
    print(
        f"CONSOLE-155 API beside {name}: p50 {p50_beside:.3f} ms (alone {p50:.3f}), p99 {p99_beside:.3f} ms (alone {p99:.3f}); "
        f"p99 is {statistics.median(slower):.2f} times the run alone before it (goal 1.03), "
        f"and the next run alone {min(noise):.2f} to {max(noise):.2f} times"
    )


def measure_size(binary):
    """CONSOLE-155: what the embedded page adds to the binary. It is stripped, so the server half's code cannot be told apart."""
    dist = os.path.join(HERE, "..", "console", "dist")
    sizes = {os.path.join(folder, name): os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(dist) for name in names}
    # As crates/console/build.rs takes them: the compressed form where there is one.
    page = sum(sizes.get(f"{name}.br", size) for name, size in sizes.items() if not name.endswith((".br", ".gz", ".map")))
    print(f"CONSOLE-155 the page is {page / 1e6:.2f} MB of the binary's {os.path.getsize(binary) / 1e6:.1f} MB (goal 2 MB with the server half)")


def measure_starts(binary, project):
    """Medians of later starts with and without the console, alternating."""
    config = os.path.join(project, "config.toml")
    text = open(config).read()
    runs = {"true": [], "false": []}
    for _ in range(STARTS):
        for enabled, times in runs.items():
            open(config, "w").write(text.replace("enabled = true", f"enabled = {enabled}"))
            server, elapsed = start(binary, project, open(os.path.join(project, "server.log"), "a"))
            times.append(elapsed)
            stop(server)
    open(config, "w").write(text)
    with_console, without = (statistics.median(runs[enabled]) for enabled in ("true", "false"))
    print(f"CONSOLE-155 start: {with_console:.0f} ms with the console, {without:.0f} ms without (goal +5 ms)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(HERE, "..", "target", "release", "selvedge"))
    parser.add_argument("--reps", type=int, default=5)
    parser.add_argument("--dur", type=int, default=5, help="seconds of each run of wrk")
    parser.add_argument("--scroll", type=int, default=60, help="seconds of scrolling")
    parser.add_argument("--no-browser", action="store_true")
    args = parser.parse_args()
    binary = os.path.abspath(args.binary)
    project = tempfile.mkdtemp(prefix="selvedge-bench-")
    os.chmod(project, 0o755)
    api, database, inbox, studio = free_ports(4)
    open(os.path.join(project, "port"), "w").write(str(api))
    open(os.path.join(project, "config.toml"), "w").write(
        f'project_id = "bench"\n[api]\nport = {api}\n[db]\nport = {database}\n[inbucket]\nport = {inbox}\n'
        f"[studio]\nenabled = true\nport = {studio}\n"
    )
    server, _ = start(binary, project, open(os.path.join(project, "server.log"), "w"))
    try:
        url = f"postgresql://postgres:postgres@127.0.0.1:{database}/postgres"
        subprocess.run(["psql", "-q", url, "-v", "ON_ERROR_STOP=1", "-f", os.path.join(HERE, "console", "fixtures.sql")], check=True)
        time.sleep(10)  # the checkpoint after so much data
        run(args, server, url, Console(studio), f"http://127.0.0.1:{api}/rest/v1")
        stop(server)
        measure_starts(binary, project)
        measure_size(binary)
    finally:
        if server.poll() is None:
            stop(server)
        shutil.rmtree(project, ignore_errors=True)


def run(args, server, url, console, rest_url):
    catalog = console.request("/api/catalog")
    measure_rows(args, console, url, catalog)
    measure_catalog(args, console)
    events = catalog["tables"]["oid"][catalog["tables"]["name"].index("events")]
    overview = functools.partial(keep_overview_open, console)
    export = functools.partial(keep_exporting, console, events)
    measure_api_beside(args, f"{rest_url}/events?id=eq.7", "an open overview", overview)
    measure_api_beside(args, f"{rest_url}/events?id=eq.7", "an open overview and an export", overview, export)
    print(f"server process: {server_rss(server):.1f} MB resident")
    if not args.no_browser:
        modules = os.path.join(HERE, "..", "e2e")
        command = ["node", os.path.join(HERE, "console", "browser.mjs"), console.base, rest_url, str(args.scroll)]
        subprocess.run(command, check=True, cwd=modules)


if __name__ == "__main__":
    main()
