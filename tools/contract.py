#!/usr/bin/env python3
"""Checks the numbers by which tests and comments cite the contract in docs/contract.

  tools/contract.py           prints how many rules each page has, and how many of them tests name
  tools/contract.py --check   fails for a number that no page has, a number that two rules have, a rule without a test that
                              docs/contract/untested.md does not list, and one that it lists although a test names it

`rest_001` in the name of a test, and `REST-001` anywhere, cite the same rule.
"""

import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONTRACT = ROOT / "docs" / "contract"
UNTESTED = CONTRACT / "untested.md"
PREFIXES = ("GW", "REST", "AUTH", "STORE", "REALTIME", "SAML", "CONSOLE", "PROD", "SQL")
FOLDERS = ("crates", "e2e", "console", "frontend", "ui", "packages", "sql", "tools", "bench", "docs")
SUFFIXES = {".rs", ".ts", ".tsx", ".mjs", ".py", ".sql", ".md"}
RULE = re.compile(r'<a id="([a-z]+)-(\d{3})"></a>')
CITED = re.compile(rf"\b({'|'.join(PREFIXES)})-(\d{{3}})\b")
# Some tests prove several rules: `console_163_166_names_…`, `console_160_and_174_…`.
TEST = re.compile(rf"\b({'|'.join(PREFIXES).lower()})((?:_(?:and_)?\d{{3}})+)")
# Titles of tests in TypeScript also name rules in capitals.
TITLE = re.compile(r"\b(?:test|it|describe)(?:\.\w+)?\(\s*[\"'`][^\"'`]*")


def read_rules():
    """Each rule, as `REST-001`, with the pages that have it."""
    rules = defaultdict(list)
    for page in sorted(CONTRACT.glob("*.md")):
        for prefix, number in RULE.findall(page.read_text()):
            rules[f"{prefix.upper()}-{number}"].append(page.name)
    return rules


def read_citations():
    """The files that cite each rule, and the rules that tests name."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *FOLDERS], cwd=ROOT, capture_output=True, text=True, check=True)
    cited, tested = defaultdict(list), set()
    for name in listed.stdout.split():
        path = ROOT / name
        if path.suffix not in SUFFIXES or CONTRACT in path.parents or name.startswith("e2e/golden/") or not path.is_file():
            continue
        text = path.read_text(errors="replace")
        for prefix, number in CITED.findall(text):
            cited[f"{prefix}-{number}"].append(name)
        for prefix, numbers in TEST.findall(text):
            for number in re.findall(r"\d{3}", numbers):
                cited[f"{prefix.upper()}-{number}"].append(name)
                if path.suffix != ".md":
                    tested.add(f"{prefix.upper()}-{number}")
        for title in TITLE.findall(text):
            tested.update(f"{prefix}-{number}" for prefix, number in CITED.findall(title))
    return cited, tested


def find_faults(rules, cited, tested):
    for rule, pages in sorted(rules.items()):
        if len(pages) > 1:
            yield f"{rule} stands more than once: {', '.join(pages)}"
    for rule, files in sorted(cited.items()):
        if rule not in rules:
            yield f"{rule} is not in docs/contract, but in {files[0]}"
    listed = set(re.findall(r"^\| ([A-Z]+-\d{3}) \|", UNTESTED.read_text(), re.MULTILINE))
    for rule in sorted(set(rules) - tested - listed):
        yield f"{rule} has no test; name it in one, or say in docs/contract/untested.md why not"
    for rule in sorted(listed & tested):
        yield f"{rule} has a test; take it off docs/contract/untested.md"
    for rule in sorted(listed - set(rules)):
        yield f"docs/contract/untested.md lists {rule}, which no page has"


def main():
    rules = read_rules()
    cited, tested = read_citations()
    if "--check" in sys.argv:
        faults = list(find_faults(rules, cited, tested))
        print("\n".join(faults))
        return 1 if faults else 0
    numbers = Counter(rule.split("-")[0] for rule in rules)
    for prefix in PREFIXES:
        named = sum(1 for rule in rules if rule.startswith(f"{prefix}-") and rule in tested)
        print(f"{prefix:9} {numbers[prefix]:4} rules, {named:4} of them named by tests")
    return 0


if __name__ == "__main__":
    sys.exit(main())
