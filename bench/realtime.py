#!/usr/bin/env python3
"""Benchmark of /realtime/v1 of a release build, with the load driver in bench/realtime.

  realtime.py [--binary FILE] [--driver FILE] [--reps 3] [--seconds 10] [--only fanout,rights,…]

Starts `selvedge start` in a temporary project, runs every scenario, each time on a server that was just started, and
prints the medians next to the goals. The driver runs on the same cores as the server: CPU times are the server's own, while
rates and latencies also depend on what else the machine does. REST reads beside the broadcasts need wrk."""
import argparse
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import run  # noqa: E402
from bench import SECRET, free_ports, start, stop  # noqa: E402

# Open files of the server, and as many of the driver: one for each of 10 000 sockets, and some.
OPEN_FILES = 10_500
TABLE = """
create table public.bench_changes (
  id bigint generated always as identity primary key, owner uuid not null, t bigint not null);
alter table public.bench_changes enable row level security;
create policy "owners see their rows" on public.bench_changes for select to authenticated using (owner = auth.uid());
grant select on public.bench_changes to authenticated;
alter publication supabase_realtime add table public.bench_changes;
create table public.bench_documents (
  id bigint generated always as identity primary key, owner uuid not null, body text not null);
grant select on public.bench_documents to authenticated;
alter publication supabase_realtime add table public.bench_documents;
create table public.bench_rows (id int primary key, name text not null);
insert into public.bench_rows select n, 'row ' || n from generate_series(1, 1000) n;
grant select on public.bench_rows to anon;
"""
# Name, arguments of the driver, and the goals: what is measured, the figure, its unit, the limit, whether it is an upper one.
HALF_LOAD = ["fanout", "--rate", "100"]
SCENARIOS = {
    "fanout": (["fanout"], [
        ("CPU of a delivered broadcast, 1 → 1 000 sockets, 100 bytes, as fast as acknowledged", "cpu_us", "µs", 5, True),
        ("deliveries", "delivered_per_s", "/s", None, True), ("of the messages sent", "delivered", "", 1, False)]),
    "half": (HALF_LOAD, [
        ("CPU of a delivery at 100 000 per second", "cpu_us", "µs", None, True),
        ("p99 of delivery at 100 000 per second", "p99_ms", "ms", 25, True)]),
    "large": (["fanout", "--members", "200", "--payload", "1000000", "--rate", "1"], [
        ("memory of each of 200 sockets after broadcasts of 1 MB", "kb_each", "kB", None, True)]),
    "channels": (["channels", "--rate", "8"], [
        ("100 channels × 100 members, 10 senders each: slowest ÷ median, mean latency", "slowest_over_median", "", 3, True),
        ("the same, messages of the median ÷ of the one with the fewest", "median_over_fewest", "", 3, True),
        ("CPU of a delivery there", "cpu_us", "µs", None, True)]),
    "joins": (["joins", "--sockets", "5000"], [
        ("storm of 5 000 joins", "seconds", "s", 5, True), ("CPU of a join", "cpu_us", "µs", 300, True)]),
    "idle": (["joins", "--sockets", "10000"], [
        ("memory of an idle joined socket of 10 000", "kb_each", "kB", 10, True)]),
    "presence": (["presence"], [
        ("presence, 1 000 members, 50 joins and leaves per second: p99 of the diff", "p99_ms", "ms", 250, True),
        ("the same, cores", "cores", "", 1, True)]),
    "latency": (["latency"], [
        ("commit → client, 1 subscriber: p50", "commit_p50_ms", "ms", 5, True),
        ("the same, p99", "commit_p99_ms", "ms", 25, True),
        ("insert → client: p50", "insert_p50_ms", "ms", None, True)]),
    "subscribers": (["latency", "--subscribers", "1000"], [
        ("the same with 1 000 subscribers of each row: p50 of one", "commit_p50_ms", "ms", 10, True),
        ("insert → client there, of all subscribers: p50", "all_p50_ms", "ms", None, True),
        ("the same, p99", "all_p99_ms", "ms", None, True)]),
    "transaction": (["transaction"], [
        ("transaction of 1 000 000 rows to one subscriber", "seconds", "s", None, True),
        ("the same, delivered", "delivered", "", 1_000_000, False),
        ("the same, most memory above that of the idle server", "peak_mb", "MB", 100, True),
        ("the same, memory that is left", "left_mb", "MB", 50, True)]),
    "large-row": (["large-row"], [
        ("row of 50 MB to one subscriber, most memory above that of the idle server", "peak_mb", "MB", None, True),
        ("the same, memory that is left", "left_mb", "MB", 50, True)]),
    "half-open": (["half-open"], [
        ("10 000 half-open connections: all closed after", "closed_after_s", "s", 90, True),
        ("the same, slowest acknowledgement of a broadcast to them", "slowest_ack_ms", "ms", None, True),
        ("the same, most memory above that of the idle server", "peak_mb", "MB", None, True),
        ("the same, memory that is left", "left_mb", "MB", 50, True)]),
    "rights": (["rights"], [
        ("1 000 changes/s × 1 000 subscribers of 100 identities: p99 from the insert", "p99_ms", "ms", 250, True),
        ("changes of others delivered", "foreign", "", 0, True), ("delivered ÷ visible", "complete", "", 1, False),
        ("changes per second", "changes_per_s", "/s", None, True), ("the same, cores", "cores", "", None, True)]),
}
REST_GOAL = ("p99 of REST reads beside 100 000 deliveries per second ÷ without", "", 2)


def write_identities(path):
    """100 users and their tokens, one in each line."""
    claims = {"aud": "authenticated", "role": "authenticated", "iss": "http://127.0.0.1/auth/v1", "exp": 2051222400}
    with open(path, "w") as file:
        for index in range(100):
            sub = run.uid("0052", 1501 + index)
            file.write(f"{sub} {run.jwt({**claims, 'sub': sub}, SECRET)}\n")


class Bench:
    """A project whose server is started anew for every measurement."""

    def __init__(self, binary, driver, seconds):
        self.binary, self.driver, self.seconds = os.path.abspath(binary), os.path.abspath(driver), seconds
        self.project = tempfile.mkdtemp(prefix="selvedge-bench-")
        self.port, self.db, inbox = free_ports(3)
        self.url = f"postgresql://postgres:postgres@127.0.0.1:{self.db}/postgres"
        self.identities = os.path.join(self.project, "identities")
        self.log = open(os.path.join(self.project, "server.log"), "w")
        self.key = run.jwt({"role": "anon", "iss": "supabase", "exp": 2051222400}, SECRET)
        open(os.path.join(self.project, "port"), "w").write(str(self.port))
        open(os.path.join(self.project, "config.toml"), "w").write(
            f'project_id = "bench"\n[api]\nport = {self.port}\n[db]\nport = {self.db}\n[inbucket]\nport = {inbox}\n'
            f'[auth]\njwt_secret = "{SECRET}"\n[realtime]\nmax_sockets = 0\nmax_bindings_per_address = 0\n[selvedge.limits]\nconnections_per_address = 0\n')
        write_identities(self.identities)

    def serve(self):
        return start(self.binary, self.project, self.log)[0]

    def make_tables(self):
        server = self.serve()
        subprocess.run(["psql", "-q", "-v", "ON_ERROR_STOP=1", self.url, "-c", TABLE], check=True)
        stop(server)

    def command(self, server, arguments):
        command = [self.driver, "--port", str(self.port), "--pid", str(server.pid), "--key", self.key,
                   "--seconds", str(self.seconds), *arguments]
        if arguments[0] in ("latency", "rights", "transaction", "large-row"):
            command += ["--database", self.url, "--identities", self.identities]
        return command

    def measure(self, arguments):
        """The figures of one run of the driver."""
        server = self.serve()
        try:
            output = subprocess.run(self.command(server, arguments), check=True, capture_output=True, text=True).stdout
        except subprocess.CalledProcessError as error:
            sys.exit(f"{' '.join(arguments)}: {error.stderr}")
        finally:
            stop(server)
        figures = json.loads(output)
        if "expected" in figures:
            figures["complete"] = figures["delivered"] / max(figures["expected"], 1)
        return figures

    def read_p99(self):
        """p99 in ms of single rows by their key, 4 connections."""
        command = ["wrk", "-t1", "-c4", f"-d{self.seconds}s", "--latency", "-H", f"apikey: {self.key}",
                   f"http://127.0.0.1:{self.port}/rest/v1/bench_rows?id=eq.7"]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        if "Non-2xx" in text:
            sys.exit(text)
        value, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", text).groups()
        return float(value) * {"us": 1e-3, "ms": 1, "s": 1e3}[unit]

    def measure_reads(self):
        """p99 of reads beside broadcasts, divided by the p99 without."""
        server = self.serve()
        try:
            alone = self.read_p99()
            seconds = self.seconds
            self.seconds = seconds + 6
            driver = subprocess.Popen(self.command(server, HALF_LOAD), stdout=subprocess.DEVNULL)
            self.seconds = seconds
            # The sockets have joined and messages flow by then.
            threading.Event().wait(4)
            beside = self.read_p99()
            driver.wait()
        finally:
            stop(server)
        return {"ratio": beside / alone, "alone_ms": alone, "beside_ms": beside}

    def close(self, keep):
        self.log.close()
        print(f"kept: {self.project}") if keep else shutil.rmtree(self.project, ignore_errors=True)


def median(figures, key):
    return statistics.median(each[key] for each in figures)


def row(what, value, unit, limit, is_upper):
    shown = f"{value:,.2f}".replace(",", " ") if value < 1000 else f"{value:,.0f}".replace(",", " ")
    if limit is None:
        return f"| {what} | {shown} {unit} | |"
    met = value <= limit if is_upper else value >= limit
    return f"| {what} | {shown} {unit} | {'≤' if is_upper else '≥'} {limit} {unit}{'' if met else ', missed'} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    release = os.path.join(HERE, "..", "target", "release")
    parser.add_argument("--binary", default=os.path.join(release, "selvedge"))
    parser.add_argument("--driver", default=os.path.join(release, "bench-realtime"))
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--only", default=",".join([*SCENARIOS, "rest"]))
    parser.add_argument("--keep", action="store_true", help="keep the project and its log")
    args = parser.parse_args()
    most_files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if most_files < OPEN_FILES:
        sys.exit(f"{OPEN_FILES} open files are needed and {most_files} allowed (ulimit -Hn)")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))
    bench = Bench(args.binary, args.driver, args.seconds)
    try:
        bench.make_tables()
        print("| what | measured | goal |\n|---|--:|--:|")
        for name in args.only.split(","):
            if name == "rest":
                continue
            arguments, goals = SCENARIOS[name]
            figures = [bench.measure(arguments) for _ in range(args.reps)]
            for what, key, unit, limit, is_upper in goals:
                print(row(what, median(figures, key), unit, limit, is_upper), flush=True)
            print(f"{name}: {json.dumps(figures)}", file=sys.stderr)
        if "rest" in args.only and shutil.which("wrk"):
            figures = [bench.measure_reads() for _ in range(args.reps)]
            what, unit, limit = REST_GOAL
            print(row(what, median(figures, "ratio"), unit, limit, True))
            print(f"rest: {json.dumps(figures)}", file=sys.stderr)
    finally:
        bench.close(args.keep)


if __name__ == "__main__":
    main()
