"""Tables of where the time went."""

LEAST_SECONDS = 1  # of a suite that has a line of its own
SLOWEST = 30


def line(name, tests, seconds, cpu, waiting):
    print(f"   {name:<100.100} {tests:>5} {seconds:9.1f} {cpu:9.1f} {waiting:9.1f}")


def head(name, tests):
    print(f"   {name:<100} {tests:>5} {'seconds':>9} {'CPU':>9} {'waiting':>9}")


def sums(tests):
    return (len(tests), sum(test.seconds for test in tests), sum(test.cpu for test in tests),
            sum(test.waiting for test in tests))


def print_all(results):
    suites, tests = {}, []
    for result in results:
        for test in result.tests:
            prefix = f"{test.of.label} " if test.of.label else ""
            suites.setdefault(prefix + test.suite, []).append(test)
            tests.append((prefix + test.name, test))
    if len(tests) < 2:
        return
    rows = sorted(((name, sums(of)) for name, of in suites.items()), key=lambda row: -row[1][1])
    head("suites", "tests")
    for name, row in rows:
        if row[1] >= LEAST_SECONDS:
            line(name, *row)
    short = [row for _, row in rows if row[1] < LEAST_SECONDS]
    if short:
        line(f"{len(short)} others", *(sum(column) for column in zip(*short)))
    line("all", *sums([test for _, test in tests]))
    print_skipped([test for _, test in tests if test.skipped])
    head("slowest tests", "")
    for name, test in sorted(tests, key=lambda each: -each[1].seconds)[:SLOWEST]:
        if test.seconds >= 0.1:
            line(name, "", test.seconds, test.cpu, test.waiting)


def print_skipped(tests):
    reasons = {}
    for test in tests:
        reason = (test.reasons or ["no reason given"])[0].split("\n")[0]
        reasons.setdefault(reason, []).append(test)
    for reason, of in sorted(reasons.items(), key=lambda each: -len(each[1])):
        print(f"   skipped: {len(of):>3}  {reason:.140}")
