#!/usr/bin/env python3
"""System calls, context switches and processor time per request, counted by perf: they explain what Callgrind cannot see.

    python3 bench/syscalls.py [--workloads pk,rpc,…] [--conc 16,64] [--dur 3] [--reps 3] [--binary FILE]

Starts `selvedge start` on a database of its own, as bench.py does, sends the workloads with wrk, and prints for each the
median of the repetitions. User and system time are those of the server process, without PostgreSQL. Needs perf with the
kernel's system call tracepoints (Debian: linux-perf, as root), wrk and psql."""

import argparse
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import bench  # noqa: E402
import run  # noqa: E402

# The calls that serve a request: sockets are read and written with one of the first five, the others wait and wake.
CALLS = ["read", "recvfrom", "write", "writev", "sendto", "epoll_wait", "epoll_ctl", "futex", "clock_nanosleep"]
TOTAL, SWITCHES = "raw_syscalls:sys_enter", "context-switches"


def read_times(pid):
    """User and system seconds of the process, without its children."""
    text = open(f"/proc/{pid}/stat").read()
    fields = text[text.rindex(")") + 2 :].split()
    return int(fields[11]) / run.TICK, int(fields[12]) / run.TICK


def count_events(pid, folder, send):
    """What `send` returns, and the number of each event in the process while it ran."""
    report = os.path.join(folder, "perf.csv")
    events = [TOTAL, SWITCHES, *(f"syscalls:sys_enter_{call}" for call in CALLS)]
    perf = subprocess.Popen(["perf", "stat", "-x,", "-o", report, "-e", ",".join(events), "-p", str(pid)])
    # perf attaches to every thread before it counts, and has no sign of being ready.
    time.sleep(0.5)
    try:
        result = send()
    finally:
        perf.send_signal(signal.SIGINT)
        perf.wait(30)
    counts = {}
    for line in open(report):
        fields = line.split(",")
        if len(fields) > 2:
            # perf writes "<not supported>" where the kernel lacks an event, which must not pass for zero.
            if not fields[0].isdigit():
                sys.exit(f"perf cannot count {fields[2]}: {fields[0]}")
            counts[fields[2].removeprefix("syscalls:sys_enter_").removesuffix(":u")] = int(fields[0])
    return result, counts


def measure(config, target, folder, workload, conc, seconds):
    """Each event and each kind of time (µs) per request of one run."""
    user, system = read_times(target["pid"])
    result, counts = count_events(target["pid"], folder, lambda: run.wrk_once(config, target, workload, conc, seconds))
    user_after, system_after = read_times(target["pid"])
    failed = result["err_status"] + result["err_sock"] + result["err_timeout"]
    if failed:
        sys.exit(f"{workload}: {failed} of {result['requests']} requests failed")
    per_request = {name: count / result["requests"] for name, count in counts.items()}
    per_request["user µs"] = (user_after - user) / result["requests"] * 1e6
    per_request["system µs"] = (system_after - system) / result["requests"] * 1e6
    return per_request


def print_table(args, config, target, folder):
    columns = ["user µs", "system µs", SWITCHES, TOTAL, *CALLS]
    titles = ["switches" if name == SWITCHES else "all calls" if name == TOTAL else name for name in columns]
    print("| workload | connections | " + " | ".join(titles) + " |")
    print("|---|--:|" + "--:|" * len(columns), flush=True)
    for workload in args.workloads.split(","):
        for conc in map(int, args.conc.split(",")):
            run.delete_likes(config, target)
            # The pool opens its connections and prepares the statements here, which no later request has to do.
            run.wrk_once(config, target, workload, conc, 1)
            runs = [measure(config, target, folder, workload, conc, args.dur) for _ in range(args.reps)]
            values = [statistics.median(each.get(name, 0) for each in runs) for name in columns]
            print(f"| {workload} | {conc} | " + " | ".join(f"{value:.2f}" for value in values) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(HERE, "..", "target", "release", "selvedge"))
    parser.add_argument("--workloads", default="pk,list20,like_insert,rpc")
    parser.add_argument("--conc", default="16")
    parser.add_argument("--dur", type=int, default=3)
    parser.add_argument("--reps", type=int, default=3)
    args = parser.parse_args()
    missing = [tool for tool in ("perf", "wrk", "psql") if not shutil.which(tool)]
    if missing:
        sys.exit(f"missing: {', '.join(missing)} (Debian: apt-get install linux-perf wrk postgresql-client)")
    project, api, database = bench.make_project("syscalls")
    log = open(os.path.join(project, "server.log"), "w")
    server = None
    try:
        server, _ = bench.start(os.path.abspath(args.binary), project, log)
        url = f"postgresql://postgres:postgres@127.0.0.1:{database}/postgres"
        subprocess.run(["psql", "-q", url, "-f", os.path.join(HERE, "schema.sql")], check=True, stdout=subprocess.DEVNULL)
        tokens = os.path.join(project, "jwt")
        bench.run_driver("gen", "--secret", bench.SECRET, "--out", tokens)
        target = {"name": "selvedge", "base": f"http://127.0.0.1:{api}", "prefix": "/rest/v1", "pid": server.pid,
                  "headers": {"apikey": "{anon}", "Authorization": "Bearer {anon}"}}
        print_table(args, {"jwt_dir": tokens, "db": url}, target, project)
    finally:
        if server is not None and server.poll() is None:
            bench.stop(server)
        shutil.rmtree(project, ignore_errors=True)


if __name__ == "__main__":
    main()
