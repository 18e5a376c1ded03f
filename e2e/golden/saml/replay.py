"""Replays the corpus against a built binary: starts the service once per profile, on free ports and fresh data, and compares
the runner's reports with differences.json. A difference that is not listed fails, and so does a listed one that no longer
occurs.

    replay.py --binary PROGRAM [PATTERN...]      all scenarios, or those whose names match a pattern

Needs Python 3.11 and psycopg.
"""
import argparse, concurrent.futures, fnmatch, importlib.util, json, os, pathlib, shutil, subprocess, sys, tempfile, time

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))
import saml_golden  # noqa: E402

PROFILES = ("main", "next", "closed", "off")
# Each profile has a server and a database of its own. More at once would make them wait for each other on small machines.
CONCURRENT_PROFILES = 2
CONFIG = """project_id = "golden-{profile}"
[auth]
site_url = "{site_url}"
additional_redirect_urls = {redirects}
jwt_secret = "{secret}"
enable_signup = {enable_signup}
[auth.email]
enable_confirmations = false
[selvedge.auth]
rate_limit_header = "{rate_limit_header}"
# The providers of the recordings have no domains, and the original confirms whatever address they name.
sso_confirms_any_address = true
"""
CAPTCHA = """[auth.captcha]
enabled = true
provider = "{provider}"
secret = "{secret}"
"""
HOOK = """[auth.hook.before_user_created]
enabled = true
uri = "{uri}"
"""


def load_servers():
    """The part of the runner for Auth that starts servers."""
    spec = importlib.util.spec_from_file_location("auth_replay", HERE.parent / "auth" / "replay.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SERVERS = load_servers()


def read_profile(profile):
    """The variables of a profile, with the keys written out."""
    command = [sys.executable, str(HERE / "saml_golden.py"), "env", str(HERE), "--profile", profile]
    lines = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


def write_project(folder, profile, variables):
    """Writes config.toml; what the original reads from `GOTRUE_SAML_...` stays in the environment."""
    project = folder / "supabase"
    project.mkdir()
    read = lambda name, default="": variables.get("GOTRUE_" + name, default)
    config = CONFIG.format(
        profile=profile, site_url=read("SITE_URL"), redirects=json.dumps(read("URI_ALLOW_LIST").split(",")), secret=read("JWT_SECRET"),
        enable_signup=json.dumps(read("DISABLE_SIGNUP") != "true"), rate_limit_header=read("RATE_LIMIT_HEADER", "X-Golden-Address"))
    if read("SECURITY_CAPTCHA_ENABLED") == "true":
        config += CAPTCHA.format(provider=read("SECURITY_CAPTCHA_PROVIDER"), secret=read("SECURITY_CAPTCHA_SECRET"))
    if read("HOOK_BEFORE_USER_CREATED_ENABLED") == "true":
        config += HOOK.format(uri=read("HOOK_BEFORE_USER_CREATED_URI"))
    (project / "config.toml").write_text(config, encoding="utf-8")
    return {name: value for name, value in variables.items() if name.startswith(("GOTRUE_SAML_", "GOTRUE_RATE_LIMIT_SSO"))}


def write_psql(folder):
    """A program `psql` for the runner."""
    program = folder / "psql"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{HERE.parent / "auth" / "psql.py"}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return program


def replay_profile(binary, profile, names):
    """Returns the runner's report of one profile: an entry for each scenario that differs, with its flaws."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="saml-golden-"))
    try:
        variables = write_project(folder, profile, read_profile(profile))
        variables["SSL_CERT_FILE"] = str(HERE / "fixtures" / "metadata-ca.pem")
        server = SERVERS.start_server(binary, folder, variables)
        try:
            return play_scenarios(server, profile, names, folder)
        finally:
            server.stop()
            if os.environ.get("GOLDEN_LOG"):
                print(server.log.read_text(encoding="utf-8", errors="replace"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def play_scenarios(server, profile, names, folder):
    report = folder / "report.json"
    (https_port,) = SERVERS.free_ports(1)
    command = [
        sys.executable, str(HERE / "saml_golden.py"), "run", str(HERE), "--profile", profile,
        "--base-url", f"http://127.0.0.1:{server.api}/auth/v1", "--jwt-secret", SERVERS.SECRET,
        "--db-url", f"postgresql://postgres:postgres@127.0.0.1:{server.db}/postgres", "--https-port", str(https_port),
        "--psql", str(write_psql(folder)), "--only", ",".join(names), "--out", str(report), "--quiet",
    ]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if not report.exists():
        raise RuntimeError(result.stdout)
    return json.loads(report.read_text(encoding="utf-8"))


def print_flaws(scenario, flaws):
    print("FAILED", scenario["name"])
    for flaw in flaws:
        index = flaw["step"] - 1
        request = scenario["steps"][index].get("request") if 0 <= index < len(scenario["steps"]) else None
        shown = f"{request['method']} {request['path']} " if request else ""
        print(f"   step {flaw['step']:02d} {shown}{flaw['path']}: want {json.dumps(flaw['want'])[:260]} got {json.dumps(flaw['got'])[:260]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("patterns", nargs="*")
    args = parser.parse_args()
    started = time.monotonic()
    scenarios = saml_golden.load(str(HERE))
    if args.patterns:
        scenarios = [s for s in scenarios if any(fnmatch.fnmatch(s["name"], p) for p in args.patterns)]
    by_profile = {p: [s["name"] for s in scenarios if s["profile"] == p] for p in PROFILES}
    flaws = {}
    with concurrent.futures.ThreadPoolExecutor(CONCURRENT_PROFILES) as pool:
        runs = [pool.submit(replay_profile, args.binary, p, names) for p, names in by_profile.items() if names]
        for run in runs:
            flaws.update({entry["name"]: entry["flaws"] for entry in run.result()})
    differences = json.loads((HERE / "differences.json").read_text(encoding="utf-8"))
    flaws = SERVERS.find_unlisted([s["name"] for s in scenarios], flaws, differences)
    for scenario in scenarios:
        if scenario["name"] in flaws:
            print_flaws(scenario, flaws[scenario["name"]])
    print(f"{len(scenarios) - len(flaws)} passed, {len(flaws)} failed, {time.monotonic() - started:.0f} s")
    return 1 if flaws or not scenarios else 0


if __name__ == "__main__":
    sys.exit(main())
