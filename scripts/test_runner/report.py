"""Reads the report of a process and counts its tests."""
import re
import sys
import xml.etree.ElementTree as ElementTree

import skips

DULL = re.compile(r"Running main|\[==========\]|\[  (PASSED|SKIPPED) *\]|Note: |Repeating all tests")


class Test:
    def __init__(self, case, of):
        self.of = of  # Pass
        self.suite = case.get("classname")
        self.name = f"{self.suite}.{case.get('name')}"
        self.seconds = float(case.get("time"))
        cpu = case.find("./properties/property[@name='cpu_ms']")
        self.cpu = float(cpu.get("value")) / 1000 if cpu is not None else 0.0
        self.failed = case.find("failure") is not None
        # In the report, a place and a reason; in the log, also "Skipped" between them.
        parts = [each.get("message").partition("\n") for each in case.findall("skipped")]
        self.reasons = [reason.strip() for _, _, reason in parts]
        self.skip_lines = [f"{place}: Skipped\n{reason}" for place, _, reason in parts]
        self.skipped = case.get("result") == "skipped"

    @property
    def waiting(self):
        return max(0.0, self.seconds - self.cpu)


def finish(result):
    """Fills in the counts and prints what failed, in one write, because it runs for one process after another."""
    portion, said = result.portion, []
    try:
        cases = ElementTree.parse(result.xml).iter("testcase")
        result.tests = [Test(case, portion.of) for case in cases]
        has_report = True
    except (OSError, ElementTree.ParseError):
        has_report = False
    for test in result.tests:
        forbidden = skips.forbidden(test) if test.skipped else []
        if test.failed or forbidden:
            result.failed += 1
        elif test.skipped:
            result.skipped += 1
        else:
            result.passed += 1
        said += [f"   {test.name} must not be skipped here: {reason}" for reason in forbidden]
    result.ran = result.passed + result.failed
    # GoogleTest writes the report at its end. No report, or a status other than "all passed" and "some failed", means a
    # crash or a hang and counts as one more failure.
    some_failed = any(test.failed for test in result.tests)
    if not has_report or result.status != (1 if some_failed else 0):
        said.append(f"   ended with status {result.status}: {portion.filter}")
        result.failed += 1
    with open(result.log, encoding="utf-8", errors="replace") as log:
        text = log.read()
    for test in result.tests:
        for skip_line in test.skip_lines:  # a table shows the reasons
            text = text.replace(skip_line, "", 1)
    lines = [line for line in text.splitlines() if line.strip() and not DULL.match(line)] + said
    if lines:
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()
    portion.of.results.append(result)


def count(results):
    return (sum(result.passed for result in results), sum(result.failed for result in results),
            sum(result.skipped for result in results))
