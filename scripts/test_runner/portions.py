"""Divides the tests of a program into portions: each is one process and has tests of one suite."""
import fnmatch
import os
import re
import subprocess

TIMES = "tests/suite_times.txt"
MOST_TESTS = 20
MOST_SECONDS = 15
# The times of a test whose suite is not in the file of times.
UNKNOWN = (0.3, 0.15)


class Portion:
    def __init__(self, of, suite, times):
        self.of = of  # Pass
        self.suite = suite
        self.tests = []
        self.each_seconds, self.each_cpu = times

    @property
    def filter(self):
        return ":".join(f"{self.suite}.{test}" for test in self.tests)

    @property
    def seconds(self):
        return self.each_seconds * len(self.tests)

    def has_room(self):
        return len(self.tests) < MOST_TESTS and self.seconds + self.each_seconds <= MOST_SECONDS

    @property
    def cores(self):
        """The CPU that it uses while it runs, in cores."""
        return self.each_cpu / self.each_seconds


def of_pass(one, known):
    """Returns the portions of tests that may run beside others, and of those that run alone."""
    listed = subprocess.run([one.program, "--gtest_list_tests"], env=one.environment, stdout=subprocess.PIPE, text=True,
                            check=False)
    alone, together = marks_of(one.program)
    beside, last, open_portions, suite = [], [], {}, ""
    for line in listed.stdout.splitlines():
        name = line.split("#")[0].strip()
        if re.match(r"\S+\.( |$)", line):
            suite, open_portions = name.rstrip("."), {}
        elif line.startswith("  ") and name:
            plain = suite.split("/")[-1]
            found = last if any(fnmatch.fnmatch(f"{plain}.{name}", pattern) for pattern in alone) else beside
            portion = open_portions.get(id(found))
            if portion is None or not (plain in together or portion.has_room()):
                portion = open_portions[id(found)] = Portion(one, suite, known.get(key_of(one, suite), UNKNOWN))
                found.append(portion)
            portion.tests.append(name)
    return beside, last


def marks_of(program):
    """Returns what tests/e2e/support/runner_hints.h marks in the sources of the program's tests."""
    marks = {"RUNS_ALONE": set(), "RUNS_IN_ONE_PROCESS": set()}
    for folder, _, files in os.walk(os.path.join("tests", os.path.basename(program))):
        for file in files:
            if file.endswith("_test.cpp"):
                with open(os.path.join(folder, file), encoding="utf-8") as text:
                    for mark, name in re.findall(r"^(RUNS_\w+)\(([\w.*]+)\);", text.read(), re.MULTILINE):
                        marks[mark].add(name)
    return marks["RUNS_ALONE"], marks["RUNS_IN_ONE_PROCESS"]


def key_of(one, suite):
    return f"{one.label}:{suite}" if one.label else suite


def read_times(path):
    times = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            for line in file:
                if not line.startswith("#"):
                    seconds, cpu, suite = line.split()
                    times[suite] = (float(seconds), float(cpu))
    return times


def write_times(path, known, results):
    """Writes the means of this run and, of suites that did not run, those that were known."""
    sums = {}
    for result in results:
        sums.setdefault(key_of(result.portion.of, result.portion.suite), []).append(result)
    times = dict(known)
    for key, parts in sums.items():
        ran = sum(part.ran for part in parts)
        if ran:
            times[key] = (sum(part.seconds for part in parts) / ran, sum(part.cpu for part in parts) / ran)
    with open(path, "w", encoding="utf-8") as file:
        file.write("# Mean of a test: seconds, CPU seconds; suite. Written by scripts/run_tests.sh; it plans with them.\n")
        for key, (seconds, cpu) in sorted(times.items()):
            if seconds >= 0.05:
                file.write(f"{seconds:.2f} {cpu:.2f} {key}\n")
