"""The steps of `make check`, `make test`, `make test-all` and `make soak`, which tools/steps runs side by side.

To add a step, append `step(...)` to STEPS. Steps start in the order of this list, as soon as those that they need have passed and
the machine has room for them; so what takes long, or is needed by much, stands further up.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
TIERS = ("run", "check", "test", "test-all", "soak")
# These have their own steps alone, and those that they need; each of the others has those of the one before it, too.
STAND_ALONE = ("run", "soak")


@dataclass(frozen=True)
class Step:
    """One command, with its name in the output."""

    name: str
    command: tuple[str, ...]
    # The first tier that runs it; later ones run it, too.
    tier: str
    # The last tier that runs it, if a longer form takes its place in the next.
    until: str
    # Names of the steps that have to pass first.
    needs: tuple[str, ...]
    # How many cores it keeps busy. Tests that mostly wait take less than one.
    cores: float
    # Names of what only one step can use at a time, such as cargo's lock on the target folder.
    alone: tuple[str, ...]
    # Which job of the workflow runs it, see `tools/steps --job`.
    job: str
    # Whether its temporary files are in memory where there is room: new clusters of PostgreSQL write thousands.
    in_memory: bool
    # Its priority while cores are scarce, as of nice(1): 0 for an equal share, 15 for hardly more than what the others leave.
    niceness: int
    environment: dict[str, str] = field(default_factory=dict)


def step(
    name, *command, tier="test", until="test-all", needs=(), cores=1.0, alone=(), job="rust", in_memory=False, niceness=0, **environment
):
    """A step whose environment has the named variables besides those of `make`."""
    return Step(name, command, tier, until, tuple(needs), cores, tuple(alone), job, in_memory, niceness, environment)


def make(name, target, **options):
    """A step that makes a file by the Makefile, and nothing if it is up to date."""
    return step(name, "make", "--no-print-directory", target, **options)


def npm(name, folder, *script, **options):
    """A script of the package.json in a folder."""
    return step(name, "npm", "--silent", "--prefix", folder, *script, **options)


def cargo_test(name, *arguments, cores=0.5, **options):
    """Rust tests. They mostly wait for PostgreSQL, so more of them run at once than there are cores: four of each of two programs.
    Browser and clients, which run beside them, come first."""
    return step(
        name, "tools/cargo-test", "--built", *arguments, needs=["cargo test --no-run"], alone=["cargo test"], cores=cores, niceness=5,
        RUST_TEST_THREADS="4", **options
    )


def on_versions(what, *majors, test, source=None):
    """Rust tests of one program, with each of these versions of PostgreSQL, one after the other. What they import is of version `source`."""
    crate, program, choice = test
    of_source = ["--source", source] if source else []
    return step(
        f"cargo test, {what} on versions of PostgreSQL", "tools/on-versions", *of_source, *majors, "--", "tools/cargo-test", "--built", "-p", crate,
        "--test", program, "--", choice, needs=["cargo test --no-run"], alone=["cargo test"], cores=0.5, niceness=5, tier="test-all",
        RUST_TEST_THREADS="4"
    )


# The debug build, whose assertions are on. RELEASE=1 runs the tests of e2e/ against the release build instead, whose compilation
# takes as long as all other builds together.
BUILD = "cargo build --release" if os.environ.get("RELEASE") else "cargo build"
TESTED_BINARY = str(TARGET.resolve() / ("release" if os.environ.get("RELEASE") else "debug") / "selvedge")
# A build machine may stall for seconds, which conversations with recorded times do not forgive: there, they get a second try.
RETRY = ("tools/retry",) if os.environ.get("CI") else ()

# Conversations that `make test` replays, one or two of each kind; `make test-all` replays all.
REALTIME_CHOICE = """
    connect-keys connect-bad-token frames-malformed-* join-twice join-wrong-types broadcast-kind3-* broadcast-text-* rest-batch
    rest-single-private presence-update presence-disconnect auth-table auth-write replay-limit token-refresh-lost db-send-public
    db-broadcast-changes pg-basic-v1 pg-rls-rows pg-select-two filter-in
    """.split()
# Likewise the recorded requests to the original's Auth: every area, and a few of the generated sequences.
AUTH_CHOICE = """
    create-confirm link-works-* list update invite-open captcha hook-* bodies redirects settings-* totp-life enroll-errors
    challenge-errors passkeys flow-none callback-new-* callback-errors callback-pkce-confirm link-identity otp-known-open
    otp-new-confirm otp-phone-open recover-confirm resend-confirm verify-types-cross signup-new-confirm signup-anonymous-open
    signup-decoy signup-weak idtoken-nonce password-* pkce-errors refresh-* session-timebox logout user-email-change-open
    user-password-confirm user-tokens seq-00* rc-generate* rc-verify-* rc-unenroll-* rc-methods rc-off* scim-*
    """.split()
# And the recorded sign-ins by SAML: one or more of every area, among them attacks of each kind.
SAML_CHOICE = """
    metadata-* sso-* flow-sp flow-idp flow-pkce* flow-same-nameid-two-emails flow-user-is-managed stale-key-changed stale-garbage
    mapping-custom mapping-profile mapping-email-spaces subject-attribute signature-e* signature-sha1 c14n-inc encrypted-aes*
    encrypted-damaged attack-xsw* attack-same-id comment-in-nameid-email doctype-bomb rogue-key-value audience-wrong
    recipient-wrong conditions-expired replay-* relay-expired message-trailing admin-put-* admin-url-* closed-* off-* next-*
    """.split()
# Tests about rights, settings and writes, which are run once more with the transactions and statements for Citus: of each kind one or
# two, and in `make test-all` all of them. The recorded requests to REST are compared in both forms by their own test.
CITUS_PROGRAMS = "--test rest --test api --test policies --".split()
CITUS_CHOICE = """
    identity::rest_001 identity::rest_003 identity::rest_072 transactions:: tenants::rest_082_grants write::rest_025 write::rest_055
    writes::console_081_upserts policies::store_010 policies::store_012 golden::golden_scenarios
    """.split()
CITUS_TESTS = """
    identity:: transactions:: tenants:: write:: generated:: explain:: writes:: policies::store_ golden::golden_scenarios
    """.split()

# Tests of Storage about bytes, which are run once more with objects in an S3 server; `make test-all` takes all that can.
S3_TESTS = "buckets:: copies:: crash_safety:: crashes:: downloads:: history_crashes:: object_history:: resumable:: s3_multipart:: s3_objects:: streams:: sweeps:: uploads::".split()
ON_DISK_ALONE = "golden:: lost_commits:: render_sources:: s3_outages:: s3_parts:: s3_versions:: schema:: transactions::".split()

# The browser's tests take longest of all, so they begin while the tests' programs are still compiled; nothing else fits beside the two.
SITE = {"needs": [BUILD, "frontend: build", "e2e: npm ci"], "job": "site", "cores": 1, "in_memory": True}
CLIENTS = {"needs": [BUILD, "e2e: npm ci"], "job": "clients", "cores": 0.75, "in_memory": True}
FRONTEND = {"needs": ["frontend: npm ci"], "job": "clients"}
CONSOLE = {"needs": ["console: npm ci"], "job": "clients"}
# What compares the program with recorded conversations: one conversation at a time, which mostly waits.
RECORDED = {"needs": [BUILD], "cores": 0.5, "job": "clients", "in_memory": True}


def golden(name, program, *choice, **options):
    """Recorded conversations with the original."""
    return step(name, *RETRY, program, *choice, SELVEDGE_BIN=TESTED_BINARY, **RECORDED, **options)


def find_linting_compiler():
    """Lets cargo take clippy's compiler for our crates, which lints them in passing: `cargo clippy` would read all 600 packages anew, for a
    quarter of the time that compiling takes. It has to be of the version of rustc, which reads what it writes."""
    driver, rustc = shutil.which("clippy-driver"), shutil.which("rustc")
    if not driver or not rustc:
        return {}
    versions = [subprocess.run([*command, "-vV"], capture_output=True, text=True).stdout for command in ([driver, "--rustc"], [rustc])]
    return {"RUSTC_WORKSPACE_WRAPPER": driver} if versions[0] == versions[1] else {}


LINTING_COMPILER = find_linting_compiler()

STEPS = [
    make("console: npm ci", "console/node_modules", tier="run", job="check"),
    make("console: build", "console/dist", needs=["console: npm ci"], tier="run", job="check"),
    # The binary embeds the console, which therefore comes first. A test is named so that the libraries get the features that tests
    # need: without it, most of them would be compiled again for `make test`. It is the smallest.
    step("cargo build", "cargo", "build", "--workspace", "--locked", "--bin", "selvedge", "--test", "saml",
         needs=["console: build"], cores=2, alone=["cargo"], tier="run", **LINTING_COMPILER),
    step("cargo test --no-run", "tools/cargo-test", "--no-run", needs=["cargo build"], cores=2, alone=["cargo"]),
    step("clippy", "tools/cargo-test", "--lints", needs=["cargo test --no-run"], cores=0),
    # Nothing is compiled to be run there.
    step("clippy alone", "cargo", "clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings", needs=["console: build"],
         cores=2, alone=["cargo"], tier="check", until="check", job="check"),
    make("cargo build --release", "build", needs=["console: build"], cores=2, alone=["cargo"], until="soak",
         tier="test" if os.environ.get("RELEASE") else "soak"),
    make("frontend: npm ci", "frontend/node_modules", tier="run", job="check"),
    make("frontend: build", "frontend/dist", needs=["frontend: npm ci"], tier="run", job="site"),
    make("e2e: npm ci", "e2e/node_modules", tier="check", job="check"),
    step("rustfmt", "cargo", "fmt", "--all", "--check", tier="check", job="check"),
    step("structure", "python3", "tools/house.py", "--check", tier="check", job="check"),
    step("what runs the steps", "python3", "tools/steps_test.py", cores=0.5, tier="check", job="check"),
    step("subjects of commits", "tools/commit-subjects", cores=0.5, tier="check", job="check"),
    step("licences", "node", "tools/licences.mjs", tier="check", job="check"),
    step("numbers of the contract", "python3", "tools/contract.py", "--check", tier="check", job="check"),
    step("paths in the documentation", "node", "tools/check-docs.mjs", tier="check", job="check"),
    step("capabilities of the SDKs", "node", "tools/sdk-capabilities.mjs", "--check", needs=["e2e: npm ci"], tier="check", job="check"),
    step("versions of the clients", "tools/newest-clients", "check", tier="check", job="check"),
    step("alert rules", "tools/if-possible", "tools/alert-rules", cores=0.5, tier="test-all", job="check"),
    step("metrics of dashboard and alerts", "node", "tools/check-metrics.mjs", tier="check", job="check"),
    *[
        npm(f"{folder}: {name}", folder, "run", script, needs=[f"{folder}: npm ci"], tier="check", job="check")
        for folder in ("frontend", "console", "e2e")
        for name, script in (("lint", "lint"), ("types", "typecheck"))
    ],
    # They fit beside the compiler, which would otherwise wait for them.
    npm("frontend: tests", "frontend", "test", tier="check", cores=0.5, **FRONTEND),
    npm("console: tests", "console", "test", tier="check", cores=0.5, **CONSOLE),
    # On the phone what differs there; `make test-all` runs everything at both sizes.
    npm("e2e: site and console", "e2e", "run", "test:site", until="test", SELVEDGE_BIN=TESTED_BINARY, **SITE),
    npm("e2e: site and console, every screen", "e2e", "run", "test:site", tier="test-all", SELVEDGE_BIN=TESTED_BINARY,
        EVERY_SCREEN="1", **SITE),
    cargo_test("cargo test", cores=1.5),
    # Two files at a time, which mostly wait for the servers that they start, kill and start again.
    # Not in memory: Deno lets a program that may not do everything open nothing below /dev.
    npm("e2e: servers of their own", "e2e", "run", "test:servers", SELVEDGE_BIN=TESTED_BINARY, **{**CLIENTS, "in_memory": False}),
    npm("e2e: clients", "e2e", "run", "test:clients", SELVEDGE_BIN=TESTED_BINARY, **CLIENTS),
    # `make test` runs these with all others; here they are compiled without the integration tests.
    step("cargo test, units", "cargo", "test", "--workspace", "--lib", "--locked", "--quiet", needs=["console: build"], cores=2,
         alone=["cargo"], tier="check", until="check", job="check"),
    cargo_test("cargo test, as with Citus", *CITUS_PROGRAMS, *CITUS_CHOICE, until="test", SELVEDGE_TEST_CITUS="1"),
    cargo_test("cargo test, all as with Citus", *CITUS_PROGRAMS, *CITUS_TESTS, tier="test-all", SELVEDGE_TEST_CITUS="1"),
    cargo_test("cargo test, Storage in S3", "-p", "storage", "--test", "api", "--", *S3_TESTS, until="test",
               SELVEDGE_TEST_S3="1"),
    cargo_test("cargo test, all of Storage in S3", "-p", "storage", "--test", "api", "--",
               *[word for name in ON_DISK_ALONE for word in ("--skip", name)], tier="test-all", SELVEDGE_TEST_S3="1"),
    # `make test` takes two seconds of them.
    cargo_test("cargo test, a minute of hostile calls", "-p", "postgres", "--test", "postgres", "--", "hostile_calls", tier="test-all",
               SELVEDGE_HOSTILE_CALLS_S="60"),
    # Sixteen of the 23 commands, each by one of the four signals, and eight pairs of commands in each of the six situations, others in every
    # run: about four minutes together. `make soak` has each by each.
    cargo_test("cargo test, commands cut off", "-p", "server", "--test", "cli", "--", "cut_off::", tier="test-all", SELVEDGE_TEST_KILLS="16"),
    cargo_test("cargo test, pairs of commands beside other projects", "-p", "server", "--test", "cli", "--", "matrix::", tier="test-all",
               SELVEDGE_TEST_PAIRS="8"),
    # `make test` draws two clones, others in every run.
    cargo_test("cargo test, hostile clones", "-p", "server", "--test", "cli", "--", "hostile_clones::", tier="test-all", SELVEDGE_TEST_CLONES="5"),
    on_versions("a reset", "15", "16", "17", "18", test=("server", "cli", "fresh_reset::")),
    # The other tests run on the version of the machine, which is mostly the first one.
    on_versions("rights of postgres", "16", "17", "18", test=("postgres", "postgres", "platform::")),
    on_versions("databases full of traps", "16", "17", "18", test=("server", "cli", "superuser::")),
    on_versions("imports from 18", "15", "17", "18", source="18", test=("server", "cli", "an_import_")),
    step("console: versions of PostgreSQL", "tools/console-versions", SELVEDGE_BIN=TESTED_BINARY, **RECORDED),
    golden("realtime: golden", "tools/realtime-golden", *REALTIME_CHOICE, until="test"),
    golden("auth: golden", "tools/auth-golden", *AUTH_CHOICE, until="test"),
    golden("saml: golden", "tools/saml-golden", *SAML_CHOICE, until="test"),
    golden("realtime: golden, all", "tools/realtime-golden", tier="test-all"),
    golden("auth: golden, all", "tools/auth-golden", tier="test-all"),
    golden("saml: golden, all", "tools/saml-golden", tier="test-all"),
    # Attacks of one client on a server of 512 MiB, each for a second or two, with somebody beside whose requests must pass.
    step("attacks of one client, a choice", "tools/if-possible", "e2e/abuse/run", "--choice", "--seconds", "0.25", "--patience", "10",
         needs=[BUILD, "e2e: npm ci"], cores=1, until="test", job="clients", SELVEDGE_BIN=TESTED_BINARY),
    step("attacks of one client", "tools/if-possible", "e2e/abuse/run", "--seconds", "0.5", "--patience", "3",
         needs=[BUILD, "e2e: npm ci"], cores=2, tier="test-all", job="clients", SELVEDGE_BIN=TESTED_BINARY),
    # With certificates that are valid for a minute, most of it waits.
    step("certificates of Pebble", "tools/if-possible", "e2e/acme/run", tier="test-all", needs=[BUILD], cores=0.5, job="clients",
         SELVEDGE_BIN=TESTED_BINARY),
    # A Debian of its own, from a start of systemd to `setup --uninstall`.
    step("setup of a fresh machine", "tools/if-possible", "e2e/setup/run", tier="test-all", needs=[BUILD], cores=1, job="clients",
         SELVEDGE_BIN=TESTED_BINARY),
    # They mostly wait for timeouts.
    *[
        step(f"cluster, {what}", *RETRY, "tools/if-possible", "e2e/cluster/run", what, tier="test-all", needs=[BUILD, "e2e: npm ci"],
             job="cluster", SELVEDGE_BIN=TESTED_BINARY)
        for what in ("splits", "bucket")
    ],
    # Alone, because it reads latencies.
    step("cluster, the short form", *RETRY, "tools/if-possible", "e2e/cluster/run", "cluster", tier="test-all",
         needs=[BUILD, "e2e: npm ci"], cores=9, job="cluster", SELVEDGE_BIN=TESTED_BINARY, SELVEDGE_CLUSTER_MINUTES="0"),
    cargo_test("auth: 100 000 sequences of sign-ins", "--limit", "36000", "-p", "auth", "--test", "api", "--", "auth_109", tier="soak",
               until="soak", SELVEDGE_ACCOUNT_SEQUENCES="100000"),
    cargo_test("cargo test, every command cut off by every signal", "--limit", "3600", "-p", "server", "--test", "cli", "--", "cut_off::", tier="soak",
               until="soak", SELVEDGE_TEST_KILLS="92"),
    cargo_test("cargo test, 100 restarts without a failed request", "--limit", "3600", "-p", "server", "--test", "cli", "--", "handover::", tier="soak",
               until="soak", SELVEDGE_TEST_RESTARTS="100"),
    cargo_test("cargo test, every pair of commands in every situation", "--limit", "3600", "-p", "server", "--test", "cli", "--", "matrix::", tier="soak",
               until="soak", SELVEDGE_TEST_PAIRS="120"),
    cargo_test("cargo test, 300 hostile clones", "--limit", "7200", "-p", "server", "--test", "cli", "--", "hostile_clones::", tier="soak",
               until="soak", SELVEDGE_TEST_CLONES="300", SELVEDGE_TEST_CLONES_TRACE="1"),
    make("cluster, 30 minutes", "cluster", tier="soak", until="soak", needs=["cargo build --release"], cores=9, job="cluster"),
]
