#!/usr/bin/env python3
"""Benchmark of edge functions on a release build: calls per second of a running worker, our processor time for each, cold
starts, reads of a table beside calls that hang, and memory of fifty functions that nobody calls.

  functions.py [--binary FILE] [--deno FILE] [--dur 3] [--reps 3] [--conc 16]

Medians of the repetitions. Needs wrk, and Deno from e2e/node_modules unless --deno names another one."""
import argparse
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from bench import free_ports, server_rss, start, stop  # noqa: E402
from storage import cpu_seconds, wrk  # noqa: E402

FUNCTIONS = 50
HANGING_CALLS = 1000
HELLO = 'Deno.serve(() => new Response("hello"));\n'
NEVER = "Deno.serve(() => new Promise(() => {}));\n"
JSON = 'Deno.serve(async (req) => Response.json(await req.json()));\n'


def worker_pids(project, name):
    """Processes that run this function."""
    pattern = os.path.join(project, "functions", name, "index.ts")
    found = subprocess.run(["pgrep", "-f", pattern], capture_output=True, text=True).stdout
    return [int(pid) for pid in found.split()]


def call(url):
    """Milliseconds that a call takes."""
    began = time.perf_counter()
    with urllib.request.urlopen(url, timeout=60) as response:
        response.read()
    return (time.perf_counter() - began) * 1e3


def measure_warm(args, project, server, base, name, script=None):
    """Median calls per second, and microseconds of the server's and the worker's processor time for each."""
    call_or_post = f"{base}/{name}"
    wrk(call_or_post, args.conc, 1, script)
    runs = []
    for _ in range(args.reps):
        pids = worker_pids(project, name)
        before = cpu_seconds(server.pid), sum(map(cpu_seconds, pids))
        requests, seconds = wrk(call_or_post, args.conc, args.dur, script)
        ours = (cpu_seconds(server.pid) - before[0]) * 1e6 / requests
        theirs = (sum(map(cpu_seconds, pids)) - before[1]) * 1e6 / requests
        runs.append((requests / seconds, ours, theirs))
    return [statistics.median(column) for column in zip(*runs)]


def measure_cold(project, base):
    """Milliseconds of the first calls of functions that do not run yet."""
    call(f"{base}/cold-0")  # Deno itself comes into the page cache
    return [call(f"{base}/cold-{index}") for index in range(1, FUNCTIONS - 30)]


def read_latencies(args, url):
    """Median over the repetitions of p50 and p99 of reads of a row by its key, in milliseconds."""
    command = ["wrk", "-t1", "-c4", f"-d{args.dur}s", "--latency", url]
    runs = []
    for _ in range(args.reps):
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        if "Non-2xx" in text or "Socket errors" in text:
            sys.exit(text)
        found = {part: (float(value), unit) for part, value, unit in re.findall(r"(50|99)%\s+([\d.]+)(us|ms|s)", text)}
        scale = {"us": 1e-3, "ms": 1, "s": 1e3}
        runs.append([found[part][0] * scale[found[part][1]] for part in ("50", "99")])
    return [statistics.median(column) for column in zip(*runs)]


def measure_beside_hanging_calls(args, port):
    """p50 and p99 of reads without and with a thousand calls of a function that never answers."""
    row_url = f"http://127.0.0.1:{port}/rest/v1/notes?id=eq.7"
    read_latencies(args, row_url)  # plans and caches are warm afterwards
    alone = read_latencies(args, row_url)
    request = f"GET /functions/v1/never HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    hanging = []
    for _ in range(HANGING_CALLS):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.sendall(request)
        hanging.append(connection)
    time.sleep(2)
    beside = read_latencies(args, row_url)
    for connection in hanging:
        connection.close()
    return alone, beside


def make_project(project, ports):
    api, database, inbox = ports
    open(os.path.join(project, "port"), "w").write(str(api))
    sections = "".join(
        f"[functions.{name}]\nverify_jwt = false\n"
        for name in ["hello", "json", "never", *(f"cold-{index}" for index in range(FUNCTIONS - 2))]
    )
    open(os.path.join(project, "config.toml"), "w").write(
        f'project_id = "bench"\n[api]\nport = {api}\n[db]\nport = {database}\n[inbucket]\nport = {inbox}\n'
        f'{sections}[selvedge.functions]\nidle_timeout = "2s"\n'
    )
    codes = {"hello": HELLO, "json": JSON, "never": NEVER, **{f"cold-{index}": HELLO for index in range(FUNCTIONS - 2)}}
    for name, code in codes.items():
        folder = os.path.join(project, "functions", name)
        os.makedirs(folder)
        open(os.path.join(folder, "index.ts"), "w").write(code)
    os.makedirs(os.path.join(project, "migrations"))
    open(os.path.join(project, "migrations", "20260101000000_notes.sql"), "w").write(
        "create table public.notes (id int primary key, text text);\n"
        "insert into public.notes select i, 'note ' || i from generate_series(1, 1000) as i;\n"
        "grant select on public.notes to anon;\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(HERE, "..", "target", "release", "selvedge"))
    parser.add_argument("--deno")
    parser.add_argument("--dur", type=int, default=3)
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--conc", type=int, default=16)
    args = parser.parse_args()
    if args.deno:
        os.environ["SELVEDGE_FUNCTIONS_DENO"] = os.path.abspath(args.deno)
    modules = os.path.join(HERE, "..", "e2e", "node_modules", ".bin")
    os.environ["PATH"] = os.pathsep.join([os.path.abspath(modules), os.environ["PATH"]])
    project = tempfile.mkdtemp(prefix="selvedge-bench-")
    os.chmod(project, 0o755)
    ports = free_ports(3)
    make_project(project, ports)
    log = open(os.path.join(project, "server.log"), "w")
    server, _ = start(os.path.abspath(args.binary), project, log)
    try:
        run(args, project, server, ports[0])
    finally:
        if server.poll() is None:
            stop(server)
        shutil.rmtree(project, ignore_errors=True)


def run(args, project, server, port):
    base = f"http://127.0.0.1:{port}/functions/v1"
    alone = server_rss(server)
    script = os.path.join(project, "post.lua")
    open(script, "w").write('wrk.method = "POST"\nwrk.body = \'{"a": [1, 2, 3]}\'\n')
    print(f"{'function':<14}{'per second':>12}{'CPU µs, ours':>14}{'CPU µs, Deno':>14}")
    for name, body in [("hello", None), ("json", script)]:
        rate, ours, theirs = measure_warm(args, project, server, base, name, body)
        print(f"{name:<14}{rate:>12.0f}{ours:>14.0f}{theirs:>14.0f}")
    cold = measure_cold(project, base)
    print(f"\ncold start: median {statistics.median(cold):.0f} ms, slowest of {len(cold)} {max(cold):.0f} ms")
    time.sleep(4)
    left = sum(len(worker_pids(project, name)) for name in os.listdir(os.path.join(project, "functions")))
    grown = server_rss(server) - alone
    print(f"{FUNCTIONS} idle functions: {left} processes of Deno, {grown:.1f} MB more of ours than before the first call")
    alone_ms, beside_ms = measure_beside_hanging_calls(args, port)
    print(
        f"reads beside {HANGING_CALLS} calls that hang: p50 {beside_ms[0]:.2f} ms (alone {alone_ms[0]:.2f}), "
        f"p99 {beside_ms[1]:.2f} ms (alone {alone_ms[1]:.2f}), {beside_ms[1] / alone_ms[1]:.2f} times"
    )


if __name__ == "__main__":
    main()
