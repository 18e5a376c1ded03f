#!/usr/bin/env python3
"""Replay (and record) the second golden corpus of the storage service: vector buckets, analytics buckets, object versions.

Same commands, options and scenario format as ../storage/storage_golden.py, which this file extends. README.md next to this
file says by what. The tokens come from ../storage/meta.json.
"""
import importlib.util, json, os, re, sys, time, urllib.parse

here = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location("storage_golden", os.path.join(here, "..", "storage", "storage_golden.py"))
base = importlib.util.module_from_spec(spec)
spec.loader.exec_module(base)


# ------------------------------------------------------------------ what differs between any two implementations

def plain(value, key=None):
    """Seconds since 1970, page tokens, rounding of numbers and the words of a schema checker are masked on both sides."""
    if isinstance(value, dict):
        if value.get("code") == "InvalidRequest" and value.get("error") in ("Error", "FastifyError"):
            value = {**value, "error": "<schema>", "message": "<schema>"}
        elif value.get("type") == "InvalidRequest":
            value = {**value, "message": "<schema>"}
        return {k: plain(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v, key) for v in value]
    if key == "creationTime" and isinstance(value, int) and not isinstance(value, bool) and abs(value - time.time()) < 86400:
        return "<unix>"
    if key == "nextToken" and isinstance(value, str) and value:
        return "<token>"
    if key in ("distance", "float32") and isinstance(value, (int, float)) and not isinstance(value, bool):
        return round(float(value), 2) + 0.0
    return value


same_before = base.compare_values


def compare_rounded(expected, actual, ctx, where, diffs, unordered=()):
    """Numbers of vectors agree within 0.01 or two per mille: the original keeps half precision."""
    if re.search(r"\.(distance|float32\.\d+)$", where) and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (expected, actual)):
        if abs(expected - actual) <= max(0.0101, 0.002 * abs(expected)):
            return
    same_before(expected, actual, ctx, where, diffs, unordered)


base.compare_values = compare_rounded

view_before = base.normalise_response


def view(ctx, step, res):
    out = view_before(ctx, step, res)
    if "json" in out.get("body", {}):
        out["body"]["json"] = plain(out["body"]["json"])
    return out


base.normalise_response = view


# ------------------------------------------------------------------ facts: single values of an answer

def pick(body, path):
    """'$.objects[is_delete_marker=true].version' -> the version of the one such object; '#' at the end counts."""
    count = path.endswith("#")
    values = [body]
    for part in re.findall(r"\[[^\]]*\]|[^.\[\]#]+", path.lstrip("$")):
        found = []
        for value in values:
            if part.startswith("["):
                name, want = part[1:-1].split("=", 1)
                found += [v for v in value if isinstance(v, dict) and json.dumps(v.get(name)).strip('"') == want] if isinstance(value, list) else []
            elif isinstance(value, list):
                found += [value[int(part)]] if part.isdigit() and int(part) < len(value) else [v.get(part) for v in value if isinstance(v, dict)] if not part.isdigit() else []
            elif isinstance(value, dict) and part in value:
                found.append(value[part])
        values = found
    if count:
        return len(values[0]) if len(values) == 1 and isinstance(values[0], list) else len(values)
    return values[0] if len(values) == 1 else values or "(absent)"


check_before = base.check_extra


def check_extra(ctx, step, res):
    flaws = check_before(ctx, step, res)
    facts = step.get("facts", {})
    if not facts:
        return flaws
    try:
        body = json.loads(res.body)
    except ValueError:
        body = None
    for path, want in facts.items():
        got, want = pick(body, ctx.fill_placeholders(path)), ctx.fill_placeholders(want)
        if want == "<set>":
            good = got not in (None, "", "(absent)")
        elif isinstance(want, str) and want.startswith("<not "):
            good = got not in (want[5:-1], "(absent)")
        elif isinstance(want, str) and want.startswith("<has "):
            good = isinstance(got, str) and want[5:-1].lower() in got.lower()
        else:
            good = got == want
        if not good:
            flaws.append(f"{path}: expected {want!r}, got {got!r}")
    return flaws


base.check_extra = check_extra

capture_before = base.capture_values


def capture(ctx, step, res):
    capture_before(ctx, step, res)
    for name, path in (step.get("pick") or {}).items():
        try:
            ctx.vars[name] = pick(json.loads(res.body), ctx.fill_placeholders(path))
        except ValueError:
            ctx.vars.pop(name, None)


base.capture_values = capture


# ------------------------------------------------------------------ cleaning up

def call(ctx, method, path, body=None):
    headers = {"authorization": "Bearer " + ctx.token("service")}
    if ctx.apikey:
        headers["apikey"] = ctx.apikey
    raw = None
    if body is not None:
        headers["content-type"] = "application/json"
        raw = json.dumps(body).encode()
    res = base.send_request(ctx, method, path, headers, raw)
    try:
        return res.status, json.loads(res.body)
    except ValueError:
        return res.status, None


def forget_vectors(ctx, bucket):
    for _ in range(10):
        status, page = call(ctx, "POST", "/vector/ListIndexes", {"vectorBucketName": bucket})
        if status != 200 or not page.get("indexes"):
            break
        for index in page["indexes"]:
            call(ctx, "POST", "/vector/DeleteIndex", {"vectorBucketName": bucket, "indexName": index["indexName"]})
    call(ctx, "POST", "/vector/DeleteVectorBucket", {"vectorBucketName": bucket})


def forget_versions(ctx, bucket):
    for _ in range(20):
        status, page = call(ctx, "POST", f"/object/list-v2/{bucket}", {"limit": 500, "noncurrentVersions": "include", "deleteMarkers": "include"})
        rows = (page or {}).get("objects") or []
        if status != 200 or not rows:
            break
        status, _ = call(ctx, "DELETE", f"/object/{bucket}", {"prefixes": [{"path": r.get("key", r["name"]), "versionId": r.get("version")} for r in rows]})
        if status != 200:
            call(ctx, "POST", f"/bucket/{bucket}/empty", {})
            break
    call(ctx, "DELETE", f"/bucket/{bucket}")


def sweep(ctx, scenario):
    for bucket in scenario.get("vectors", []):
        forget_vectors(ctx, bucket)
    for bucket in scenario.get("versions", []):
        forget_versions(ctx, bucket)
    for bucket in scenario.get("analytics", []):
        call(ctx, "DELETE", "/iceberg/bucket/" + urllib.parse.quote(bucket, safe=""))


prepare_before, leave_before = base.reset_context, base.drop_buckets


def prepare(ctx, scenario):
    prepare_before(ctx, scenario)
    sweep(ctx, scenario)


def leave(ctx, scenario):
    leave_before(ctx, scenario)
    sweep(ctx, scenario)


base.reset_context, base.drop_buckets = prepare, leave

if __name__ == "__main__":
    if "--meta" not in sys.argv and len(sys.argv) > 1 and sys.argv[1] in ("run", "record"):
        sys.argv += ["--meta", os.path.join(here, "..", "storage")]
    sys.exit(base.main())
