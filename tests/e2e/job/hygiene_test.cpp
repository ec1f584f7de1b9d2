#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <regex>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"

namespace profshim::e2e {
namespace {

// Bash prints pids, which differ between runs.
std::string normalised(std::string text, const std::string& path) {
  for (std::size_t at = text.find(path); at != std::string::npos; at = text.find(path, at))
    text.replace(at, path.size(), "SCRATCH");
  static const std::regex job_line("line [0-9]+: +[0-9]+ ");
  return std::regex_replace(text, job_line, "line N: PID ");
}

struct Seen {
  std::string out, err, ending;
  std::vector<std::string> files, shared_memory;
};

Seen look(Job job, bool preload) {
  const ScratchFolder scratch;
  for (const char* folder : {"home", "tmp", "work", "traces"}) scratch.write(std::string(folder) + "/.here", "");
  const std::string spec = scratch.write("spec.toml", record_all_spec(scratch / "traces"));
  job.folder = scratch / "work";
  job.preload = preload;
  for (const auto& variable : std::vector<std::pair<std::string, std::string>>{{"HOME", scratch / "home"},
                                                                               {"TMPDIR", scratch / "tmp"},
                                                                               {"PROFSHIM", "1"},
                                                                               {"PROFSHIM_SPEC", spec},
                                                                               {"PROFSHIM_RANKS", "all"},
                                                                               {"RANK", "0"},
                                                                               {"WORLD_SIZE", "1"},
                                                                               {"LC_ALL", "C"}})
    job.environment.push_back(variable);
  const Outcome outcome = run(job);
  return {normalised(outcome.out, scratch.path()), normalised(outcome.err, scratch.path()), outcome.ending(),
          files_below(scratch.path()), files_below("/dev/shm")};
}

void expect_unnoticed(const Job& job) {
  const Seen without = look(job, false);
  const Seen with = look(job, true);

  EXPECT_EQ(without.out, with.out);
  EXPECT_EQ(without.err, with.err);
  EXPECT_EQ(without.ending, with.ending);
  EXPECT_EQ(without.files, with.files);
  EXPECT_EQ(without.shared_memory, with.shared_memory);
  EXPECT_NE(without.ending, "timed out");
}

struct Program {
  const char* name;
  const char* needs;  // executable; the test is skipped without it
  const char* text;
  friend void PrintTo(const Program& program, std::ostream* out) { *out << program.name; }
};

// The programs must not print pids or times.
const Program kPrograms[] = {
    {"true_and_false", "bash", "/bin/true; echo $?; /bin/false; echo $?"},
    {"pipeline", "bash", "seq 1 20000 | grep 7 | sort -r | awk '{s += $1} END {print s}' | tee copy | wc -c; cat copy"},
    {"pipe_status", "bash", "yes | head -2; echo ${PIPESTATUS[@]}; (exit 17); echo $?; exit 23"},
    {"here_document_and_substitution", "bash",
     "cat <<< \"$(echo a; (echo b) ; `echo echo c`)\"; diff <(echo 1) <(echo 2)"},
    {"background_jobs", "bash", "for i in 1 2 3; do (exit $i) & wait $!; echo $?; done"},
    {"trap_on_exit", "bash", "trap 'echo bye; exit 9' EXIT; echo hi"},
    {"sh_wrappers", "bash", "sh -c 'sh -c \"sh -c \\\"echo deep; exit 3\\\"\"'; echo $?"},
    {"exec_chain", "bash", "exec env FOO=1 sh -c 'exec sh -c \"echo $FOO\"'"},
    {"empty_environment", "bash", "env -i /bin/sh -c 'echo $PATH; exit 4'"},
    {"empty_environment_but_us", "bash", "env -i LD_PRELOAD=\"$LD_PRELOAD\" PROFSHIM=1 /bin/sh -c 'echo ran; exit 4'"},
    {"only_the_preload", "bash", "env -u PROFSHIM -u PROFSHIM_SPEC -u PROFSHIM_RANKS /bin/sh -c 'echo ran; exit 4'"},
    {"closed_stdin", "bash", "cat <&-; echo $?"},
    {"closed_stdout", "bash", "(echo x; ls) >&-; echo $? >&2"},
    {"closed_stderr", "bash", "ls /does/not/exist 2>&-; echo $?"},
    {"closed_streams", "bash", "/bin/sh -c 'exec <&- >&- 2>&-; exec 5>file; ls /proc/self/fd >&5'; cat file"},
    {"stdout_is_full", "bash", "echo x > /dev/full; echo $?"},
    {"coreutils", "bash",
     "mkdir d; touch d/a; mv d/a d/b; cp -r d e; find . -type f | sort; rm -r d; ls; stat -c %s e/b"},
    {"compressors", "gzip", "seq 1 9999 | gzip -n | md5sum; seq 1 9999 | gzip | zcat | tail -1"},
    {"tar", "tar", "echo x > f; tar cf - f | tar tvf - | awk '{print $1, $NF}'"},
    {"git", "git",
     "export GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z';"
     "git config --global user.name n; git config --global user.email e@e; git config --global gc.auto 0;"
     "git init -q -b main r && cd r && seq 100 > f && git add f && git commit -qm one && seq 101 > f && git diff "
     "--stat &&"
     "git commit -qam two && git log --oneline && git clone -q . ../c && git -C ../c rev-parse HEAD; git frobnicate"},
    {"gcc", "gcc",
     "printf '#include <stdio.h>\\nint main(void) { puts(\"built\"); return 3; }\\n' > a.c; gcc -O1 a.c -o a && ./a; "
     "echo $?;"
     "echo 'int x = ;' > b.c; gcc -c b.c; echo $?"},
    {"gxx_with_libstdcxx", "g++",
     "printf '#include <iostream>\\n#include <stdexcept>\\nint main() { try { throw std::runtime_error(\"caught\"); }"
     " catch (const std::exception& e) { std::cout << e.what() << std::endl; } throw 1; }' > a.cpp;"
     "ulimit -c 0; g++ -O1 a.cpp -o a && bash -c './a; echo $?' 2>&1 | grep -v dumped"},
    {"make", "make",
     "printf 'a: b\\n\\t@cat b\\nb:\\n\\t@echo made > b\\nbad:\\n\\t@exit 2\\n' > Makefile; make -j2; make bad"},
    {"perl", "perl",
     "perl -e 'use POSIX; my $p = fork(); if (!$p) { print \"child\\n\"; exit 7 } waitpid $p, 0; print $? >> 8, "
     "\"\\n\";"
     "open(my $f, \"-|\", \"echo piped\"); print <$f>; $SIG{TERM} = sub { print \"term\\n\"; POSIX::_exit(2) };"
     "$| = 1; kill \"TERM\", $$; sleep 5'"},
    {"node", "node",
     "node -e 'const {Worker} = require(\"worker_threads\"); const {execSync} = require(\"child_process\");"
     "console.log([1, 2, 3].map(x => x * x), execSync(\"echo child\").toString());"
     "new Worker(\"require(\\\"worker_threads\\\").parentPort.postMessage(42)\", {eval: true})"
     ".on(\"message\", m => { console.log(m); process.exitCode = 5; });'"},
    {"python", "python3",
     "python3 -c 'import threading, subprocess, sys; t = threading.Thread(target=print, args=(\"thread\",)); t.start();"
     "t.join(); print(subprocess.run([\"sh\", \"-c\", \"exit 3\"]).returncode); sys.exit(6)'"},
    {"python_fork", "python3", "python3 pool.py fork"},
    {"python_spawn", "python3", "python3 pool.py spawn"},
    {"python_forkserver", "python3", "python3 pool.py forkserver"},
    {"python_traceback", "python3", "python3 -c 'raise ValueError(1)'"},
    {"python_os_exit", "python3", "python3 -c 'import os; print(\"lost\"); os._exit(8)'"},
    {"python_interrupted", "python3",
     "python3 -c 'import os, signal; os.kill(os.getpid(), signal.SIGINT)' 2>&1 | tail -1; echo ${PIPESTATUS[0]}"},
    {"open_files_8", "bash", "ulimit -n 8; /bin/ls / > list; echo $?; \"$APPS/look_around\""},
    {"address_space", "bash", "ulimit -v 40000; \"$APPS/children\"; seq 1 1000 | sort | tail -1"},
    {"file_size_0", "bash", "ulimit -f 0; \"$APPS/look_around\"; sh -c 'echo x > f'; echo $?"},
    {"processes_1", "bash", "ulimit -u 1 2>/dev/null; \"$APPS/look_around\""},
    {"small_stack", "bash", "ulimit -s 128; \"$APPS/look_around\"; \"$APPS/children\""},
    {"no_core", "bash", "ulimit -c 0; \"$APPS/die\" abort; echo $?"},
    {"locked_memory_0", "bash", "ulimit -l 0; \"$APPS/look_around\""},
    {"no_cpu_time_left", "bash", "ulimit -t 1; sh -c 'while :; do :; done'; echo $?"},
    {"what_it_sees", "bash", "\"$APPS/look_around\""},
    {"every_way_to_start_a_child", "bash", "\"$APPS/children\""},
    {"daemon", "bash", "\"$APPS/daemonise\" \"$PWD/said\"; cat said"},
    {"read_only_root", "unshare", "unshare -rm true 2>/dev/null; cd /proc && /bin/echo here"},
    {"deleted_working_folder", "bash", "mkdir gone; cd gone; rmdir ../gone; /bin/echo still; /bin/true"},
    {"long_command_line", "bash", "/bin/echo $(seq 1 20000) | md5sum"},
    {"huge_environment", "bash", "export BIG=$(head -c 100000 /dev/zero | tr '\\0' x); /bin/sh -c 'echo ${#BIG}'"},
};

std::vector<Program> programs_here() {
  std::vector<Program> here;
  for (const Program& program : kPrograms)
    if (on_path(program.needs)) here.push_back(program);
  return here;
}

class Unnoticed : public testing::TestWithParam<Program> {};

// Starts workers as data loaders do, from a file, which Python's start method "spawn" needs.
const char* const kPool = R"(
import multiprocessing as m, sys, time
def square(x): return x * x
if __name__ == "__main__":
    c = m.get_context(sys.argv[1])
    with c.Pool(2) as pool: print(pool.map(square, range(20)))
    p = c.Process(target=sys.exit, args=(11,)); p.start(); p.join(); print(p.exitcode)
    q = c.Process(target=time.sleep, args=(60,)); q.start(); q.terminate(); q.join(); print(q.exitcode)
)";

TEST_P(Unnoticed, ByTheProgram) {
  built("tests/apps_hygiene/look_around");
  const std::string pool = std::string("cat > pool.py <<'END'\n") + kPool + "END\n";
  const bool needs_pool = std::string(GetParam().text).find("pool.py") != std::string::npos;
  Job job = shell((needs_pool ? pool : "") + GetParam().text);
  job.environment.emplace_back("APPS", PROFSHIM_SOURCE_DIR "/build/tests/apps_hygiene");
  job.environment.emplace_back("PYTHONDONTWRITEBYTECODE", "1");

  expect_unnoticed(job);
}
INSTANTIATE_TEST_SUITE_P(Hygiene, Unnoticed, testing::ValuesIn(programs_here()),
                         [](const auto& row) { return std::string(row.param.name); });

class EndsAsItWould : public testing::TestWithParam<std::string> {};

TEST_P(EndsAsItWould, WithoutTheLibrary) {
  expect_unnoticed(Job{.command = {built("tests/apps_hygiene/die"), GetParam()}});
}
std::vector<std::string> all_endings() {
  std::vector<std::string> endings = {"return", "exit", "_exit", "_Exit", "quick_exit", "abort"};
  for (const int number :
       {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 23, 24, 25, 26, 27, 28, 29, 30, 31, 34, 64})
    endings.push_back(std::to_string(number));  // 19 to 22 stop a process; 34 and 64 are real-time signals
  return endings;
}
INSTANTIATE_TEST_SUITE_P(Hygiene, EndsAsItWould, testing::ValuesIn(all_endings()));

TEST(Hygiene, AbortBeforeOurConstructorIsAnAbort) {
  expect_unnoticed(Job{.command = {built("tests/apps_hygiene/early_abort")}});
}

TEST(Hygiene, ClosedStreamsStayClosed) {
  Job job{.command = {built("tests/apps_hygiene/daemonise"), "said"}};
  job.before_exec = [] {
    close(0);
    close(2);
  };

  expect_unnoticed(job);
}

TEST(Hygiene, SwitchedOffDoesNothingInARank) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;
    Job job = mpirun(mpi, 2, {built("tests/apps/" + to_string(mpi) + "/allreduce_loop")});
    job.environment.emplace_back("PROFSHIM", "0");
    job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces")));
    job.folder = scratch.path();

    const Outcome outcome = run(job);

    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
    EXPECT_TRUE(outcome.shim_lines().empty()) << outcome.err;
    EXPECT_EQ(files_below(scratch.path()), std::vector<std::string>{"spec.toml"});
  }
}

TEST(Hygiene, OpensNoFileForWritingInAProgramThatIsNoRank) {
  if (!on_path("strace")) FAIL() << "strace is missing: scripts/install_deps.sh --test";
  const ScratchFolder scratch;
  Job job{.command = {"strace", "-f", "-e", "trace=openat,open,creat,clone,clone3,mmap,socket,memfd_create", "-o",
                      scratch / "trace", "-E", "LD_PRELOAD=" + shim_path(), "-E", "PROFSHIM=1", "-E",
                      "PROFSHIM_RANKS=all", "-E", "LC_ALL=C", "/bin/ls", "/"}};
  job.preload = false;

  const Outcome outcome = run(job);

  ASSERT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const std::string trace = text_of_file(scratch / "trace");
  EXPECT_NE(trace.find("libprofshim.so"), std::string::npos) << "the library was not loaded:\n" << trace;
  for (const char* forbidden :
       {"O_WRONLY", "O_RDWR", "O_CREAT", "clone(", "clone3(", "MAP_SHARED", "socket(", "memfd_create("})
    EXPECT_EQ(trace.find(forbidden), std::string::npos) << forbidden << " in\n" << trace;
}

}  // namespace
}  // namespace profshim::e2e
