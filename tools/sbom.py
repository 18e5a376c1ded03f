#!/usr/bin/env python3
"""Prints what is compiled into the program as CycloneDX 1.6 (JSON), which scanners for known weaknesses read.

    tools/sbom.py TARGET        such as x86_64-unknown-linux-gnu

It has the same parts as the notices of tools/third_party.py: crates, npm packages of the console's pages, pgTAP. The same checkout gives
the same text, so it has neither a time nor a random number.
"""

import json
import sys
import tomllib
from urllib.parse import quote

from third_party import ROOT, find_crates, find_npm_packages, find_pgtap, read_metadata


def read_checksums():
    """SHA-256 of the archives that Cargo.lock names, by name and version."""
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    return {(package["name"], package["version"]): package["checksum"] for package in locked if "checksum" in package}


def describe(part, kind, checksum=None):
    """A component. `kind` is the type of its package URL (https://github.com/package-url/purl-spec)."""
    purl = f"pkg:{kind}/{quote(part.name, safe='/')}@{part.version}"
    component = {"type": "library", "bom-ref": purl, "name": part.name, "version": part.version, "purl": purl}
    if part.licence:
        component["licenses"] = [{"expression": part.licence.replace("/", " OR ")}]
    if checksum:
        component["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if part.origin.startswith("https://"):
        component["externalReferences"] = [{"type": "vcs", "url": part.origin}]
    return component


def make_sbom(target):
    """The text for the program of a target."""
    metadata = read_metadata(target)
    version = next(package["version"] for package in metadata["packages"] if package["name"] == "selvedge")
    checksums = read_checksums()
    components = [describe(part, "cargo", checksums.get((part.name, part.version))) for part in find_crates(metadata)]
    components += [describe(part, "npm") for part in find_npm_packages(ROOT / "console")]
    components.append(describe(find_pgtap(), "generic"))
    # A package of npm may be there in several folders.
    listed = {component["bom-ref"]: component for component in components}
    purl = f"pkg:generic/selvedge@{version}?target={target}"
    program = {"type": "application", "bom-ref": purl, "name": "selvedge", "version": version, "purl": purl}
    program["licenses"] = [{"license": {"id": "Apache-2.0"}}]
    sbom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": program},
        "components": [listed[name] for name in sorted(listed)],
        "dependencies": [{"ref": purl, "dependsOn": sorted(listed)}],
    }
    return json.dumps(sbom, indent=1) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.stdout.write(make_sbom(sys.argv[1]))
