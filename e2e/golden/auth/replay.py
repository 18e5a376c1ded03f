"""Replays the corpus against a built binary: starts the service once per profile, on free ports and fresh data, and compares
the runner's reports with differences.json.

    replay.py --binary PROGRAM [PATTERN...]      all scenarios, or those whose names match a pattern

A difference that is not listed fails, and so does a listed one that no longer occurs. Needs Python 3.11 and psycopg.
"""
import argparse, concurrent.futures, fnmatch, json, os, pathlib, random, shutil, socket, stat, subprocess, sys, tempfile, time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
PROFILES = ("open", "confirm", "hooks", "strict", "closed", "recovery", "recovery-off")
# Each profile has a server and a database of its own. More at once would make them wait for each other on small machines.
CONCURRENT_PROFILES = 2
SECRET = "super-secret-jwt-token-with-at-least-32-characters-long"


def free_ports(count):
    """Ports below 32768: a port from the system's range could be taken by a client's connection before the server listens. The Rust
    tests take theirs from 20000 on, those of e2e/ from 26000 on."""
    found = []
    while len(found) < count:
        port = random.randrange(22000, 26000)
        with socket.socket() as probe:
            if port not in found and probe.connect_ex(("127.0.0.1", port)) != 0:
                found.append(port)
    return found


def write_project(folder, profile, provider_port):
    """Writes the project folder of a profile, with the port of this run's test provider."""
    project = folder / "supabase"
    project.mkdir()
    # Paths in config.toml are relative to the folder that holds `supabase`.
    shutil.copytree(HERE / "profiles" / "templates", folder / "templates")
    config = (HERE / "profiles" / f"{profile}.toml").read_text(encoding="utf-8")
    runner = load_runner()
    (project / "config.toml").write_text(config.replace(str(runner.PROVIDER_PORTS[profile]), str(provider_port)), encoding="utf-8")


def load_runner():
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(HERE))
    import auth_golden
    return auth_golden


def write_psql(folder):
    """A program `psql` for the runner, which starts psql.py with this Python."""
    program = folder / "psql"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{HERE / "psql.py"}" "$@"\n', encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


class Server:
    """A running service with a project folder of its own."""

    def __init__(self, binary, folder, ports, variables):
        self.api, self.db, self.inbox = ports
        self.log = folder / "log"
        environment = {**os.environ, **variables, "SELVEDGE_DATA_DIR": str(folder / "data")}
        command = [binary, "start", "--project", str(folder), "--port", str(self.api), "--db-port", str(self.db), "--inbox-port", str(self.inbox), "--no-studio"]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)

    def wait_until_ready(self):
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.api}/health/ready", timeout=5):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        raise RuntimeError(self.log.read_text(encoding="utf-8", errors="replace"))

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()


def start_server(binary, folder, variables={}):
    """A server that is ready, with these environment variables. Another program may take a port between the search for it and its use, so it tries again."""
    for attempts_left in (2, 1, 0):
        server = Server(binary, folder, free_ports(3), variables)
        try:
            server.wait_until_ready()
            return server
        except RuntimeError:
            server.stop()
            if not attempts_left:
                raise


def play_scenarios(server, profile, names, folder, provider_port):
    """Plays the named scenarios; returns {name: flaws} of those that differ from the recording."""
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    command = [
        sys.executable, str(HERE / "replay.py"), "--as-runner", str(provider_port),
        "run", str(HERE), "--profile", profile, "--base-url", f"http://127.0.0.1:{server.api}/auth/v1", "--jwt-secret", SECRET,
        "--db-url", f"postgresql://postgres:postgres@127.0.0.1:{server.db}/postgres", "--inbox-url", f"http://127.0.0.1:{server.inbox}",
        "--psql", str(write_psql(folder)), "--only", ",".join(names), "--out", str(report), "--quiet",
    ]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if not report.exists():
        raise RuntimeError(result.stdout)
    return {entry["name"]: entry["flaws"] for entry in json.loads(report.read_text(encoding="utf-8"))}


def find_unlisted(names, flaws, differences):
    """{name: [(flaw, reason)]}: what differs without being listed, and what is listed and did not occur."""
    found = {}
    for name in names:
        listed = differences.get(name, [])
        seen = set()
        for flaw in flaws.get(name, []):
            entry = next((i for i, d in enumerate(listed) if d["step"] == flaw["step"] and fnmatch.fnmatchcase(flaw["path"], d["path"])), None)
            if entry is None:
                found.setdefault(name, []).append(flaw)
            else:
                seen.add(entry)
        for i, d in enumerate(listed):
            if i not in seen:
                found.setdefault(name, []).append({"step": d["step"], "path": d["path"], "want": "the listed difference", "got": "as recorded"})
    return found


def replay_profile(binary, profile, scenarios, differences):
    """Returns {name: flaws} for the scenarios of one profile."""
    names = [s["name"] for s in scenarios]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="auth-golden-"))
    try:
        (provider_port,) = free_ports(1)
        write_project(folder, profile, provider_port)
        server = start_server(binary, folder)
        try:
            found = find_unlisted(names, play_scenarios(server, profile, names, folder, provider_port), differences)
            if found:
                # A mail or a row that a loaded machine delays longer than the runner waits is no difference: it is there when
                # the scenario is played again. Scenarios use addresses of their own, so they may be repeated.
                again = list(found)
                found = find_unlisted(again, play_scenarios(server, profile, again, folder, provider_port), differences)
            return found
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def print_flaws(scenario, flaws):
    print("FAILED", scenario["name"])
    for flaw in flaws:
        index = flaw["step"] - 1
        request = scenario["steps"][index].get("request") if 0 <= index < len(scenario["steps"]) else None
        shown = f"{request['method']} {request['path']} " if request else ""
        print(f"   step {flaw['step']:02d} {shown}{flaw['path']}: want {json.dumps(flaw['want'])[:260]} got {json.dumps(flaw['got'])[:260]}")


def main():
    if sys.argv[1:2] == ["--as-runner"]:
        runner = load_runner()
        port = int(sys.argv[2])
        runner.PROVIDER_PORTS = {profile: port for profile in PROFILES}
        sys.argv = ["auth_golden.py", *sys.argv[3:]]
        return runner.main()
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("patterns", nargs="*")
    args = parser.parse_args()
    started = time.monotonic()
    scenarios = load_runner().load_scenarios(str(HERE))
    if args.patterns:
        scenarios = [s for s in scenarios if any(fnmatch.fnmatch(s["name"], p) for p in args.patterns)]
    differences = json.loads((HERE / "differences.json").read_text(encoding="utf-8"))
    by_profile = {p: [s for s in scenarios if s["profile"] == p] for p in PROFILES}
    failed = {}
    with concurrent.futures.ThreadPoolExecutor(CONCURRENT_PROFILES) as pool:
        runs = [pool.submit(replay_profile, args.binary, p, chosen, differences) for p, chosen in by_profile.items() if chosen]
        for run in runs:
            failed.update(run.result())
    for scenario in scenarios:
        if scenario["name"] in failed:
            print_flaws(scenario, failed[scenario["name"]])
    print(f"{len(scenarios) - len(failed)} passed, {len(failed)} failed, {time.monotonic() - started:.0f} s")
    return 1 if failed or not scenarios else 0


if __name__ == "__main__":
    sys.exit(main())
