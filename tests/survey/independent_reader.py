"""Reads a trace without profshim: Python's JSON, exact decimal times, pairs of B and E."""
import bz2
import collections
import decimal
import gzip
import json
import re

Slice = collections.namedtuple("Slice", "category name duration_ns finer")


def read_events(path):
    """Returns the list of events. Raises ValueError if there is none."""
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    elif data[:3] == b"BZh":
        data = bz2.decompress(data)
    text = data.decode("utf-8-sig", "replace")
    decoder = json.JSONDecoder(strict=False, parse_float=decimal.Decimal)
    try:
        document = decoder.decode(text)
    except ValueError:
        document = _open_list(decoder, text)
    events = document if isinstance(document, list) else document.get("traceEvents")
    if not isinstance(events, list):
        raise ValueError("no list of events")
    return [event for event in events if isinstance(event, dict)]


def _open_list(decoder, text):
    """Chrome and Perfetto read a list that lacks its end, or has a comma behind its last element."""
    text = re.sub(r'(?<!")\bN/A\b(?!")', '"N/A"', text)
    start = re.match(r"\s*\[", text) or re.search(r'"traceEvents"\s*:\s*\[', text)
    if start is None:
        raise ValueError("no list of events")
    at, events = start.end(), []
    blank = re.compile(r"[\s,]*")
    while True:
        at = blank.match(text, at).end()
        if at >= len(text) or text[at] == "]":
            return events
        try:
            event, at = decoder.raw_decode(text, at)
        except ValueError:
            return events
        events.append(event)


def _time(value):
    """Returns nanoseconds as a decimal, or None. Some writers put the number in quotes."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        time = decimal.Decimal(value) * 1000
    except (decimal.InvalidOperation, TypeError, ValueError):
        return None
    return time if time.is_finite() else None


def _slice(event, category, name, nanoseconds):
    whole = int(nanoseconds.to_integral_value(decimal.ROUND_HALF_UP))
    return Slice(str(category or ""), str(name or ""), whole, whole != nanoseconds)


def slices_of(events):
    """Returns complete events, and pairs of B and E of one thread, as slices."""
    slices, open_calls = [], collections.defaultdict(list)
    numbered = [(i, e) for i, e in enumerate(events) if e.get("ph") in ("B", "E") and _time(e.get("ts")) is not None]
    for event in events:
        duration = _time(event.get("dur"))
        if event.get("ph") == "X" and duration is not None and _time(event.get("ts")) is not None:
            slices.append(_slice(event, event.get("cat"), event.get("name"), duration))
    for _, event in sorted(numbered, key=lambda pair: _time(pair[1]["ts"])):
        calls = open_calls[str(event.get("pid")), str(event.get("tid"))]
        if event["ph"] == "B":
            calls.append(event)
        elif calls:
            begin = calls.pop()
            slices.append(_slice(begin, begin.get("cat"), begin.get("name"), _time(event["ts"]) - _time(begin["ts"])))
    return slices


def totals_of(slices):
    """Returns {category: (count, nanoseconds, number of times finer than 1 ns)}."""
    totals = {}
    for s in slices:
        count, total, finer = totals.get(s.category, (0, 0, 0))
        totals[s.category] = (count + 1, total + s.duration_ns, finer + s.finer)
    return totals
