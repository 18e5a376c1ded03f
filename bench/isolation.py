#!/usr/bin/env python3
"""Checks isolation under load: every response belongs to its caller.

  isolation.py [--requests 1000000] [--concurrency 64] [--binary PATH]

Starts a release build on a database of its own (bench/schema.sql) and sends requests over as many connections as
asked for, pipelined over a few processes: anonymous and 100 identities mixed, reads and writes under row-level
security. Each answer is checked: who the database took the caller for, whose rows came back, the status. In the end
PostgreSQL's log must not speak of transactions that were not in progress. Needs psql; nothing else."""

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

from bench import HERE, SECRET, free_ports, start, stop
import run

FIRST_USER, USERS = 1501, 100

SCHEMA = """
create table public.notes (
  id bigint generated always as identity primary key, owner uuid not null default auth.uid(), body text);
create index on public.notes (owner, id desc);
alter table public.notes enable row level security;
create policy own on public.notes to authenticated
  using (owner = (select auth.uid())) with check (owner = (select auth.uid()));
grant select, insert, update, delete on public.notes to anon, authenticated;
create function public.whoami() returns json language sql stable as $$
  select json_build_object('role', current_user, 'sub', auth.uid(), 'method', current_setting('request.method'),
    'tag', current_setting('request.headers')::json ->> 'x-tag') $$;
create function public.fails(tag text) returns void language plpgsql as $$
  begin insert into public.notes (body) values ('lost'); raise exception '%', tag; end $$;
notify pgrst;
"""


class Caller:
    """One connection, on which requests of changing identities follow each other."""

    def __init__(self, port, tokens, seed):
        self.port, self.tokens, self.random = port, tokens, random.Random(seed)
        self.done, self.seed = 0, seed

    async def run(self, requests):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        for _ in range(requests):
            user = self.random.randrange(-20, USERS)
            await self.send_checked(user if user >= 0 else None)
            self.done += 1
        self.writer.close()

    async def send_checked(self, user):
        tag = f"{self.seed}-{self.done}"
        kind = self.random.choice(
            ["whoami", "whoami", "read", "read", "list", "insert", "update", "fails", "strange"]
        )
        sub = None if user is None else run.uid("0052", FIRST_USER + user)
        if kind == "whoami":
            status, body = await self.send("GET", "/rpc/whoami", user, tag)
            role = "anon" if user is None else "authenticated"
            expected = {"role": role, "sub": sub, "method": "GET", "tag": tag}
            assert (status, body) == (200, expected), (kind, status, body, expected)
        elif kind == "read":
            status, body = await self.send("GET", "/notes?select=owner,body&order=id.desc&limit=20", user, tag)
            assert status == 200 and all(note["owner"] == sub for note in body), (kind, status, body)
            assert user is not None or body == [], body
        elif kind == "list":
            status, body = await self.send("GET", "/combines?select=id,status&limit=5&order=id", user, tag)
            assert status == 200 and len(body) == 5, (kind, status, body)
            assert all(row["status"] == "approved" for row in body) or user is not None, body
        elif kind == "insert":
            status, body = await self.send(
                "POST", "/notes?select=owner,body&order=id.desc&limit=20", user, tag, {"body": tag}
            )
            if user is None:
                assert status == 401 and body["code"] == "42501", (kind, status, body)
            else:
                assert (status, body) == (201, [{"owner": sub, "body": tag}]), (kind, status, body)
        elif kind == "update":
            status, body = await self.send(
                "PATCH", f"/notes?select=owner&id=eq.0&body=eq.{tag}", user, tag, {"body": tag}
            )
            assert (status, body) == (200, []), (kind, status, body)
        elif kind == "fails":
            status, body = await self.send("POST", "/rpc/fails", user, tag, {"tag": tag})
            expected = "42501" if user is None else "P0001"
            assert status in (400, 401) and body["code"] == expected, (kind, status, body)
            assert user is None or body["message"] == tag, (body, tag)
        else:
            other = run.uid("0052", FIRST_USER + (1 if user == 0 else 0))
            status, body = await self.send("POST", "/notes", user, tag, {"owner": other, "body": "not mine"})
            assert status in (401, 403) and body["code"] == "42501", (kind, status, body)

    async def send(self, method, path, user, tag, body=None):
        token = self.tokens["anon"] if user is None else self.tokens["users"][user]
        payload = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{method} /rest/v1{path} HTTP/1.1\r\nhost: x\r\napikey: {self.tokens['anon']}\r\nauthorization: Bearer {token}\r\n"
            f"x-tag: {tag}\r\nprefer: return=representation\r\n"
        )
        if body is not None:
            head += f"content-type: application/json\r\ncontent-length: {len(payload)}\r\n"
        self.writer.write(head.encode() + b"\r\n" + payload)
        head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        length = re.search(rb"content-length: (\d+)", head)
        text = await self.reader.readexactly(int(length.group(1))) if length else b""
        return int(head[9:12]), json.loads(text) if text else None


async def run_callers(port, tokens, seeds, requests):
    await asyncio.gather(*(Caller(port, tokens, seed).run(requests) for seed in seeds))


def run_process(*arguments):
    asyncio.run(run_callers(*arguments))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(HERE, "..", "target", "release", "selvedge"))
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    project = tempfile.mkdtemp(prefix="selvedge-isolation-")
    api, database, inbox = free_ports(3)
    open(os.path.join(project, "port"), "w").write(str(api))
    open(os.path.join(project, "config.toml"), "w").write(
        f'project_id = "isolation"\n[api]\nport = {api}\n[db]\nport = {database}\n[inbucket]\nport = {inbox}\n'
        f'[auth]\njwt_secret = "{SECRET}"\n'
    )
    log = open(os.path.join(project, "server.log"), "w")
    server, _ = start(os.path.abspath(args.binary), project, log)
    try:
        url = f"postgresql://postgres:postgres@127.0.0.1:{database}/postgres"
        psql = ["psql", "-q", url, "-v", "ON_ERROR_STOP=1"]
        subprocess.run([*psql, "-f", os.path.join(HERE, "schema.sql")], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([*psql, "-c", SCHEMA], check=True)
        time.sleep(2)
        jwt = os.path.join(project, "jwt")
        sys.argv = ["run.py", "gen", "--secret", SECRET, "--out", jwt]
        run.main()
        tokens = {"anon": open(f"{jwt}/anon.jwt").read().strip(), "users": open(f"{jwt}/users.txt").read().split()}
        each = args.requests // args.concurrency
        began = time.time()
        seeds = [range(number, args.concurrency, args.processes) for number in range(args.processes)]
        workers = [multiprocessing.Process(target=run_process, args=(api, tokens, part, each)) for part in seeds]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        seconds = time.time() - began
        ask = lambda sql: subprocess.run(
            ["psql", "-qAt", url, "-c", sql], check=True, capture_output=True, text=True
        ).stdout.strip()
        wrong = ask("select count(*) from public.notes where body in ('lost', 'not mine')")
        folder = ask("show data_directory")
        logs = [
            os.path.join(at, name)
            for top in (folder, project)
            for at, _, names in os.walk(top)
            for name in names
            if name.endswith((".log", ".csv")) or name == "logfile"
        ]
        told = [
            line for name in logs for line in open(name, errors="replace") if "transaction in progress" in line
        ]
        failed = any(worker.exitcode for worker in workers) or wrong != "0" or told
        print(
            f"{each * args.concurrency} requests at concurrency {args.concurrency} in {seconds:.0f} s "
            f"({each * args.concurrency / seconds:.0f}/s): "
            + ("FAILED" if failed else "every answer belongs to its caller, every status as expected")
        )
        print(f"rows that should not be there: {wrong}; lines about transactions not in progress: {len(told)}")
        sys.exit(1 if failed else 0)
    finally:
        stop(server)
        shutil.rmtree(project, ignore_errors=True)


if __name__ == "__main__":
    main()
