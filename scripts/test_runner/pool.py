"""Runs portions side by side."""
import os
import secrets
import shutil
import subprocess
import tempfile
import threading
import time
import zlib

# In a private /dev/shm if allowed, because jobs recover the spools that killed jobs of the same user left there.
OWN_SHARED_MEMORY = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o mode=1777 own /dev/shm && exec "$@"', "sh"]

VARIABLES = tuple(f"PROFSHIM_TEST_{name}" for name in ("RESULTS", "SECONDS", "CORES", "JOBS", "SEED"))


class Settings:
    def __init__(self, variables):
        self.results = variables.get("PROFSHIM_TEST_RESULTS", "build/test-results")
        self.limit = variables.get("PROFSHIM_TEST_SECONDS", "1200")  # for each process
        self.cores = int(variables.get("PROFSHIM_TEST_CORES", len(os.sched_getaffinity(0))))
        # Many tests wait, so more processes than cores run, as long as their CPU use fits.
        self.jobs = int(variables.get("PROFSHIM_TEST_JOBS", 2 * self.cores))
        self.seed = variables.get("PROFSHIM_TEST_SEED")
        if self.seed == "random":
            self.seed = str(secrets.randbelow(99999) + 1)


class Result:
    """The outcome of a portion."""

    def __init__(self, portion, status, seconds, cpu, log, xml):
        self.portion = portion
        self.status = status
        self.seconds = seconds
        self.cpu = cpu
        self.log = log
        self.xml = xml
        self.ran = 0
        self.tests = []  # report.Test
        self.failed = 0
        self.passed = 0
        self.skipped = 0


class Pool:
    def __init__(self, settings, on_end):
        self.settings = settings
        self.on_end = on_end
        self.changed = threading.Condition()
        self.running = {}  # portion: Popen
        own = subprocess.run(OWN_SHARED_MEMORY + ["true"], stderr=subprocess.DEVNULL, check=False)
        self.prefix = OWN_SHARED_MEMORY if own.returncode == 0 else []

    def run(self, waiting, jobs=None):
        """Starts the first portion that fits, whenever one ends."""
        waiting = list(waiting)
        try:
            with self.changed:
                while waiting or self.running:
                    portion = self.next_of(waiting, jobs or self.settings.jobs)
                    if portion is None:
                        self.changed.wait()
                        continue
                    waiting.remove(portion)
                    self.running[portion] = None
                    threading.Thread(target=self.run_one, args=(portion,), daemon=True).start()
        except BaseException:
            for process in self.running.values():
                if process is not None:
                    process.terminate()
            raise

    def next_of(self, waiting, jobs):
        if len(self.running) >= jobs:
            return None
        used = sum(portion.cores for portion in self.running)
        for portion in waiting:
            if not self.running or used + portion.cores <= self.settings.cores:
                return portion
        return None

    def run_one(self, portion):
        result = self.result_of(portion)
        with self.changed:
            try:
                self.on_end(result)
            finally:
                del self.running[portion]
                self.changed.notify()

    def result_of(self, portion):
        name = f"{portion.suite.replace('/', '-')}-{zlib.crc32(portion.filter.encode()):08x}"
        report = os.path.join(portion.of.reports, name)
        command = ["timeout", "--kill-after=10", self.settings.limit, *self.prefix, portion.of.program, "--gtest_brief=1",
                   f"--gtest_filter={portion.filter}", f"--gtest_output=xml:{report}.xml"]
        if self.settings.seed:
            command += ["--gtest_shuffle", f"--gtest_random_seed={self.settings.seed}"]
        # Killed jobs leave folders, through all of which each mpirun of Open MPI goes.
        temporary = tempfile.mkdtemp(prefix="profshim-tests-")
        os.chmod(temporary, 0o1777)  # some jobs are another user's
        environment = {**portion.of.environment, "TMPDIR": temporary}
        started = time.monotonic()
        with open(report + ".log", "wb") as log:
            process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log,
                                       stderr=subprocess.STDOUT)
            self.running[portion] = process
            _, status, used = os.wait4(process.pid, 0)
        shutil.rmtree(temporary, ignore_errors=True)
        process.returncode = os.waitstatus_to_exitcode(status)
        return Result(portion, process.returncode, time.monotonic() - started, used.ru_utime + used.ru_stime,
                      report + ".log", report + ".xml")
