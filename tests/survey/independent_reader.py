"""Reads a trace without profshim: Python's JSON, exact decimal times, pairs of B and E as Perfetto makes them."""
import bz2
import collections
import decimal
import gzip
import json
import re

Slice = collections.namedtuple("Slice", "category name thread begin_ns duration_ns finer")


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
    """Chrome and Perfetto read a list that lacks its end, or has a comma too many."""
    text = re.sub(r'(?<!")\bN/A\b(?!")', '"N/A"', text)
    text = re.sub(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', lambda found: found.group(1) or "", text)
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


def _whole(time):
    return int(time.to_integral_value(decimal.ROUND_HALF_UP))


def _slice(event, begin, duration):
    return Slice(str(event.get("cat") or ""), str(event.get("name") or ""), _thread(event), begin, _whole(duration),
                 _whole(duration) != duration)


def _thread(event):
    return str(event.get("pid", 0)), str(event.get("tid", 0))


class _Open:
    """A slice on the stack of a thread. Without an end while its E event is to come."""

    def __init__(self, event, begin, end=None):
        self.event, self.begin, self.end = event, begin, end


class _Thread:
    """The events of a thread in the order of time, as Perfetto's SliceTracker takes them.

    https://github.com/google/perfetto/blob/v52.0/src/trace_processor/importers/common/slice_tracker.cc
    Perfetto drops complete events that overlap others and do not nest; here they count.
    """

    def __init__(self):
        self.stack, self.slices = [], []

    def close(self, now, is_mark=False):
        """MaybeCloseStack(): an open slice ends with the ended slice around it, once an event comes behind that."""
        has_open = False
        for i in reversed(range(len(self.stack))):
            end = self.stack[i].end
            if end is None:
                has_open = True
            elif has_open and now > end:
                for inner in self.stack[i + 1:]:
                    if inner.end is None:
                        self.finish(inner, end)
                del self.stack[i:]
                has_open = False
            elif not has_open and (end < now or (end == now and not (is_mark and self.stack[i].begin == end))):
                del self.stack[i:]

    def finish(self, part, end):
        part.end = end
        self.slices.append(_slice(part.event, part.begin, decimal.Decimal(max(end - part.begin, 0))))

    def begin(self, event, now):
        self.close(now)
        self.stack.append(_Open(event, now))

    def whole(self, event, now, duration):
        self.close(now, duration == 0)
        self.slices.append(_slice(event, now, duration))
        end = now + _whole(duration)
        if not any(part.end is not None and part.end < end for part in self.stack):
            self.stack.append(_Open(event, now, end))

    def end(self, event, now):
        """MatchingIncompleteSliceIndex(): the innermost open slice with the name and category of the event."""
        self.close(now)
        for i in reversed(range(len(self.stack))):
            part = self.stack[i]
            if part.end is None and all(event.get(key) in (None, "", part.event.get(key)) for key in ("name", "cat")):
                self.finish(part, now)
                if i == len(self.stack) - 1:
                    self.stack.pop()
                return

    def last(self, end):
        """Perfetto gives open slices no duration (-1), and draws them up to the end of the trace."""
        self.close(float("inf"))
        for part in self.stack:
            if part.end is None:
                self.finish(part, end)


def slices_of(events):
    """Returns complete events, and pairs of B and E, as slices."""
    threads, last = collections.defaultdict(_Thread), None
    # As in Perfetto, whole nanoseconds decide which slice is around which.
    timed = [(_whole(time), event) for event in events if (time := _time(event.get("ts"))) is not None]
    for time, event in sorted(timed, key=lambda pair: pair[0]):
        phase, duration = event.get("ph"), _time(event.get("dur"))
        if phase == "M":
            continue
        thread = threads[_thread(event)]
        if phase == "B":
            thread.begin(event, time)
        elif phase == "E":
            thread.end(event, time)
        elif phase == "X" and duration is not None:
            thread.whole(event, time, duration)
        end = time + max(_whole(duration), 0) if phase == "X" and duration is not None else time
        last = end if last is None else max(last, end)
    for thread in threads.values():
        thread.last(last)
    return [part for thread in threads.values() for part in thread.slices]


def totals_of(slices):
    """Returns {category: (count, nanoseconds, number of times finer than 1 ns)}."""
    totals = {}
    for s in slices:
        count, total, finer = totals.get(s.category, (0, 0, 0))
        totals[s.category] = (count + 1, total + s.duration_ns, finer + s.finer)
    return totals
