#!/usr/bin/env python3
"""Throughput of one, two and three nodes on one primary, and of reads on two replicas.

  nodes.py [--binary FILE] [--nodes 1,2,3] [--replicas 2] [--workloads pk,list20,embed_count] [--conc 32] [--dur 5] [--reps 3]
           [--node-cpus 0,1,2] [--postgres-cpus 3-5] [--driver-cpus 6,7] [--instructions]

Starts `selvedge start` in a temporary project for its PostgreSQL, loads schema.sql, and makes the replicas with pg_basebackup.
Then it starts `selvedge serve` as often as the most nodes need, each with one worker on one core of --node-cpus, and drives as
many of them as a row says, each with one wrk. The driver and PostgreSQL have cores of their own, as far as the machine has
any: the first line of the output says which cores are shared, and with shared ones only the CPU per request means something.

Printed are medians: requests per second of all nodes together and their multiple of one node's, CPU of the nodes and of
PostgreSQL per request, and how much a request's CPU on a node differs from that on one node (the goal is 10 %). For reads on
replicas the CPU of each server is listed, which shows how much is taken from the primary. Needs wrk, psql and pg_basebackup.

With --instructions the nodes run under Callgrind (Debian: valgrind), and their instructions are counted instead of their time.
They depend less on which cores are shared, but the requests per second mean nothing then."""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import run  # noqa: E402
from callgrind import read_profile  # noqa: E402
from bench import free_ports, make_project, run_driver, start, stop  # noqa: E402

SUPERUSER = "bench"


def parse_cpus(text):
    """The cores of a list such as 0,2-3."""
    cpus = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        cpus += range(int(first), int(last or first) + 1)
    return cpus


def default_cpus(nodes):
    """Cores of the nodes (one each), of PostgreSQL and of the driver: distinct ones while there are enough."""
    cores = sorted(os.sched_getaffinity(0))
    at = lambda index: cores[index % len(cores)]
    rest = cores[nodes:] or cores
    half = max(1, len(rest) * 2 // 3)
    return [at(index) for index in range(nodes)], rest[:half], rest[half:] or rest


def list_shared(groups):
    """The cores that several groups use."""
    counted = [cpu for group in groups for cpu in set(group)]
    return sorted({cpu for cpu in counted if counted.count(cpu) > 1})


def wait_for(what, is_true, seconds=60):
    deadline = time.time() + seconds
    while not is_true():
        if time.time() > deadline:
            sys.exit(f"not within {seconds} s: {what}")
        time.sleep(0.05)


def answers(url, headers=None):
    try:
        return urllib.request.urlopen(urllib.request.Request(url, headers=headers or {}), timeout=2).status == 200
    except OSError:
        return False


def query(url, text):
    return subprocess.run(["psql", "-qAt", url, "-c", text], check=True, capture_output=True, text=True).stdout.strip()


class Primary:
    """The PostgreSQL of a project in development."""

    def __init__(self, binary, keys_of):
        self.project, _, self.port = make_project("nodes", "[db.settings]\nmax_connections = 300\n")
        # An operator key: a file of the project cannot set it.
        os.environ["SELVEDGE_SUPERUSER_PASSWORD"] = SUPERUSER
        self.keys = keys_of(self.project)
        self.log = open(os.path.join(self.project, "server.log"), "w")
        self.server, _ = start(binary, self.project, self.log)
        self.data = query(self.url(), "show data_directory")
        self.pid = int(open(os.path.join(self.data, "postmaster.pid")).readline())
        self.programs = os.path.dirname(open(os.path.join(self.data, "postmaster.opts")).read().split()[0])
        self.owner = os.stat(self.data)

    def url(self, user="postgres", password="postgres"):
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/postgres"

    def run_as_owner(self, command, **options):
        """Runs a program of PostgreSQL as the user to whom its data belongs."""
        if os.geteuid() == 0:
            options.update(user=self.owner.st_uid, group=self.owner.st_gid, extra_groups=[])
        return subprocess.Popen(command, cwd="/", **options)

    def stop(self):
        stop(self.server)
        shutil.rmtree(self.project, ignore_errors=True)


class Replica:
    """A streaming replica of the primary."""

    def __init__(self, primary, number):
        self.port = free_ports(1)[0]
        self.home = subprocess.run(
            ["mktemp", "-d", "/tmp/selvedge-replica-XXXXXX"], check=True, capture_output=True, text=True).stdout.strip()
        if os.geteuid() == 0:
            os.chown(self.home, primary.owner.st_uid, primary.owner.st_gid)
        data = os.path.join(self.home, "data")
        program = shutil.which("pg_basebackup", path=f"{primary.programs}:{os.environ['PATH']}")
        copy = primary.run_as_owner(
            [program, "--checkpoint=fast", "-R", "-D", data, "-d", primary.url("supabase_admin", SUPERUSER)])
        if copy.wait() != 0:
            sys.exit("pg_basebackup failed")
        settings = {
            "port": self.port, "listen_addresses": "127.0.0.1", "unix_socket_directories": "", "hot_standby_feedback": "on"}
        self.log = open(os.path.join(self.home, "log"), "w")
        self.server = primary.run_as_owner(
            [os.path.join(primary.programs, "postgres"), "-D", data,
             *(f"--{name}={value}" for name, value in settings.items())], stdout=self.log, stderr=self.log)
        self.pid = self.server.pid
        self.name = f"replica {number}"
        wait_for(f"{self.name} answers", lambda: subprocess.run(
            ["psql", "-qAt", self.url("postgres"), "-c", "select 1"], capture_output=True).returncode == 0)

    def url(self, user):
        return f"postgresql://{user}:postgres@127.0.0.1:{self.port}/postgres"

    def stop(self):
        self.server.send_signal(2)
        self.server.wait(60)
        shutil.rmtree(self.home, ignore_errors=True)


class Node:
    """`selvedge serve` with one worker on one core, and what it uses between `begin_use` and `end_use`: µs of CPU."""

    unit = "µs"

    def __init__(self, binary, primary, cpu, replicas):
        self.port = free_ports(1)[0]
        data = os.path.join(primary.project, f"node-{self.port}")
        variables = dict(
            os.environ, **primary.keys, DATABASE_URL=primary.url("authenticator"), SELVEDGE_WORKERS="1", SELVEDGE_DATA_DIR=data,
            SUPABASE_AUTH_EMAIL_SMTP_ENABLED="true", SUPABASE_AUTH_EMAIL_SMTP_HOST="127.0.0.1",
            SUPABASE_AUTH_EMAIL_SMTP_ADMIN_EMAIL="admin@example.com", SUPABASE_REALTIME_ENABLED="false",
            SELVEDGE_JOBS_ENABLED="false", SELVEDGE_LOG="warn")
        if replicas:
            variables["SELVEDGE_REPLICAS_URLS"] = ",".join(replica.url("authenticator") for replica in replicas)
        self.log = open(os.path.join(primary.project, f"node-{self.port}.log"), "w")
        self.server = subprocess.Popen(
            ["taskset", "-c", str(cpu), *self.profiler_command(primary), binary, "serve", "--project", primary.project,
             "--host", "127.0.0.1", "--port", str(self.port)], env=variables, stdout=self.log, stderr=self.log)
        wait_for(f"a node is ready; see {self.log.name}", lambda: answers(f"http://127.0.0.1:{self.port}/health/ready"))
        if replicas:
            wait_for("the replicas get reads", self.has_replicas)

    def has_replicas(self):
        text = urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=2).read().decode()
        states = [line for line in text.splitlines() if line.startswith("selvedge_replica_available{")]
        return bool(states) and all(line.endswith(" 1") for line in states)

    def profiler_command(self, primary):
        """The words before the node's own command; none."""
        return []

    def begin_use(self):
        self.cpu = run.process_stat(self.server.pid)["cpu"]

    def end_use(self):
        return (run.process_stat(self.server.pid)["cpu"] - self.cpu) * 1e6

    def stop(self):
        stop(self.server)


class CountedNode(Node):
    """A node under Callgrind, whose use is counted in instructions."""

    unit = "instructions"

    def profiler_command(self, primary):
        self.profile = os.path.join(primary.project, f"profile-{self.port}")
        self.profiles = 0
        return ["valgrind", "--tool=callgrind", f"--callgrind-out-file={self.profile}"]

    def control(self, command):
        subprocess.run(["callgrind_control", command, str(self.server.pid)], check=True, capture_output=True)

    def begin_use(self):
        self.control("--zero")

    def end_use(self):
        self.control("--dump")
        self.profiles += 1
        own, _ = read_profile(f"{self.profile}.{self.profiles}")
        return sum(own.values())


def generate_keys(binary):
    """Makes the keys of `serve`, which refuses the well-known ones, for a project."""
    def of_project(project):
        text = subprocess.run(
            [binary, "keys", "--generate", "--project", project], check=True, capture_output=True, text=True).stdout
        pairs = (line.partition("=") for line in text.splitlines())
        return {name: value.strip('"') for name, separator, value in pairs if separator and name.isupper()}
    return of_project


def measure(config, nodes, servers, workload, conc, dur):
    """Drives the nodes at once. Returns the rate, errors, and what a request takes from the nodes and the database servers."""
    results = [None] * len(nodes)

    def drive(index, seconds):
        target = {"base": f"http://127.0.0.1:{nodes[index].port}", "prefix": "/rest/v1",
                  "headers": {"apikey": "{anon}", "Authorization": "Bearer {anon}"}}
        results[index] = run.wrk_once(config, target, workload, conc, seconds)

    def drive_all(seconds):
        threads = [threading.Thread(target=drive, args=(index, seconds)) for index in range(len(nodes))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    drive_all(1)
    for node in nodes:
        node.begin_use()
    before = [run.process_tree_cpu(server.pid) for server in servers]
    drive_all(dur)
    after = [run.process_tree_cpu(server.pid) for server in servers]
    used = sum(node.end_use() for node in nodes)
    if None in results:
        sys.exit(f"{workload}: the driver failed")
    requests = sum(result["requests"] - result["err_status"] for result in results)
    return {
        "rps": sum(result["requests"] / result["dur_us"] * 1e6 for result in results),
        "errors": sum(result["err_status"] + result["err_sock"] + result["err_timeout"] for result in results),
        "p99_ms": max(result["p99_us"] for result in results) / 1e3,
        "node_use": used / max(1, requests),
        "server_us": [(end - begin) / max(1, requests) * 1e6 for begin, end in zip(before, after)],
    }


def median_of(runs, key):
    return statistics.median(run_[key] for run_ in runs)


def print_rows(config, nodes, counts, servers, names, args):
    """One row per workload and number of nodes."""
    print("| workload | nodes | requests/s | × | use of the nodes | ÷ one node's | "
          + " | ".join(f"CPU of {name}" for name in names) + " | p99 | errors |")
    print("|---|--:|--:|--:|--:|--:|" + "--:|" * len(names) + "--:|--:|")
    for workload in args.workloads.split(","):
        one = None
        for count in counts:
            runs = [measure(config, nodes[:count], servers, workload, args.conc, args.dur) for _ in range(args.reps)]
            found = {key: median_of(runs, key) for key in ("rps", "node_use", "p99_ms", "errors")}
            one = one or found
            of_servers = [statistics.median(run_["server_us"][index] for run_ in runs) for index in range(len(servers))]
            print("| " + " | ".join([
                workload, str(count), f"{found['rps']:.0f}", f"{found['rps'] / one['rps']:.2f}",
                f"{found['node_use']:.{0 if args.instructions else 1}f} {nodes[0].unit}",
                f"{found['node_use'] / one['node_use']:.2f}", *(f"{cpu:.1f} µs" for cpu in of_servers),
                f"{found['p99_ms']:.1f} ms", f"{found['errors']:.0f}"]) + " |", flush=True)


def pin(pid, cpus):
    """Moves a server and the processes that it has; those that it makes later stay on the same cores."""
    for process in run.process_tree(pid):
        try:
            os.sched_setaffinity(process, cpus)
        except ProcessLookupError:
            pass  # A connection has ended meanwhile.


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(HERE, "..", "target", "release", "selvedge"))
    parser.add_argument("--nodes", default="1,2,3")
    parser.add_argument("--replicas", type=int, default=2)
    parser.add_argument("--workloads", default="pk,list20,embed_count")
    parser.add_argument("--conc", type=int, default=32, help="connections to each node")
    parser.add_argument("--dur", type=int, default=5)
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--instructions", action="store_true", help="count the nodes' instructions instead of their time")
    for name in ("node", "postgres", "driver"):
        parser.add_argument(f"--{name}-cpus", type=parse_cpus)
    args = parser.parse_args()
    tools = ["wrk", "psql", "pg_basebackup", "taskset", *(["valgrind"] if args.instructions else [])]
    missing = [tool for tool in tools if not shutil.which(tool)]
    if missing:
        sys.exit(f"missing: {', '.join(missing)} (Debian: apt-get install wrk postgresql util-linux valgrind)")
    counts = sorted(int(count) for count in args.nodes.split(","))
    defaults = default_cpus(max(counts))
    node_cpus, postgres_cpus, driver_cpus = (
        chosen or default for chosen, default in zip((args.node_cpus, args.postgres_cpus, args.driver_cpus), defaults))
    shared = list_shared([*([cpu] for cpu in node_cpus[:max(counts)]), postgres_cpus, driver_cpus])
    print(f"cores: nodes {node_cpus[:max(counts)]}, PostgreSQL {postgres_cpus}, driver {driver_cpus}; shared: {shared or 'none'}\n")

    binary = os.path.abspath(args.binary)
    primary = Primary(binary, generate_keys(binary))
    replicas, nodes = [], []
    try:
        subprocess.run(["psql", "-q", primary.url(), "-f", os.path.join(HERE, "schema.sql")], check=True, capture_output=True)
        jwt_dir = os.path.join(primary.project, "jwt")
        run_driver("gen", "--secret", primary.keys["SUPABASE_AUTH_JWT_SECRET"], "--out", jwt_dir)
        config = {"jwt_dir": jwt_dir}
        pin(primary.pid, postgres_cpus)
        # wrk inherits the cores of this process.
        os.sched_setaffinity(0, driver_cpus)
        node_kind = CountedNode if args.instructions else Node
        make_node = lambda index: node_kind(binary, primary, node_cpus[index % len(node_cpus)], replicas)
        nodes = [make_node(index) for index in range(max(counts))]
        print_rows(config, nodes, counts, [primary], ["PostgreSQL"], args)
        if args.replicas:
            for node in nodes:
                node.stop()
            nodes = []
            for number in range(1, args.replicas + 1):
                replicas.append(Replica(primary, number))
                pin(replicas[-1].pid, postgres_cpus)
            nodes = [make_node(index) for index in range(max(counts))]
            print(f"\nReads on {args.replicas} replicas:\n")
            print_rows(config, nodes, counts, [primary, *replicas], ["the primary", *(r.name for r in replicas)], args)
    finally:
        for each in [*nodes, *replicas, primary]:
            each.stop()


if __name__ == "__main__":
    main()
