#!/usr/bin/env python3
"""Measures /auth/v1 on a running server: tokens, refreshes, sign-ins, and how sign-ins slow down reads.

    python3 bench/auth.py http://127.0.0.1:54321 [--seconds 10] [--path /rest/v1/table?id=eq.1]

Needs the keys of the project in SELVEDGE_ANON_KEY and SELVEDGE_SERVICE_KEY (the development keys by default), and wrk
for the reads: it is a process of its own, so the clients that sign in do not slow down the reading one. The script
creates users and removes them again. Only ratios can be compared between machines: bcrypt limits sign-ins, so their
rate is divided by cores ÷ the time of a single sign-in, measured in the same run. """

import argparse
import base64
import hashlib
import hmac
import http.client
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time
import urllib.parse
import uuid

SECRET = os.environ.get("SELVEDGE_JWT_SECRET", "super-secret-jwt-token-with-at-least-32-characters-long")


def mint_token(claims):
    """A token with these claims, signed with the project's secret."""

    def encode_part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=")

    signed = encode_part({"alg": "HS256", "typ": "JWT"}) + b"." + encode_part({"exp": int(time.time()) + 86400, **claims})
    mac = hmac.new(SECRET.encode(), signed, hashlib.sha256).digest()
    return (signed + b"." + base64.urlsafe_b64encode(mac).rstrip(b"=")).decode()


def read_claims(token):
    """The claims of a token, whose signature is not looked at."""
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def mint_role_key(role):
    return mint_token({"iss": "supabase-demo", "role": role})


ANON = os.environ.get("SELVEDGE_ANON_KEY") or mint_role_key("anon")
SERVICE = os.environ.get("SELVEDGE_SERVICE_KEY") or mint_role_key("service_role")


class Client:
    """One connection, kept open."""

    def __init__(self, base):
        self.url = urllib.parse.urlsplit(base)
        self.connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=60)

    def call(self, method, path, body=None, bearer=None):
        headers = {"apikey": ANON, "content-type": "application/json"}
        if bearer:
            headers["authorization"] = f"Bearer {bearer}"
        self.connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        response = self.connection.getresponse()
        text = response.read()
        return response.status, json.loads(text) if text[:1] in (b"{", b"[") else None


def measure_rate(seconds, clients, work):
    """Calls per second and latencies of `work(client, state)` by this number of clients."""
    begin = time.perf_counter()
    end = begin + seconds
    counts, latencies, failures = [0] * clients, [], []

    def run(number):
        state = {"number": number}
        while time.perf_counter() < end:
            started = time.perf_counter()
            try:
                work(state)
            except Exception as error:  # noqa: BLE001: a failed call is a result
                failures.append(repr(error))
                return
            latencies.append(time.perf_counter() - started)
            counts[number] += 1

    threads = [threading.Thread(target=run, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise SystemExit(f"a call failed: {failures[0]}")
    # The last calls end after the time is up, so the rate is divided by the time that all of them took.
    return sum(counts) / (time.perf_counter() - begin), sorted(latencies)


def percentile(sorted_values, share):
    return sorted_values[min(len(sorted_values) - 1, int(len(sorted_values) * share))] * 1000


def measure_read_rate(base, path, seconds):
    """Reads per second, p50 and p99 in ms, of 4 connections that read without pause."""
    printed = subprocess.run(
        ["wrk", "-t1", "-c4", f"-d{max(1, round(seconds))}s", "--latency", "-H", f"apikey: {ANON}", base + path],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", printed)
    if refused:
        raise SystemExit(f"{refused[1]} reads of {path} were refused")
    factor = {"us": 0.001, "ms": 1, "s": 1000}

    def read_latency_ms(share):
        value, unit = re.search(rf"^ +{share}% +([0-9.]+)(us|ms|s)$", printed, re.MULTILINE).groups()
        return float(value) * factor[unit]

    return float(re.search(r"Requests/sec: +([0-9.]+)", printed)[1]), read_latency_ms(50), read_latency_ms(99)


def expect_status(answer, status=200):
    if answer[0] != status:
        raise RuntimeError(f"{answer[0]} {answer[1]}")
    return answer[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", nargs="?", default="http://127.0.0.1:54321")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--path", default="/rest/v1/", help="a cheap read, measured with and without sign-ins")
    options = parser.parse_args()
    if not shutil.which("wrk"):
        sys.exit("missing: wrk (Debian: apt-get install wrk)")
    admin = Client(options.base)
    users = []
    for _ in range(16):
        email = f"bench-{uuid.uuid4().hex[:12]}@example.com"
        created = expect_status(
            admin.call(
                "POST",
                "/auth/v1/admin/users",
                {"email": email, "password": "bench password", "email_confirm": True},
                SERVICE,
            )
        )
        users.append((created["id"], email))
    try:
        print_report(options, users)
    finally:
        # The server closes idle connections; by now it has closed the first one.
        admin = Client(options.base)
        for user, _ in users:
            admin.call("DELETE", f"/auth/v1/admin/users/{user}", {}, SERVICE)


def print_report(options, users):
    base, seconds = options.base, options.seconds
    sessions = []

    def sign_in(client, number):
        return expect_status(
            client.call(
                "POST",
                "/auth/v1/token?grant_type=password",
                {"email": users[number % len(users)][1], "password": "bench password"},
            )
        )

    first = Client(base)
    alone = []
    for number in range(16):
        started = time.perf_counter()
        sessions.append(sign_in(first, number))
        alone.append(time.perf_counter() - started)
    hash_time = statistics.median(alone)

    def with_connection(work):
        def run(state):
            client = state.setdefault("client", Client(base))
            work(client, state)

        return run

    def refresh_session(client, state):
        state["session"] = state.get("session") or sessions[state["number"]]
        state["session"] = expect_status(
            client.call(
                "POST",
                "/auth/v1/token?grant_type=refresh_token",
                {"refresh_token": state["session"]["refresh_token"]},
            )
        )

    def read_user_with_cached_token(client, state):
        expect_status(client.call("GET", "/auth/v1/user", bearer=sessions[state["number"]]["access_token"]))

    def read_user_with_new_token(client, state):
        # Each token is used once, so its signature is verified each time.
        state["count"] = state.get("count", 0) + 1
        claims = read_claims(sessions[state["number"]]["access_token"])
        claims["n"] = [state["number"], state["count"]]
        expect_status(client.call("GET", "/auth/v1/user", bearer=mint_token(claims)))

    rows = []
    speed, latencies = measure_rate(seconds, 16, with_connection(read_user_with_cached_token))
    rows.append(("GET /user, read_user_with_cached_token token", speed, latencies, ""))
    speed, latencies = measure_rate(seconds, 16, with_connection(read_user_with_new_token))
    rows.append(("GET /user, token seen first", speed, latencies, ""))
    speed, latencies = measure_rate(seconds, 16, with_connection(refresh_session))
    rows.append(("refresh", speed, latencies, ""))
    quiet = measure_read_rate(base, options.path, seconds)
    sign_ins = with_connection(lambda client, state: sign_in(client, state["number"]))
    bound = (os.cpu_count() or 1) / hash_time
    speed, latencies = measure_rate(seconds, 16, sign_ins)
    rows.append(
        ("sign-in, 16 clients alone", speed, latencies, f"{speed / bound:.2f} of cores / time of one alone")
    )
    busy = []
    # The reads start after the sign-ins and end before them, so sign-ins run during all of them.
    reader = threading.Timer(1, lambda: busy.append(measure_read_rate(base, options.path, seconds)))
    reader.start()
    speed, latencies = measure_rate(seconds + 2.5, 16, sign_ins)
    reader.join()
    rows.append(("sign-in, 16 clients beside reads", speed, latencies, ""))
    print(f"one sign-in alone: {hash_time * 1000:.1f} ms (bcrypt and three round trips)")
    print(f"{'':36}{'per s':>9}{'p50 ms':>9}{'p99 ms':>9}")
    for name, speed, latencies, note in rows:
        print(f"{name:36}{speed:9.0f}{percentile(latencies, 0.5):9.2f}{percentile(latencies, 0.99):9.2f}  {note}")
    for name, (speed, median, tail), note in (
        (f"GET {options.path}, quiet", quiet, ""),
        (f"GET {options.path}, beside sign-ins", busy[0], f"p99 {busy[0][2] / quiet[2]:.1f} x of quiet"),
    ):
        print(f"{name:36}{speed:9.0f}{median:9.2f}{tail:9.2f}  {note}")


if __name__ == "__main__":
    main()
