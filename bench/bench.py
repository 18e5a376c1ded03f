#!/usr/bin/env python3
"""Benchmark of a release build against pgbench, on a database of its own.

  bench.py [--conc 1,16,64] [--reps 3] [--dur 3] [--workloads pk,list20,…] [--keep] [--out FILE]

Starts `selvedge start` in a temporary project on free ports, loads schema.sql (5 000 outfits, 20 000 items, 50 000
likes), drives it with run.py next to pgbench running the same SQL (prepared; pipelined), and prints: the table,
start-up times, memory, size of the binary. Needs wrk, psql and pgbench (Debian: wrk, postgresql-15)."""
import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from run import REST  # noqa: E402

SECRET = "super-secret-jwt-token-with-at-least-32-characters-long"


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def start(binary, project, log):
    """Starts the server and returns it with the milliseconds to its first answer."""
    port = int(open(os.path.join(project, "port")).read())
    began = time.perf_counter()
    server = subprocess.Popen([binary, "start", "--project", project], stdout=log, stderr=log, start_new_session=True)
    while True:
        if server.poll() is not None:
            sys.exit(f"the server ended with {server.returncode}; see {log.name}")
        if time.perf_counter() - began > 120:
            sys.exit(f"no answer within 120 s; see {log.name}")
        try:
            # An unknown table answers 404 from the catalog: the REST service is up.
            urllib.request.urlopen(f"http://127.0.0.1:{port}/rest/v1/", timeout=2).read()
            break
        except OSError:
            time.sleep(0.005)
    return server, (time.perf_counter() - began) * 1e3


def stop(server):
    server.send_signal(signal.SIGTERM)
    server.wait(60)


# One row of schema.sql, which everybody may see.
PK_ID = "3c6ef362-c0de-4000-8000-000000000002"


def server_rss(server):
    """Memory of the server process without its PostgreSQL, which is a child of it."""
    for line in open(f"/proc/{server.pid}/smaps_rollup"):
        if line.startswith("Rss:"):
            return int(line.split()[1]) / 1024
    return 0.0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(HERE, "..", "target", "release", "selvedge"))
    parser.add_argument("--conc", default="1,16,64")
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--dur", type=int, default=3)
    parser.add_argument("--workloads", default=",".join(REST))
    parser.add_argument("--keep", action="store_true", help="keep the project and its log")
    parser.add_argument("--out", help="append the raw results (JSON lines) to this file")
    args = parser.parse_args()
    missing = [tool for tool in ("wrk", "psql", "pgbench") if not shutil.which(tool)]
    if missing:
        sys.exit(f"missing: {', '.join(missing)} (Debian: apt-get install wrk postgresql-client postgresql-contrib)")

    project = tempfile.mkdtemp(prefix="selvedge-bench-")
    api, database, inbox = free_ports(3)
    open(os.path.join(project, "port"), "w").write(str(api))
    open(os.path.join(project, "config.toml"), "w").write(
        f'project_id = "bench"\n[api]\nport = {api}\n[db]\nport = {database}\n[inbucket]\nport = {inbox}\n'
        f'[auth]\njwt_secret = "{SECRET}"\n'
    )
    log = open(os.path.join(project, "server.log"), "w")
    binary = os.path.abspath(args.binary)
    server, first_ms = start(binary, project, log)
    try:
        time.sleep(3)
        idle_mb = server_rss(server)
        stop(server)
        server, later_ms = start(binary, project, log)
        url = f"postgresql://postgres:postgres@127.0.0.1:{database}/postgres"
        subprocess.run(["psql", "-q", url, "-f", os.path.join(HERE, "schema.sql")], check=True)
        jwt_dir = os.path.join(project, "jwt")
        run = [sys.executable, os.path.join(HERE, "run.py")]
        subprocess.run([*run, "gen", "--secret", SECRET, "--out", jwt_dir], check=True)
        data = subprocess.run(
            ["psql", "-qAt", url, "-c", "show data_directory"], check=True, capture_output=True, text=True
        ).stdout.strip()
        os.environ["PGPASSWORD"] = "postgres"
        conninfo = f"-h 127.0.0.1 -p {database} -U authenticator"
        targets = {
            "pg_pidfile": os.path.join(data, "postmaster.pid"),
            "jwt_dir": jwt_dir,
            "db": url,
            "targets": [
                {"name": "pgbench", "kind": "pgbench", "conninfo": conninfo, "dbname": "postgres"},
                {"name": "pgbench-pipe", "kind": "pgbench", "conninfo": conninfo, "dbname": "postgres", "pipeline": True},
                # PostgreSQL is a child of the server: `pid` and `solo` would count it twice, so run.py is told the pid
                # of the server and measures that process alone.
                {"name": "selvedge", "base": f"http://127.0.0.1:{api}", "prefix": "/rest/v1", "port": api, "pid": server.pid,
                 "solo": True, "headers": {"apikey": "{anon}", "Authorization": "Bearer {anon}"}},
            ],
        }
        config = os.path.join(project, "targets.json")
        json.dump(targets, open(config, "w"))
        results = os.path.join(project, "results.jsonl")
        subprocess.run([*run, "run", "--config", config, "--out", results, "--workloads", args.workloads, "--conc", args.conc,
                        "--dur", str(args.dur), "--reps", str(args.reps)], check=True)
        loaded_mb = server_rss(server)
        print()
        subprocess.run([*run, "table", "--out", results, "--base", "pgbench-pipe"], check=True)
        subprocess.run([sys.executable, os.path.join(HERE, "auth.py"), f"http://127.0.0.1:{api}", "--seconds", str(args.dur),
                        "--path", f"/rest/v1/combines?select=*&id=eq.{PK_ID}"], check=True, env={**os.environ, "SELVEDGE_JWT_SECRET": SECRET})
        print(f"\nfirst start {first_ms:.0f} ms, later start {later_ms:.0f} ms (from exec to the first answer)")
        print(f"server process: idle {idle_mb:.1f} MB, after the load {loaded_mb:.1f} MB resident")
        print(f"binary: {os.path.getsize(binary) / 1e6:.1f} MB")
        if args.out:
            open(args.out, "a").write(open(results).read())
    finally:
        if server.poll() is None:
            stop(server)
        if args.keep:
            print(f"kept: {project}")
        else:
            shutil.rmtree(project, ignore_errors=True)


if __name__ == "__main__":
    main()
