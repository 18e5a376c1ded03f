#!/usr/bin/env python3
"""Images per second: a 1 600-px JPEG rendered as a 400-px WebP, and the same served from the cache on disk.

  images.py [--binary FILE] [--pictures 120] [--conc 8] [--dur 3]

Starts `selvedge start` in a temporary project on free ports, uploads one photo under many names (the cache keeps each
name apart), requests each once, then one of them repeatedly. Needs wrk for the rate from the cache. Latencies are
timed here, request by request: wrk corrects its percentiles for requests that it could not send while one was slow,
so a single stall of the machine would dominate the p99 of three seconds."""

import argparse
import http.client
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from bench import SECRET, free_ports, server_rss, start, stop  # noqa: E402
from run import jwt, process_stat  # noqa: E402

PHOTO = os.path.join(HERE, "photo-1600.jpg")
ACCEPT = {"accept": "image/avif,image/webp,*/*"}


def request(port, method, path, body=None, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    payload = answer.read()
    connection.close()
    if answer.status != 200:
        sys.exit(f"{method} {path}: {answer.status} {payload[:200]!r}")
    return answer, payload


def percentiles(latencies):
    """p50, p99 and the worst, in milliseconds."""
    ordered = sorted(latencies)
    percentile_ms = lambda share: ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1e3  # noqa: E731
    return f"p50 {percentile_ms(0.5):7.2f} ms   p99 {percentile_ms(0.99):7.2f} ms   max {ordered[-1] * 1e3:7.2f} ms"


def request_repeatedly(port, path, seconds):
    """Latencies of requests on one connection, one after the other."""
    head = "".join(f"{name}: {value}\r\n" for name, value in ACCEPT.items())
    question = f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{head}\r\n".encode()
    latencies, end = [], time.perf_counter() + seconds
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while (began := time.perf_counter()) < end:
            connection.sendall(question)
            answer = connection.recv(65536)
            while b"\r\n\r\n" not in answer:
                answer += connection.recv(65536)
            head, body = answer.split(b"\r\n\r\n", 1)
            if not head.startswith(b"HTTP/1.1 200"):
                sys.exit(head.decode())
            left = int(re.search(rb"content-length: (\d+)", head, re.I).group(1)) - len(body)
            while left > 0:
                left -= len(connection.recv(65536))
            latencies.append(time.perf_counter() - began)
    return latencies


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(HERE, "..", "target", "release", "selvedge"))
    parser.add_argument("--pictures", type=int, default=120)
    parser.add_argument("--conc", type=int, default=8)
    parser.add_argument("--dur", type=int, default=3)
    args = parser.parse_args()
    if not shutil.which("wrk"):
        sys.exit("missing: wrk (Debian: apt-get install wrk)")

    project = tempfile.mkdtemp(prefix="selvedge-images-")
    api, database, inbox = free_ports(3)
    open(os.path.join(project, "port"), "w").write(str(api))
    open(os.path.join(project, "config.toml"), "w").write(
        f'project_id = "images"\n[api]\nport = {api}\n[db]\nport = {database}\n[inbucket]\nport = {inbox}\n'
        f'[auth]\njwt_secret = "{SECRET}"\n[storage.image_transformation]\nenabled = true\n'
        "[storage.buckets.photos]\npublic = true\n"
    )
    log = open(os.path.join(project, "server.log"), "w")
    server, _ = start(os.path.abspath(args.binary), project, log)
    try:
        token = jwt({"role": "service_role", "exp": 2051222400}, SECRET)
        photo = open(PHOTO, "rb").read()
        for number in range(args.pictures):
            request(
                api,
                "POST",
                f"/storage/v1/object/photos/{number}.jpg",
                photo,
                {"authorization": f"Bearer {token}", "content-type": "image/jpeg"},
            )

        def render(number):
            began = time.perf_counter()
            answer = request(
                api, "GET", f"/storage/v1/render/image/public/photos/{number}.jpg?width=400", headers=ACCEPT
            )
            return *answer, time.perf_counter() - began

        cpu, began = process_stat(server.pid)["cpu"], time.perf_counter()
        with ThreadPoolExecutor(args.conc) as pool:
            answers = list(pool.map(render, range(args.pictures)))
        took = time.perf_counter() - began
        cpu = process_stat(server.pid)["cpu"] - cpu
        kind, size = answers[0][0].getheader("content-type"), len(answers[0][1])
        print(
            f"1600-px JPEG ({len(photo) / 1e3:.0f} kB) -> 400-px {kind} ({size / 1e3:.0f} kB), {os.cpu_count()} cores"
        )
        print(
            f"  made:   {args.pictures / took:8.1f} /s   {cpu / args.pictures * 1e3:6.1f} ms CPU each   "
            f"{percentiles([answer[2] for answer in answers])}"
        )

        path = "/storage/v1/render/image/public/photos/0.jpg?width=400"
        with ThreadPoolExecutor(args.conc) as pool:
            asked = pool.map(lambda _: request_repeatedly(api, path, args.dur), range(args.conc))
            latencies = [latency for one in asked for latency in one]
        cpu = process_stat(server.pid)["cpu"]
        wrk = subprocess.run(
            [
                "wrk",
                "-t1",
                f"-c{args.conc}",
                f"-d{args.dur}s",
                "-H",
                f"accept: {ACCEPT['accept']}",
                f"http://127.0.0.1:{api}{path}",
            ],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        cpu = process_stat(server.pid)["cpu"] - cpu
        done = int(re.search(r"(\d+) requests in", wrk).group(1))
        rate = float(re.search(r"Requests/sec:\s+([\d.]+)", wrk).group(1))
        failed = re.search(r"Non-2xx.*: (\d+)", wrk)
        print(
            f"  cached: {rate:8.1f} /s   {cpu / max(done, 1) * 1e6:6.0f} µs CPU each   {percentiles(latencies)}   "
            f"{failed.group(1) if failed else 0} errors"
        )
        print(f"  server process after both: {server_rss(server):.1f} MB resident")
    finally:
        if server.poll() is None:
            stop(server)
        shutil.rmtree(project, ignore_errors=True)


if __name__ == "__main__":
    main()
