"""Runs GoogleTest programs: see scripts/run_tests.sh."""
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import portions
import pool
import report
import tables


def environment_of_pass(name):
    if not name:
        return {}
    answer = subprocess.run([f"scripts/{name}_tests.sh", "--environment"], stdout=subprocess.PIPE, text=True)
    if answer.returncode == 3:  # cannot run on this machine; the script has said why
        return None
    if answer.returncode != 0:
        print(f"scripts/{name}_tests.sh failed\n0 passed, 1 failed")
        sys.exit(1)
    return dict(line.split("=", 1) for line in answer.stdout.splitlines())


class Pass:
    """A program, run once in one environment."""

    def __init__(self, argument, results):
        self.label, _, self.program = argument.rpartition(":")
        self.name = (self.label + " " if self.label else "") + self.program.removeprefix("build/")
        self.reports = os.path.join(results, self.label, self.program.removeprefix("build/").replace("/", "-"))
        self.results = []
        added = environment_of_pass(self.label)
        self.runs = added is not None
        # The library warns about variables that it does not know.
        variables = {name: value for name, value in os.environ.items() if name not in pool.VARIABLES}
        self.environment = {**variables, **(added or {})}
        if "GTEST_FILTER" in os.environ:
            self.environment["GTEST_FILTER"] = os.environ["GTEST_FILTER"]

    def prepare(self):
        shutil.rmtree(self.reports, ignore_errors=True)
        os.makedirs(self.reports)


def main():
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    settings = pool.Settings(os.environ)
    passes = [Pass(argument, settings.results) for argument in sys.argv[1:]]
    known = portions.read_times(portions.TIMES)
    if settings.seed:
        print(f"random order: PROFSHIM_TEST_SEED={settings.seed}")

    waiting, last = [], []
    for one in passes:
        if not one.runs:
            continue
        one.prepare()
        for found, of_all in zip(portions.of_pass(one, known), (waiting, last)):
            of_all += found
    # The longest start first, so that none is left alone at the end.
    for each in (waiting, last):
        each.sort(key=lambda portion: -portion.seconds)
        if settings.seed:
            random.Random(settings.seed).shuffle(each)

    started = time.monotonic()
    workers = pool.Pool(settings, on_end=report.finish)
    workers.run(waiting)
    workers.run(last, jobs=1)
    seconds = time.monotonic() - started

    passed, failed, skipped = 0, 0, 0
    everything = [result for one in passes for result in one.results]
    tables.print_all(everything)
    portions.write_times(os.path.join(settings.results, "suite_times.txt"), known, everything)
    for one in passes:
        if not one.runs:
            continue
        good, bad, left = report.count(one.results)
        if good + bad == 0:
            print(f"   {one.name} ran no test")
            bad = 1
        print(f"   {one.name}: {good} passed, {bad} failed, {left} skipped")
        passed, failed, skipped = passed + good, failed + bad, skipped + left
    print(f"   {seconds:.0f} s")
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 0 if failed == 0 and (passed > 0 or not any(one.runs for one in passes)) else 1


if __name__ == "__main__":
    sys.exit(main())
