#!/usr/bin/env python3
"""Prints the notices of what is compiled into the program, which its licences ask to be passed on with it.

    tools/third_party.py TARGET        such as x86_64-unknown-linux-gnu

Listed are the crates that the program is linked from on this platform, the npm packages in the console's pages, and pgTAP.
Each text is printed once, with the names of those that have it. `cargo metadata` and console/package-lock.json say what there
is; both must be installed. tools/licences.mjs checks which licences are allowed.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Matches names of licence files such as LICENSE-MIT, but not source files such as copyright.mjs.
NOTICE = re.compile(r"(?!.*\.(m?js|ts|map|rs|c|h)$)(licen[cs]e|copying|notice|unlicense|copyright)", re.IGNORECASE)

# Licences of packages whose package.json has none.
DECLARED = {"combine-errors": "MIT"}  # "MIT" is what its Readme says.

# Texts for packages that name one of these licences and do not contain its text.
STANDARD_TEXTS = {
    "MIT": """\
Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software
is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES
OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE
LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.""",
    "ISC": """\
Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided
that the above copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED
WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR
CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT,
NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.""",
    "Apache-2.0": "The Apache License, Version 2.0, whose text is in the file LICENSE beside this one.",
}

Part = collections.namedtuple("Part", "name version licence authors origin folder")


def read_metadata(target):
    """What `cargo metadata` knows of the workspace, as built for a target."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)


def find_crates(metadata):
    """The crates of others that the package `selvedge` is linked from, without what only builds or tests it."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node["deps"] for node in metadata["resolve"]["nodes"]}
    waiting = [identity for identity, package in packages.items() if package["name"] == "selvedge"]
    linked = set()
    while waiting:
        identity = waiting.pop()
        if identity not in linked:
            linked.add(identity)
            waiting += [d["pkg"] for d in nodes[identity] if any(kind["kind"] is None for kind in d["dep_kinds"])]
    for package in (packages[identity] for identity in linked):
        if package["source"]:
            folder = pathlib.Path(package["manifest_path"]).parent
            origin = package["repository"] or ""
            yield Part(package["name"], package["version"], package["license"], package["authors"], origin, folder)


def find_npm_packages(project):
    """The packages that a project's pages are built from, those for development left out."""
    lock = json.loads((project / "package-lock.json").read_text())
    for path, entry in lock["packages"].items():
        if not path or entry.get("dev") or not (project / path).is_dir():
            continue
        package = json.loads((project / path / "package.json").read_text())
        author = package.get("author", "")
        author = author.get("name", "") if isinstance(author, dict) else author
        origin = package.get("repository", "")
        origin = origin.get("url", "") if isinstance(origin, dict) else origin
        licence = package.get("license") or DECLARED.get(package["name"])
        yield Part(package["name"], package["version"], licence, [author], origin, project / path)


def find_texts(part):
    """The texts that a package comes with; those of C libraries lie in its folders."""
    files = (file for file in part.folder.rglob("*") if NOTICE.match(file.name) and file.is_file())
    nested = part.folder / "node_modules"
    return [file.read_text(errors="replace").strip() for file in sorted(files) if nested not in file.parents]


def make_text(part, parts):
    """The text of a package that comes without one: that of its repository, or the standard one with its authors."""
    for other in parts:
        if other.origin and other.origin == part.origin and (texts := find_texts(other)):
            return texts
    for licence, text in STANDARD_TEXTS.items():
        if part.licence and licence in re.split(r"[^\w.-]+", part.licence):
            authors = ", ".join(filter(None, part.authors)) or f"the authors of {part.origin}"
            return [f"Copyright (c) {authors}\n\n{text}"]
    sys.exit(f"{part.name} {part.version} ({part.licence}) has no text: add it to tools/third_party.py")


def find_pgtap():
    """The extension whose script is in the program."""
    folder = ROOT / "crates/postgres/extensions/pgtap"
    version = re.search(r"default_version = '(.+)'", (folder / "pgtap.control").read_text())[1]
    return Part("pgTAP", version, "PostgreSQL", [], "https://pgtap.org", folder)


def write_notices(target):
    """The text of the file THIRD-PARTY.txt."""
    parts = [*find_crates(read_metadata(target)), *find_npm_packages(ROOT / "console"), find_pgtap()]
    parts.sort(key=lambda part: (part.name.lower(), part.version))
    owners = collections.defaultdict(list)
    texts = {}
    for part in parts:
        for text in find_texts(part) or make_text(part, parts):
            # Texts that differ only in white space are listed once.
            key = " ".join(text.split())
            texts.setdefault(key, text)
            if part not in owners[key]:
                owners[key].append(part)
    lines = [
        "Selvedge is licensed under the Apache License 2.0, see LICENSE. It contains the Rust standard library (MIT OR Apache-2.0,",
        "by the Rust project's developers) and the packages below, under their own licences.",
        "",
        *(f"{part.name} {part.version}: {part.licence}" for part in parts),
    ]
    for key, text in texts.items():
        lines += ["", "=" * 80, ", ".join(f"{part.name} {part.version}" for part in owners[key]), "-" * 80, text]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.stdout.write(write_notices(sys.argv[1]))
