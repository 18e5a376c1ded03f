#!/usr/bin/env python3
"""Instructions and allocations per request, counted by Callgrind: unlike times, they are the same in every run.

    cargo rustc --release -p selvedge --bin selvedge -- -C strip=none
    python3 bench/callgrind.py [--workloads pk,rpc,…] [--requests 2000] [--connections 16] [--functions 30] [--dump DIR]

Starts `selvedge start` with one worker on a database of its own under Valgrind (Debian: valgrind), and sends the workloads
of run.py, of Auth and of Storage on kept connections, to all of them before it reads the first response. Prints one line
per workload, and with --functions those that execute the most instructions. Only this process is counted: neither
PostgreSQL nor the kernel. Valgrind offers no SHA instructions, so hashes (refresh, tokens that are seen first) count for
several times what they cost. --dump keeps the profiles for callgrind_annotate or KCachegrind."""

import argparse
import collections
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import bench  # noqa: E402
import run  # noqa: E402

ALLOCATORS = re.compile(r"^(mi_(heap_)?(malloc|zalloc|calloc|realloc|reallocn|rezalloc)(_aligned|_small)?|malloc|calloc|realloc)$")
USERS = 16
# Of so many runs of a workload the one with the fewest instructions counts: in others the pool may have opened a
# connection to PostgreSQL, whose password exchange hashes as much as hundreds of requests.
RUNS = 3


class Server:
    """The server under Callgrind, and the keys and tokens for it."""

    def __init__(self, project, api, binary, log, dumps):
        self.project, self.api, self.dumps, self.count = project, api, dumps, 0
        command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={dumps}/profile",
                   binary, "start", "--project", project, "--workers", "1"]
        self.process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        self.wait()

    def wait(self):
        for _ in range(1200):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.api}/rest/v1/", timeout=20).read()
                return
            except OSError:
                time.sleep(0.1)
        sys.exit("the server does not answer")

    def control(self, *arguments):
        subprocess.run(["callgrind_control", *arguments, str(self.process.pid)], check=True, capture_output=True)

    def profile(self, send):
        """Runs `send` and returns its instructions by function, and the calls of each function."""
        self.control("--zero")
        send()
        self.control("--dump")
        self.count += 1
        return read_profile(f"{self.dumps}/profile.{self.count}")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(120)


def read_profile(path):
    """Own instructions and number of calls of each function in a file of Callgrind."""
    names, own, calls = {}, collections.Counter(), collections.Counter()
    function, is_call = None, False

    def name_of(text):
        number, _, name = text.partition(" ")
        if name:
            names[number] = name
        return names.get(number, number)

    for line in open(path, errors="replace"):
        if line.startswith("fn="):
            function = name_of(line[3:].strip())
        elif line.startswith("cfn="):
            callee = name_of(line[4:].strip())
        elif line.startswith("calls="):
            calls[callee] += int(line[6:].split()[0])
            is_call = True
        elif line[:1].isdigit() or line[:1] in "+-*":
            # The line behind `calls=` holds what the callee executed, which is counted where the callee is.
            if not is_call:
                own[function] += int(line.split()[1])
            is_call = False
    return own, calls


class Connection:
    """A kept connection to the server."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self.file = self.socket.makefile("rb")

    def send(self, method, path, headers, body=b""):
        lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *(f"{name}: {value}" for name, value in headers.items())]
        if body:
            lines.append(f"Content-Length: {len(body)}")
        self.socket.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    def receive(self):
        status = int(self.file.readline().split()[1])
        length = 0
        for line in iter(self.file.readline, b"\r\n"):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        body = self.file.read(length)
        if status >= 300:
            raise RuntimeError(f"{status}: {body[:300]}")
        return body


class Workloads:
    """What is sent: method, path, headers and body of the request number `index` on a connection."""

    def __init__(self, server, tokens):
        anon = open(f"{tokens}/anon.jwt").read()
        service = open(f"{tokens}/service_role.jwt").read()
        self.server, self.anon = server, {"apikey": anon, "Authorization": f"Bearer {anon}"}
        self.service = {"apikey": service, "Authorization": f"Bearer {service}"}
        self.users = [{"apikey": anon, "Authorization": f"Bearer {line.strip()}"} for line in open(f"{tokens}/users.txt")]
        self.apikey = {"apikey": anon}
        self.sessions, self.likes = [], 0

    def prepare_sessions(self):
        """Users who have signed in; refreshes replace their tokens."""
        connection = Connection(self.server.api)
        for number in range(USERS):
            account = json.dumps({"email": f"callgrind{number}@example.com", "password": "correct horse", "email_confirm": True}).encode()
            for path, headers in (("/auth/v1/admin/users", self.service), ("/auth/v1/token?grant_type=password", self.apikey)):
                connection.send("POST", path, {**headers, "Content-Type": "application/json"}, account)
                answer = connection.receive()
            self.sessions.append(json.loads(answer))

    def prepare_objects(self):
        connection = Connection(self.server.api)
        connection.send("POST", "/storage/v1/bucket", {**self.service, "Content-Type": "application/json"},
                        b'{"id":"callgrind","name":"callgrind","public":true}')
        connection.receive()
        for number in range(100):
            connection.send("POST", f"/storage/v1/object/callgrind/folder/{number}.bin", self.service, b"x" * 1024)
            connection.receive()

    def request(self, workload, index):
        json_type = {"Content-Type": "application/json"}
        rest = {
            "list20": "/combines?select=*&status=eq.approved&order=created_at.desc&limit=20",
            "embed_profile": "/combines?select=id,name,image_url,created_at,profiles(id,username,avatar_url)&order=created_at.desc&limit=20",
            "embed_count": "/combines?select=id,name,likes(count)&order=created_at.desc&limit=20",
        }
        if workload in rest:
            return "GET", "/rest/v1" + rest[workload], self.anon, b""
        user = self.users[index % len(self.users)]
        if workload in ("pk", "pk_user"):
            row = run.uid("c0de", index * 617 % 4000 // 8 * 10 + 2 + index % 8)
            return "GET", f"/rest/v1/combines?select=*&id=eq.{row}", user if workload == "pk_user" else self.anon, b""
        if workload == "rpc":
            return "POST", "/rest/v1/rpc/is_admin_role", {**user, **json_type}, b"{}"
        if workload == "like_insert":
            self.likes += 1
            row, owner = run.uid("c0de", 1 + self.likes // 100), run.uid("0052", 1501 + self.likes % 100)
            body = json.dumps({"combine_id": row, "user_id": owner}, separators=(",", ":")).encode()
            user = self.users[self.likes % 100]
            return "POST", "/rest/v1/likes", {**user, **json_type, "Prefer": "return=minimal"}, body
        if workload == "download":
            return "GET", f"/storage/v1/object/public/callgrind/folder/{index % 100}.bin", {}, b""
        if workload == "list_v2":
            return "POST", "/storage/v1/object/list-v2/callgrind", {**self.service, **json_type}, b'{"prefix":"folder/","limit":20}'
        session = self.sessions[index % USERS]
        if workload == "user":
            return "GET", "/auth/v1/user", {**self.apikey, "Authorization": f"Bearer {session['access_token']}"}, b""
        body = json.dumps({"refresh_token": session["refresh_token"]}).encode()
        return "POST", "/auth/v1/token?grant_type=refresh_token", {**self.apikey, **json_type}, body

    def send(self, workload, connections, requests):
        for start in range(0, requests, len(connections)):
            for offset, connection in enumerate(connections):
                connection.send(*self.request(workload, start + offset))
            for offset, connection in enumerate(connections):
                answer = connection.receive()
                if workload == "refresh":
                    self.sessions[(start + offset) % USERS] = json.loads(answer)


ALL = ["pk", "pk_user", "list20", "embed_profile", "embed_count", "like_insert", "rpc", "user", "refresh", "download", "list_v2"]


def measure(args, server, workloads):
    connections = [Connection(server.api) for _ in range(args.connections)]
    server.control("--instr=on")
    print(f"{'workload':14} {'instructions':>12} {'÷ pk':>6} {'allocations':>12}")
    base = None
    for workload in args.workloads.split(","):
        requests = args.requests // args.connections * args.connections
        workloads.send(workload, connections, 8 * args.connections)
        runs = [server.profile(lambda: workloads.send(workload, connections, requests)) for _ in range(RUNS)]
        own, calls = min(runs, key=lambda run: sum(run[0].values()))
        total = sum(own.values()) / requests
        base = base or total
        allocations = sum(count for name, count in calls.items() if ALLOCATORS.match(name)) / requests
        print(f"{workload:14} {total:12.0f} {total / base:6.2f} {allocations:12.1f}", flush=True)
        for name, count in own.most_common(args.functions):
            print(f"    {count / requests:8.0f} {calls[name] / requests:7.1f} calls  {name[:150]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(HERE, "..", "target", "release", "selvedge"))
    parser.add_argument("--workloads", default=",".join(ALL), help="the first one is what the others are divided by")
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--functions", type=int, default=0, help="how many functions to print of each workload")
    parser.add_argument("--dump", help="folder for the profiles")
    args = parser.parse_args()
    missing = [tool for tool in ("valgrind", "callgrind_control", "psql") if not shutil.which(tool)]
    if missing:
        sys.exit(f"missing: {', '.join(missing)} (Debian: apt-get install valgrind postgresql-client)")
    project, api, database = bench.make_project(
        "callgrind", "[auth.rate_limit]\ntoken_refresh = 1000000\nsign_in_sign_ups = 1000000\n")
    dumps = os.path.abspath(args.dump) if args.dump else project
    os.makedirs(dumps, exist_ok=True)
    log = open(os.path.join(project, "server.log"), "w")
    binary = os.path.abspath(args.binary)
    try:
        # The cluster is made by a first start without Valgrind, which would take minutes.
        server, _ = bench.start(binary, project, log)
        url = f"postgresql://postgres:postgres@127.0.0.1:{database}/postgres"
        subprocess.run(["psql", "-q", url, "-f", os.path.join(HERE, "schema.sql")], check=True)
        bench.run_driver("gen", "--secret", bench.SECRET, "--out", os.path.join(project, "jwt"))
        bench.stop(server)
        server = Server(project, api, binary, log, dumps)
        try:
            workloads = Workloads(server, os.path.join(project, "jwt"))
            workloads.prepare_sessions()
            workloads.prepare_objects()
            measure(args, server, workloads)
        finally:
            server.stop()
    finally:
        shutil.rmtree(project, ignore_errors=True)


if __name__ == "__main__":
    main()
