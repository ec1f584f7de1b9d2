#!/usr/bin/env python3
"""Reads trace files as strict JSON: no NaN, Infinity, duplicate key, invalid UTF-8 or raw control character, and
nothing behind the end.

usage: strict_json.py FILE…     exit status 0 if every file passes
"""
import gzip
import json
import sys


def no_constant(text):
    raise ValueError(f"{text} is no JSON")


def no_repeated_keys(pairs):
    result = dict(pairs)
    if len(result) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"key twice: {sorted({key for key in keys if keys.count(key) > 1})}")
    return result


def check(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        text = file.read().decode("utf-8", errors="strict")
    trace = json.loads(text, parse_constant=no_constant, object_pairs_hook=no_repeated_keys, strict=True)
    if next(iter(trace)) != "schemaVersion":
        raise ValueError("first key is not schemaVersion")
    if not isinstance(trace["traceEvents"], list):
        raise ValueError("traceEvents is no list")
    return len(trace["traceEvents"])


def main():
    failed = False
    for path in sys.argv[1:]:
        try:
            print(f"{path}: {check(path)} events")
        except (ValueError, KeyError, StopIteration, OSError, EOFError) as error:
            print(f"FAILED: {path}: {error}", file=sys.stderr)
            failed = True
    return 1 if failed or len(sys.argv) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
