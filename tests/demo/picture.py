#!/usr/bin/env python3
"""Draws one step of a merged trace as SVG: the picture in README.md.

    tests/demo/picture.py MERGED.pt.trace.json STEP OUT.svg
"""
import html
import json
import sys

COLORS = {"iteration": "#c9d7e8", "halo": "#f3d9a4", "stencil": "#b9dcc4", "residual": "#e3c6dc", "MPI": "#6f93c4"}
LEFT, WIDTH, ROW, GAP, TOP = 64, 880, 20, 18, 30


def color(name):
    return next((c for prefix, c in COLORS.items() if name.startswith(prefix)), "#dddddd")


def nested(slices):
    """Returns (depth, slice) pairs. The depth is the number of slices around the slice."""
    open_ends, placed = [], []
    for e in sorted(slices, key=lambda e: (e["ts"], -e["dur"])):
        while open_ends and open_ends[-1] <= e["ts"]:
            open_ends.pop()
        placed.append((len(open_ends), e))
        open_ends.append(e["ts"] + e["dur"])
    return placed


def main(path, step, out):
    events = json.load(open(path))["traceEvents"]
    slices = [e for e in events if e["ph"] == "X" and e.get("cat") != "Trace" and "ProfilerStep" not in e["name"]]
    steps = {e["pid"]: e for e in slices if e["name"] == f"iteration {step}"}
    begin = min(e["ts"] for e in steps.values())
    end = max(e["ts"] + e["dur"] for e in steps.values())
    pids = sorted(steps)
    ranks = {e["pid"]: e["args"]["labels"] for e in events if e["name"] == "process_labels"}
    height_of_rank = 3 * ROW + GAP

    def x(ts):
        return LEFT + (ts - begin) / (end - begin) * WIDTH

    def y(pid, depth):
        return TOP + pids.index(pid) * height_of_rank + depth * ROW

    svg = []
    depths = {}
    for pid in pids:
        svg.append(f'<text x="4" y="{y(pid, 0) + 14}" font-weight="bold">rank {pids.index(pid)}</text>')
        for depth, e in nested([s for s in slices if s["pid"] == pid and begin <= s["ts"] < end]):
            left, right = x(e["ts"]), min(x(e["ts"] + e["dur"]), LEFT + WIDTH)
            depths[(pid, e["ts"])] = depth
            svg.append(f'<rect x="{left:.1f}" y="{y(pid, depth)}" width="{max(right - left, 0.8):.1f}" '
                       f'height="{ROW - 2}" fill="{color(e["name"])}"/>')
            if right - left > 7 * len(e["name"]):
                svg.append(f'<text x="{left + 4:.1f}" y="{y(pid, depth) + 13}">{html.escape(e["name"])}</text>')
    starts = {(e["id"], e["name"]): e for e in events if e["ph"] == "s" and e.get("cat") == "rank_flow"}
    for e in events:
        start = starts.get((e.get("id"), e["name"])) if e["ph"] == "f" else None
        if start and begin <= start["ts"] < end and start["pid"] in pids and e["pid"] in pids:
            ends = [(x(f["ts"]), y(f["pid"], 2) + ROW / 2) for f in (start, e)]
            svg.append('<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#a03020" stroke-width="0.8" '
                       'marker-end="url(#head)"/>' % (ends[0] + ends[1]))
    height = TOP + len(pids) * height_of_rank + 4
    with open(out, "w") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 8} {height}" '
                   'font-family="sans-serif" font-size="11">\n'
                   '<defs><marker id="head" markerWidth="6" markerHeight="6" refX="5" refY="3" orient="auto">'
                   '<path d="M0,0 L6,3 L0,6 z" fill="#a03020"/></marker></defs>\n'
                   f'<rect width="100%" height="100%" fill="white"/>\n<text x="{LEFT}" y="18">step {step} of an MPI '
                   f'solver: {(end - begin):.0f} µs; arrows: messages and the last rank at a collective</text>\n')
        file.write("\n".join(svg) + "\n</svg>\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
