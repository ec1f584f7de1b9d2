#!/usr/bin/env python3
"""Loads one window folder with HolisticTraceAnalysis and checks the result.

usage: load_with_hta.py FOLDER RANKS [--steps 11,12,13] [--operators A,B]

Exit status 0 if HTA finds exactly the ranks 0..RANKS-1, events on each, and the given steps and operators in every
trace. Prints one line per rank, and its longest functions.
"""
import argparse
import logging
import os
import re
import sys

# By default HTA rounds begins up and ends down to microseconds, so that shorter calls get a duration of -1 (its issue
# 317).
os.environ.setdefault("HTA_DISABLE_NS_ROUNDING", "1")


def step_numbers(frame, symbols):
    names = (symbols[i] for i in frame["name"].unique())
    return sorted(int(m.group(1)) for m in (re.match(r"ProfilerStep\s*#\s*(\d+)$", n) for n in names) if m)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("ranks", type=int)
    parser.add_argument("--steps", default="")
    parser.add_argument("--operators", default="")
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # HTA warns that a trace without a GPU has no kernels

    from hta.common.trace import Trace

    trace = Trace(trace_dir=options.folder)
    trace.parse_traces(use_multiprocessing=False)
    trace.align_and_filter_trace(include_last_profiler_step=True)
    trace.decode_symbol_ids(use_shorten_name=False)
    symbols = trace.symbol_table.get_sym_table()

    problems = []
    ranks = sorted(trace.get_ranks())
    if ranks != list(range(options.ranks)):
        problems.append(f"ranks {ranks}, expected 0..{options.ranks - 1}")
    wanted = [int(s) for s in options.steps.split(",") if s]
    for rank in ranks:
        frame = trace.get_trace(rank)
        steps = step_numbers(frame, symbols)
        print(f"rank {rank}: {len(frame)} events, steps {steps}, unix start {trace.get_trace_start_unixtime_ns(rank)}")
        if len(frame) == 0:
            problems.append(f"rank {rank}: no event")
        if (frame["dur"] < 0).any():
            problems.append(f"rank {rank}: negative durations")
        if wanted and steps != wanted:
            problems.append(f"rank {rank}: steps {steps}, expected {wanted}")
        missing = {name for name in options.operators.split(",") if name} - set(frame["s_name"])
        if missing:
            problems.append(f"rank {rank}: no {sorted(missing)}")
        top = frame.groupby("s_name")["dur"].sum().sort_values(ascending=False).head(5)
        for name, dur in top.items():
            print(f"  {dur:12.3f} us  {name}")
    for problem in problems:
        print(f"FAILED: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
