#!/usr/bin/env python3
"""Measures how the Rust crates are built, and checks the limits that keep them readable.

    house.py [REPOSITORY] [--circles] [--check]

Prints one line per crate and one for all: files, lines of code, lengths of files and functions (median/p90/maximum),
functions over 50 lines, files over 400 lines, doc and comment lines per line of code, TODOs, unwrap() outside of
tests, files directly in src/, and files that import each other in a circle. --circles lists every circle with the
imports that close it. --check exits with 1 and names what exceeds the limits below, imports in another order than std,
external crates, own modules, statements that name storage.objects without `only`, and examples in doc comments: rustdoc
does not run, so they would prove nothing.

Left out are tests: folders tests/, files tests.rs and *_test*, and everything from the first #[cfg(test)] of a file
on, unless that is a single line such as `mod tests;`. Imports are read as text: `use` declarations and paths that
begin with crate::, super:: or self::, followed through `pub use`. A re-export is no import, so a module root may
re-export its children and they may use it. Macros are not expanded. """

import collections
import os
import re
import statistics
import sys

# Limits for --check. Per crate:
MAX_LOOSE_FILES = 10
MAX_FILES_IN_CIRCLES = 0
# For all crates together.
MAX_LONG_FUNCTIONS = 12

# Where tasks live as long as the server. One row that cannot be read must not end them.
LONG_LIVED = (
    "crates/auth/src/store/cleanup.rs",
    "crates/console/src/series/",
    "crates/console/src/storage_jobs/",
    "crates/generator/src/",
    "crates/jobs/src/",
    "crates/mail-queue/src/",
    "crates/postgres/src/hosts/",
    "crates/postgres/src/listen.rs",
    "crates/postgres/src/replicas/",
    "crates/postgres/src/replication/",
    "crates/postgres/src/role_settings.rs",
    "crates/realtime/src/",
    "crates/rest/src/config/",
    "crates/storage/src/",
)
# Files in those folders that only requests use, or that read rows of simple queries, whose values are optional texts.
SHORT_LIVED = (
    "crates/console/src/storage_jobs/api.rs",
    "crates/postgres/src/hosts/examine.rs",
    "crates/postgres/src/hosts/timeline.rs",
)
# Statements about old versions and markers, or about whatever a database of others has; all others mean current objects.
ABOUT_VERSIONS = (
    "crates/console/src/insights/sizes.rs",
    "crates/doctor/src/database/mod.rs",
    "crates/import/src/objects/mod.rs",
    "crates/storage/src/backend/blob_deleter.rs",
    "crates/storage/src/bucket/delete_bucket.rs",
    "crates/storage/src/bucket/empty_bucket.rs",
    "crates/storage/src/maintenance/sweep.rs",
    "crates/storage/src/sql/list_history.sql",
    "crates/storage/src/sql/list_v2_history.sql",
    "crates/storage/src/sql/s3_list_versions.sql",
    "crates/storage/src/sql/sweep_range.sql",
    "crates/storage/src/versions/",
)
OBJECTS_WITH_HISTORY = re.compile(r"\b(?:from|join|update|using)\s+storage\.objects\b")
PANICKING_READ = re.compile(r"\brow\.get(?:::<.*?>)?\((?:\d|\")")

ROOT = next((a for a in sys.argv[1:] if not a.startswith("-")), ".")
FN = re.compile(
    r'^(\s*)(?:pub(?:\([^)]*\))?\s+)?(?:default\s+)?(?:const\s+)?(?:async\s+)?(?:unsafe\s+)?(?:extern\s+"C"\s+)?fn\s+\w+'
)
PATH = re.compile(r"\b(crate|super|self)((?:::\w+)+)")


def sources(crate):
    for folder, _, names in os.walk(f"{ROOT}/crates/{crate}/src"):
        for name in sorted(names):
            if name.endswith(".rs") and name != "tests.rs" and "_test" not in name and "/tests" not in folder:
                yield os.path.join(folder, name)


def product_lines(path):
    """The lines of a file without its tests."""
    lines = open(path, encoding="utf-8").read().split("\n")
    kept, i = [], 0
    while i < len(lines):
        if lines[i].strip().startswith("#[cfg(test)]"):
            if not lines[i + 1].rstrip().endswith(";"):
                break  # the module of the file's tests, or a function for them: nothing but tests follows
            i += 2  # `mod tests;` or a `use` for tests
            continue
        kept.append(lines[i])
        i += 1
    while kept and not kept[-1].strip():
        kept.pop()
    return kept


def function_lengths(lines):
    for i, line in enumerate(lines):
        match = FN.match(line)
        if not match or line.rstrip().endswith(";"):
            continue
        if line.rstrip().endswith("}") and "{" in line:
            yield 1
            continue
        for j in range(i + 1, len(lines)):
            if lines[j].rstrip() == match.group(1) + "}":
                yield j - i + 1
                break


def p90(values):
    return sorted(values)[round(0.9 * (len(values) - 1))] if values else 0


# ---- imports


def module_of(crate, path):
    parts = os.path.relpath(path, f"{ROOT}/crates/{crate}/src")[:-3].split(os.sep)
    if parts[-1] in ("mod", "lib", "main"):
        parts = parts[:-1]
    return tuple(parts)


def expand(tree):
    """'a::{b, c::{d, e as f}}' -> [('a','b'), ('a','c','d'), ('a','c','e')], with the names they get."""
    tree = tree.strip()
    if tree.startswith("{"):
        inner, depth, start, out = tree[1 : tree.rindex("}")], 0, 0, []
        for i, ch in enumerate(inner + ","):
            depth += ch == "{"
            depth -= ch == "}"
            if ch == "," and depth == 0:
                if inner[start:i].strip():
                    out += expand(inner[start:i])
                start = i + 1
        return out
    head, sep, rest = tree.partition("::")
    if sep:
        return [((head.strip(),) + path, name) for path, name in expand(rest)]
    name, _, alias = head.partition(" as ")
    return [((name.strip(),), (alias or name).strip())]


def imports(crate):
    files = {module_of(crate, p): p for p in sources(crate)}
    uses, exports, paths = {}, {}, {}
    for module, path in files.items():
        text = "\n".join(re.sub(r"//.*", "", line) for line in product_lines(path))
        uses[module], paths[module] = [], []
        for public, tree in re.findall(r"(?m)^\s*(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);", text):
            for full, name in expand(re.sub(r"\s+", " ", tree)):
                uses[module].append(full)
                if public:
                    exports[(module, name)] = full
        body = re.sub(r"(?m)^\s*(pub(?:\([^)]*\))?\s+)?use\s+[^;]+;", "", text)
        paths[module] = [(m.group(1),) + tuple(m.group(2).split("::")[1:]) for m in PATH.finditer(body)]

    def absolute(module, path):
        if path[0] == "crate":
            return path[1:]
        if path[0] == "self":
            return module + path[1:]
        if path[0] == "super":
            up = list(module)
            while path and path[0] == "super":
                up, path = up[:-1], path[1:]
            return tuple(up) + path
        if module + path[:1] in files:
            return module + path
        return None

    def home(path, depth=0):
        if path is None or depth > 8:
            return None
        best = max((k for k in range(len(path) + 1) if path[:k] in files), default=None)
        if best is None:
            return None
        module, rest = path[:best], path[best:]
        if rest and (module, rest[0]) in exports:
            return home(absolute(module, exports[(module, rest[0])]) or None, depth + 1) or module
        return module

    edges = collections.defaultdict(dict)
    for module in files:
        for path in uses[module] + paths[module]:
            if (module, path[-1]) in exports and exports[(module, path[-1])] == path:
                continue  # a re-export uses nothing
            target = home(absolute(module, path))
            if target is not None and target != module:
                edges[module].setdefault(target, path[-1])
    return files, edges


def circles(files, edges):
    index, low, stack, on, out, count = {}, {}, [], set(), [], [0]
    sys.setrecursionlimit(10000)

    def visit(v):
        index[v] = low[v] = count[0]
        count[0] += 1
        stack.append(v)
        on.add(v)
        for w in edges[v]:
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in on:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            group = []
            while True:
                w = stack.pop()
                on.discard(w)
                group.append(w)
                if w == v:
                    break
            if len(group) > 1:
                out.append(sorted(group))

    for v in files:
        if v not in index:
            visit(v)
    return out


def import_group(path, local_modules):
    """0 for the standard library, 1 for external crates, 2 for the crate's own modules."""
    first = re.match(r"(?:::)?(\w+)", path).group(1)
    if first in ("std", "core", "alloc"):
        return 0
    return 2 if first in ("crate", "super", "self") or first in local_modules else 1


def misordered_imports(path):
    """The line of the first `use` at the top of a file that is out of order, or None.

    The groups come in the order of import_group, with a blank line between two groups and none inside a group.
    """
    lines = product_lines(path)
    local_modules = set(re.findall(r"(?m)^(?:pub(?:\([^)]*\))? )?mod (\w+)[;{ ]", "\n".join(lines)))
    group, blank, i = None, False, 0
    while i < len(lines):
        if lines[i].startswith("use "):
            if i and lines[i - 1].startswith("#["):
                return None  # an import for one platform or feature stands apart
            found = import_group(lines[i][4:], local_modules)
            if group is not None and (found < group or (found == group) == blank):
                return i + 1
            group, blank = found, False
            while not lines[i].rstrip().endswith(";"):
                i += 1
        elif not lines[i].strip():
            blank = True
        elif group is not None:
            return None
        i += 1
    return None


def unproven_example(path):
    """The line of the first block of Rust in a doc comment, or None. Other blocks name their language."""
    is_inside = False
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        fence = re.match(r"\s*//[/!]\s*```(\S*)", line)
        if fence:
            if not is_inside and fence[1].split(",")[0] in ("", "rust", "no_run", "should_panic", "ignore", "compile_fail"):
                return number
            is_inside = not is_inside
    return None


def panicking_reads(path):
    """Lines that read a column with `get`, which panics when the value is of another type or null."""
    return [n for n, line in enumerate(product_lines(path), 1) if PANICKING_READ.search(line)]


def statements_about_versions(crate):
    """Statements that read old versions of objects where current ones are meant, with their files and lines."""
    for folder, _, names in os.walk(f"{ROOT}/crates/{crate}/src"):
        for name in sorted(names):
            path = os.path.join(folder, name)
            inner = os.path.relpath(path, ROOT)
            if not name.endswith((".rs", ".sql")) or inner.startswith(ABOUT_VERSIONS):
                continue
            lines = product_lines(path) if name.endswith(".rs") else open(path, encoding="utf-8").read().split("\n")
            for line, text in enumerate(lines, 1):
                if OBJECTS_WITH_HISTORY.search(text):
                    yield f"{inner}:{line}"


def measure(files):
    """Sizes of files, lengths of functions, and counts, for one crate."""
    counts = collections.Counter()
    sizes, lengths = [], []
    for path in files.values():
        lines = product_lines(path)
        sizes.append(len(lines))
        lengths += function_lengths(lines)
        for line in lines:
            s = line.strip()
            kind = (
                "doc"
                if s.startswith(("///", "//!"))
                else "comment"
                if s.startswith("//")
                else "code"
                if s
                else "blank"
            )
            counts[kind] += 1
            counts["unwrap"] += kind == "code" and s.count(".unwrap()")
            counts["todo"] += bool(re.search(r"\b(TODO|FIXME|XXX)\b", s))
    counts["loose"] = sum(os.path.basename(os.path.dirname(p)) == "src" for p in files.values())
    return sizes, lengths, counts


def crate_problems(crate, files, counts):
    """What exceeds the limits of one crate."""
    if counts["loose"] > MAX_LOOSE_FILES:
        yield f"{crate}: {counts['loose']} files directly in src/, at most {MAX_LOOSE_FILES}: group them in folders"
    if counts["circle"] > MAX_FILES_IN_CIRCLES:
        yield f"{crate}: {counts['circle']} files import each other in a circle; --circles lists them"
    for place in statements_about_versions(crate):
        yield f"{place}: storage.objects without `only`, which has old versions and markers of deleted objects, too"
    for path in files.values():
        inner = os.path.relpath(path, ROOT)
        if inner.startswith(LONG_LIVED) and not inner.endswith(SHORT_LIVED):
            for line in panicking_reads(path):
                yield f"{inner}: line {line} of the code reads a column with get, which ends a long-lived task with a panic: try_get"
        line = misordered_imports(path)
        if line:
            yield f"{os.path.relpath(path, ROOT)}:{line}: imports in groups std, external, own, with a blank line between"
        line = unproven_example(path)
        if line:
            yield f"{os.path.relpath(path, ROOT)}:{line}: an example that nothing runs; make it a test, or name another language"


def overall_problems(lengths):
    """What exceeds the limits of all crates together."""
    long_functions = sum(length > 50 for length in lengths)
    if long_functions > MAX_LONG_FUNCTIONS:
        yield f"{long_functions} functions over 50 lines, at most {MAX_LONG_FUNCTIONS}"


def main():
    all_sizes, all_lengths, all_counts, problems = [], [], collections.Counter(), []
    for crate in sorted(os.listdir(f"{ROOT}/crates")):
        files, edges = imports(crate)
        rings = circles(files, edges)
        sizes, lengths, counts = measure(files)
        counts["circle"] = sum(map(len, rings))
        all_sizes += sizes
        all_lengths += lengths
        all_counts += counts
        show(crate, sizes, lengths, counts)
        if "--circles" in sys.argv:
            show_circles(rings, edges)
        problems += crate_problems(crate, files, counts)
    show("all", all_sizes, all_lengths, all_counts)
    if "--check" in sys.argv:
        problems += overall_problems(all_lengths)
        for problem in problems:
            print(problem, file=sys.stderr)
        sys.exit(1 if problems else 0)


def show_circles(rings, edges):
    for ring in rings:
        print("   circle of", len(ring))
        for a in ring:
            for b, name in edges[a].items():
                if b in ring:
                    print("     ", "::".join(a) or "lib", "->", "::".join(b) or "lib", ":", name)


def show(name, sizes, lengths, d):
    print(
        f"{name:9} files {len(sizes):3} code {d['code']:6} file {statistics.median(sizes):.0f}/{p90(sizes)}/{max(sizes)} fn "
        f"{statistics.median(lengths):.0f}/{p90(lengths)}/{max(lengths)} fn>50 {sum(x > 50 for x in lengths)} file>400 {sum(x > 400 for x in sizes)} "
        f"doc {d['doc'] / d['code']:.2f} comment {d['comment'] / d['code']:.3f} todo {d['todo']} unwrap {d['unwrap']} loose {d['loose']} in circles {d['circle']}"
    )


main()
