#!/usr/bin/env python3
"""Benchmark of the storage service of a release build, next to nginx serving the same files in the same run.

  storage.py [--binary FILE] [--dur 3] [--parallel 64]

Downloads and uploads of 1 KiB, 1 MiB and 100 MiB, listings of 1 000 names in a bucket of 100 000, memory during
parallel transfers of 100 MiB. Needs wrk, curl and psql; without nginx the comparison is left out."""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from bench import SECRET, free_ports, server_rss, start, stop  # noqa: E402

SIZES = [("1 KiB", 1024, 16), ("1 MiB", 1 << 20, 16), ("100 MiB", 100 << 20, 4)]
TICK = os.sysconf("SC_CLK_TCK")
NGINX = """
worker_processes 2; daemon off; pid {dir}/nginx.pid; error_log {dir}/nginx.err;
events {{ worker_connections 1024; }}
http {{
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000;
  client_body_temp_path {dir}/nb; proxy_temp_path {dir}/np; fastcgi_temp_path {dir}/nf; uwsgi_temp_path {dir}/nu;
  scgi_temp_path {dir}/ns;
  server {{ listen 127.0.0.1:{port}; root {dir}/files; }}
}}
"""


def cpu_seconds(pid):
    """CPU time of one process, its threads included, its children not."""
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def wrk(url, connections, seconds, script=None):
    """Requests and seconds of a run of wrk; anything but success ends the benchmark."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "60s"]
    if script:
        command += ["-s", script]
    text = subprocess.run([*command, url], check=True, capture_output=True, text=True).stdout
    if "Non-2xx" in text or "Socket errors" in text:
        sys.exit(f"{url}:\n{text}")
    requests, took, unit = re.search(r"(\d+) requests in ([\d.]+)(m?s|m)", text).groups()
    return int(requests), float(took) * {"s": 1, "ms": 1e-3, "m": 60}[unit]


def measure(pid, *args, **kwargs):
    """Requests per second, and microseconds of CPU of the process per request."""
    before = cpu_seconds(pid)
    requests, seconds = wrk(*args, **kwargs)
    return requests / seconds, (cpu_seconds(pid) - before) * 1e6 / max(requests, 1)


def curl(*args):
    subprocess.run(["curl", "-sSf", "-o", os.devnull, *args], check=True)


def peak_memory(server, work):
    """Largest resident memory of the server while `work` runs, in MB."""
    peak, done = [0.0], threading.Event()

    def watch():
        while not done.is_set():
            peak[0] = max(peak[0], server_rss(server))
            time.sleep(0.02)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        work()
    finally:
        done.set()
        watcher.join()
    return peak[0]


def in_parallel(count, job):
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        list(pool.map(job, range(count)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(HERE, "..", "target", "release", "selvedge"))
    parser.add_argument("--dur", type=int, default=3)
    parser.add_argument("--parallel", type=int, default=64)
    args = parser.parse_args()
    missing = [tool for tool in ("wrk", "curl", "psql") if not shutil.which(tool)]
    if missing:
        sys.exit(f"missing: {', '.join(missing)} (Debian: apt-get install wrk curl postgresql-client)")
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/sbin")

    project = tempfile.mkdtemp(prefix="selvedge-bench-")
    os.chmod(project, 0o755)
    api, database, inbox, web = free_ports(4)
    open(os.path.join(project, "port"), "w").write(str(api))
    open(os.path.join(project, "config.toml"), "w").write(
        f'project_id = "bench"\n[api]\nport = {api}\n[db]\nport = {database}\n[inbucket]\nport = {inbox}\n'
        f'[auth]\njwt_secret = "{SECRET}"\n[storage]\nfile_size_limit = "1GiB"\n'
        '[storage.buckets.bench]\npublic = true\n[storage.buckets.many]\n[storage.buckets.folders]\n'
    )
    log = open(os.path.join(project, "server.log"), "w")
    server, _ = start(os.path.abspath(args.binary), project, log)
    web_server = None
    try:
        run(args, project, server, f"http://127.0.0.1:{api}/storage/v1", database)
        web_server = compare(args, project, server, api, nginx, web)
    finally:
        if web_server:
            web_server.terminate()
            web_server.wait()
        if server.poll() is None:
            stop(server)
        shutil.rmtree(project, ignore_errors=True)


def run(args, project, server, base, database):
    """Uploads, listings, memory. Leaves the files that the downloads need."""
    status = subprocess.run([os.path.abspath(args.binary), "status", "-o", "env", "--project", project],
                            capture_output=True, text=True).stdout
    key = re.search(r'SERVICE_ROLE_KEY="([^"]+)"', status).group(1)
    files = os.path.join(project, "files")
    os.mkdir(files)
    print(f"{'upload':<12}{'per second':>12}{'MiB/s':>10}{'CPU µs':>10}")
    for name, size, connections in SIZES:
        path = os.path.join(files, str(size))
        open(path, "wb").write(os.urandom(min(size, 1 << 20)) * max(1, size >> 20))
        curl("-X", "PUT", "-H", f"authorization: Bearer {key}", "-T", path, f"{base}/object/bench/{size}")
        if size > 1 << 20:
            before, began, count = cpu_seconds(server.pid), time.perf_counter(), 8
            in_parallel(4, lambda n: [curl("-X", "PUT", "-H", f"authorization: Bearer {key}", "-T", path,
                                           f"{base}/object/bench/up-{n}") for _ in range(count // 4)])
            rate = count / (time.perf_counter() - began)
            cpu = (cpu_seconds(server.pid) - before) * 1e6 / count
        else:
            script = os.path.join(project, "put.lua")
            open(script, "w").write(
                f'local f = io.open("{path}", "rb"); local body = f:read("*a"); f:close()\n'
                'local id = 0; local n = 0\nfunction setup(t) t:set("id", id); id = id + 1 end\n'
                f'local headers = {{["authorization"] = "Bearer {key}", ["x-upsert"] = "true"}}\n'
                'function request() n = (n + 1) % 64; return wrk.format("POST", "/storage/v1/object/bench/w-" .. n, '
                'headers, body) end\n')
            rate, cpu = measure(server.pid, base, connections, args.dur, script=script)
        print(f"{name:<12}{rate:>12.1f}{rate * size / (1 << 20):>10.1f}{cpu:>10.0f}")

    url = f"postgresql://postgres:postgres@127.0.0.1:{database}/postgres"
    subprocess.run(["psql", "-q", url, "-c",
                    "insert into storage.objects (bucket_id, name, version, metadata) select 'many', 'item-' || "
                    "lpad(i::text, 6, '0') || '.jpg', gen_random_uuid(), '{\"size\": 1}' from generate_series(1, 100000) i; "
                    "insert into storage.objects (bucket_id, name, version, metadata) select 'folders', 'folder-' || i % 1000 "
                    "|| '/item-' || i || '.jpg', gen_random_uuid(), '{\"size\": 1}' from generate_series(1, 100000) i; "
                    "create policy bench on storage.objects for select to anon using (bucket_id in ('many', 'folders'))",
                    "-c", "analyze storage.objects"], check=True)
    anon = re.search(r'ANON_KEY="([^"]+)"', status).group(1)
    print(f"\n{'list 1 000 of 100 000':<28}{'per second':>12}{'CPU µs':>10}")
    for name, who, path, body in [
        ("v1, service role", key, "list/many", '{"prefix": "", "limit": 1000}'),
        ("v1, policies", anon, "list/many", '{"prefix": "", "limit": 1000}'),
        ("v2, service role", key, "list-v2/many", '{"limit": 1000}'),
        ("v2, policies", anon, "list-v2/many", '{"limit": 1000, "with_delimiter": true}'),
        ("v1, folders, policies", anon, "list/folders", '{"prefix": "", "limit": 1000}'),
        ("v2, folders, policies", anon, "list-v2/folders", '{"limit": 1000, "with_delimiter": true}'),
        ("v1, folders, by date", anon, "list/folders", '{"prefix": "", "sortBy": {"column": "created_at", "order": "desc"}}'),
        ("v1, one of 1 000 folders", anon, "list/folders", '{"prefix": "folder-500"}'),
        ("v1, offset 90 000", anon, "list/many", '{"prefix": "", "offset": 90000}'),
        ("v1, flat, by date", anon, "list/many", '{"prefix": "", "sortBy": {"column": "created_at", "order": "desc"}}'),
    ]:
        script = os.path.join(project, "list.lua")
        open(script, "w").write(
            f'wrk.method = "POST"; wrk.path = "/storage/v1/object/{path}"; wrk.body = [[{body}]]\n'
            f'wrk.headers["authorization"] = "Bearer {who}"; wrk.headers["content-type"] = "application/json"\n')
        rate, cpu = measure(server.pid, base, 4, args.dur, script=script)
        print(f"{name:<28}{rate:>12.1f}{cpu:>10.0f}")

    large = os.path.join(files, str(100 << 20))
    up = peak_memory(server, lambda: in_parallel(args.parallel, lambda n: curl(
        "-X", "PUT", "-H", f"authorization: Bearer {key}", "-T", large, f"{base}/object/bench/parallel-{n % 8}")))
    down = peak_memory(server, lambda: in_parallel(args.parallel, lambda _: curl(
        f"{base}/object/public/bench/{100 << 20}")))
    print(f"\nmemory during {args.parallel} parallel transfers of 100 MiB: up {up:.0f} MB, down {down:.0f} MB resident")


def compare(args, project, server, api, nginx, port):
    """Downloads, next to nginx where it is installed."""
    web = None
    if nginx:
        config = os.path.join(project, "nginx.conf")
        open(config, "w").write(NGINX.format(dir=project, port=port))
        web = subprocess.Popen([nginx, "-c", config, "-p", project])
        time.sleep(0.5)
    else:
        print("\nnginx is not installed: downloads are not compared (Debian: apt-get install nginx-light)")
    print(f"\n{'download':<12}{'per second':>12}{'MiB/s':>10}{'CPU µs':>10}{'nginx MiB/s':>14}{'ratio':>8}")
    for name, size, connections in SIZES:
        rate, cpu = measure(server.pid, f"http://127.0.0.1:{api}/storage/v1/object/public/bench/{size}", connections, args.dur)
        line = f"{name:<12}{rate:>12.1f}{rate * size / (1 << 20):>10.1f}{cpu:>10.0f}"
        if web:
            requests, seconds = wrk(f"http://127.0.0.1:{port}/{size}", connections, args.dur)
            line += f"{requests / seconds * size / (1 << 20):>14.1f}{rate / (requests / seconds):>8.2f}"
        print(line)
    return web


if __name__ == "__main__":
    main()
