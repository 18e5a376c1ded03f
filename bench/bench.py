#!/usr/bin/env python3
"""Benchmark of a release build against pgbench, on a database of its own.

  bench.py [--conc 1,16,64] [--reps 3] [--dur 3] [--workloads pk,list20,…] [--shapes 100000] [--keep] [--out FILE]

Starts `selvedge start` in a temporary project on free ports, loads schema.sql (5 000 outfits, 20 000 items, 50 000
likes), drives it with run.py next to pgbench running the same SQL (prepared; pipelined), and prints: the table, the
goals and whether they are met, the effect of slow statements, ever new statements and schema changes on reads
(steady.py), start-up times, memory, size of the binary. `pk_user`, `like_insert` and `rpc` rotate over the tokens of
100 users. Needs wrk, psql and pgbench (Debian: wrk, postgresql-15)."""
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
import run  # noqa: E402

SECRET = "super-secret-jwt-token-with-at-least-32-characters-long"


# Goals at 16 connections: CPU of our process in µs per request, and requests per second ÷ pgbench pipelined.
GOALS = {
    "pk": (35, 0.6), "pk_user": (35, 0.6), "list20": (40, 0.7), "embed_profile": (45, 0.7), "embed_count": (45, 0.7),
    "like_insert": (45, 0.75), "rpc": (35, 0.65), "list1000": (None, 1.0),
}
POSTGRES_RATIO, LIST_RATIO, TAIL_RATIO, MEMORY_MB = 1.25, 0.9, 4, 60


def count_server_alone(pid):
    """Makes run.py count this process without its children, as one of them is PostgreSQL, which is measured separately."""
    process_tree, process_tree_cpu = run.process_tree, run.process_tree_cpu
    run.process_tree = lambda root: [root] if root == pid else process_tree(root)
    run.process_tree_cpu = lambda root: run.process_stat(root)["cpu"] if root == pid else process_tree_cpu(root)


def run_driver(*arguments):
    """Runs run.py in this process."""
    sys.argv = ["run.py", *arguments]
    run.main()


def print_goals(results):
    """The goals, and whether the medians of the runs meet them."""
    found = {}
    for line in open(results):
        result = json.loads(line)
        if "error" not in result:
            found.setdefault((result["workload"], result["conc"], result["target"]), []).append(result)

    def median(workload, conc, target, key):
        values = sorted(result[key] for result in found.get((workload, conc, target), []))
        return values[len(values) // 2] if values else None

    def format_goal(value, limit, below=True):
        if value is None or limit is None:
            return "–" if value is None else f"{value:.2f}"
        met = value <= limit if below else value >= limit
        return f"{value:.2f} ({'≤' if below else '≥'} {limit}{'' if met else ', missed'})"

    print("| workload | CPU ours µs | rps ÷ pgbench | CPU PostgreSQL ÷ pgbench's | ours + PostgreSQL ÷ pgbench's PostgreSQL "
          "| p99 ÷ p50 at 64 | MB |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for workload, (cpu, ratio) in GOALS.items():
        ours = {key: median(workload, 16, "selvedge", key) for key in ("srv_us", "pg_us", "rps")}
        base = {key: median(workload, 16, "pgbench-pipe", key) for key in ("pg_us", "rps")}
        if None in ours.values() or None in base.values():
            continue
        p99, p50 = (median(workload, 64, "selvedge", key) for key in ("p99_us", "p50_us"))
        memory = max(r["rss_mb"] for (w, _, t), rs in found.items() if (w, t) == (workload, "selvedge") for r in rs)
        both = (ours["srv_us"] + ours["pg_us"]) / base["pg_us"]
        print("| " + " | ".join([
            workload, format_goal(ours["srv_us"], cpu), format_goal(ours["rps"] / base["rps"], ratio, below=False),
            format_goal(ours["pg_us"] / base["pg_us"], POSTGRES_RATIO),
            format_goal(both, LIST_RATIO if workload == "list1000" else None),
            format_goal(p99 / p50 if p50 else None, TAIL_RATIO), format_goal(memory, MEMORY_MB)]) + " |")


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def make_project(name, sections=""):
    """Makes a temporary project folder on free ports and returns it with the ports of the API and of PostgreSQL."""
    project = tempfile.mkdtemp(prefix=f"selvedge-{name}-")
    api, database, inbox = free_ports(3)
    open(os.path.join(project, "port"), "w").write(str(api))
    open(os.path.join(project, "config.toml"), "w").write(
        f'project_id = "{name}"\n[api]\nport = {api}\n[db]\nport = {database}\n[inbucket]\nport = {inbox}\n'
        f'[auth]\njwt_secret = "{SECRET}"\n{sections}'
    )
    return project, api, database


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
    parser.add_argument("--workloads", default=",".join(run.REST))
    parser.add_argument("--retries", type=int, default=1, help="of a run during which others used the machine")
    parser.add_argument("--shapes", type=int, default=100_000, help="distinct statements whose memory is measured")
    parser.add_argument("--keep", action="store_true", help="keep the project and its log")
    parser.add_argument("--out", help="append the raw results (JSON lines) to this file")
    args = parser.parse_args()
    missing = [tool for tool in ("wrk", "psql", "pgbench") if not shutil.which(tool)]
    if missing:
        sys.exit(f"missing: {', '.join(missing)} (Debian: apt-get install wrk postgresql-client postgresql-contrib)")

    # 64 connections of pgbench and those of the server's pools together are more than the default of 100.
    project, api, database = make_project("bench", "[db.settings]\nmax_connections = 200\n")
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
        run_driver("gen", "--secret", SECRET, "--out", jwt_dir)
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
                {"name": "selvedge", "base": f"http://127.0.0.1:{api}", "prefix": "/rest/v1", "port": api, "pid": server.pid,
                 "headers": {"apikey": "{anon}", "Authorization": "Bearer {anon}"}},
            ],
        }
        config = os.path.join(project, "targets.json")
        json.dump(targets, open(config, "w"))
        results = os.path.join(project, "results.jsonl")
        count_server_alone(server.pid)
        run_driver("run", "--config", config, "--out", results, "--workloads", args.workloads, "--conc", args.conc,
              "--dur", str(args.dur), "--reps", str(args.reps), "--retries", str(args.retries))
        loaded_mb = server_rss(server)
        print()
        run_driver("table", "--out", results, "--base", "pgbench-pipe")
        print("\nGoals at 16 connections:\n")
        print_goals(results)
        subprocess.run([sys.executable, os.path.join(HERE, "auth.py"), f"http://127.0.0.1:{api}", "--seconds", str(args.dur),
                        "--path", f"/rest/v1/combines?select=*&id=eq.{PK_ID}"], check=True, env={**os.environ, "SELVEDGE_JWT_SECRET": SECRET})
        print()
        subprocess.run([sys.executable, os.path.join(HERE, "steady.py"), "--config", config, "--dur", str(args.dur),
                        "--reps", str(args.reps), "--shapes", str(args.shapes)], check=True)
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
