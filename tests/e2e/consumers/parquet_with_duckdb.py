"""Reads a Parquet file of `profshim convert` with DuckDB: every event of its traces is a row with all members of
the event.  usage: parquet_with_duckdb.py PARQUET TRACE..."""
import decimal
import gzip
import json
import sys

import duckdb

COLUMNS = {"correlation": "correlation", "External id": "external_id", "external id": "external_id",
           "device": "device", "stream": "stream", "bytes": "bytes", "count": "count", "dtype": "dtype",
           "Collective name": "collective", "Process Group Name": "communicator", "comm id": "communicator",
           "Seq": "seq", "In msg nelems": "in_elements", "Out msg nelems": "out_elements", "Group size": "group_size"}


def load(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        return json.load(file, parse_float=decimal.Decimal)


def ns(microseconds):
    return None if microseconds is None else int(decimal.Decimal(microseconds) * 1000)


def check(row, event, base, path):
    def same(column, wanted):
        assert row[column] == wanted, f"{path}: {column}: {row[column]!r}, but {wanted!r} in {event}"

    same("phase", event["ph"])
    same("name", event.get("name"))
    same("category", event.get("cat") or None)
    for key in "pid", "tid":
        text = isinstance(event.get(key), str)
        same(key, None if text else event.get(key))
        same(key + "_text", event[key] if text else None)
    same("trace_ts_ns", ns(event.get("ts")))
    same("ts_ns", base + ns(event["ts"]) if "ts" in event else None)
    same("dur_ns", ns(event.get("dur")))
    args = json.loads(row["args"], parse_float=decimal.Decimal) if row["args"] else {}
    for key, value in event.get("args", {}).items():
        if key in args:
            assert args[key] == value, f"{path}: {key}: {args[key]!r}, but {value!r}"
        else:
            same(COLUMNS[key], value)


def main():
    parquet, traces = sys.argv[1], sys.argv[2:]
    for path in traces:
        trace = load(path)
        base = trace.get("baseTimeNanoseconds", 0)
        cursor = duckdb.execute("select * from read_parquet(?) where file = ? and phase != 'metadata'", [parquet, path])
        names = [column[0] for column in cursor.description]
        rows = [dict(zip(names, row)) for row in cursor.fetchall()]
        events = trace["traceEvents"]
        assert len(rows) == len(events), f"{path}: {len(rows)} rows of {len(events)} events"
        for row, event in zip(rows, events):
            check(row, event, base, path)
        found = duckdb.execute("select name, args from read_parquet(?) where file = ? and phase = 'metadata'",
                               [parquet, path]).fetchall()
        members = {key: value for key, value in trace.items() if key != "traceEvents"}
        assert {key: json.loads(value, parse_float=decimal.Decimal) for key, value in found} == members, path
    print(f"{len(traces)} traces: every event is a row")


main()
