#include <gtest/gtest.h>
#include <sys/stat.h>

#include "e2e/support/built_programs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

Outcome doctor(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "doctor");
  return profshim(arguments);
}

testing::AssertionResult says(const Outcome& outcome, const std::string& text) {
  if (outcome.out.find(text) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "\"" << text << "\" is not in:\n" << outcome.out << outcome.err;
}

std::string compiled(const ScratchFolder& scratch, const std::string& name, const std::string& options,
                     const std::string& text = "int main(void) { return 0; }\n") {
  const std::string source = scratch.write(name + ".c", text);
  const Outcome outcome =
      run(Job{.command = {"/bin/sh", "-c", "cc " + options + " -o " + (scratch / name) + " " + source + " -ldl"},
              .preload = false});
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  return scratch / name;
}

TEST(Doctor, TellsAboutTheMachine) {
  const Outcome outcome = doctor({});

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.out << outcome.err;
  for (const char* subject : {"library", "clock", "/dev/shm", "glibc", "NVTX_INJECTION64_PATH"})
    EXPECT_TRUE(says(outcome, subject));
}

TEST(Doctor, ExaminesTheLibraryThatRunWouldLoad) {
  Job job{.command = {tool_path(), "doctor"},
          .environment = {{"PROFSHIM_LIBRARY", "/nowhere/libprofshim.so"}},
          .preload = false};

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 1");
  EXPECT_TRUE(says(outcome, "cannot read /nowhere/libprofshim.so; set PROFSHIM_LIBRARY to "));
}

TEST(Doctor, NamesTheSubscriberOfNvtx) {
  Job job{.command = {tool_path(), "doctor"},
          .environment = {{"NVTX_INJECTION64_PATH", "/opt/other.so"}},
          .preload = false};

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 1");
  EXPECT_TRUE(says(outcome, "/opt/other.so"));
}

TEST(Doctor, AChainedSubscriberOfNvtxIsNoLoss) {
  Job job{.command = {tool_path(), "doctor"},
          .environment = {{"NVTX_INJECTION64_PATH", "/opt/other.so"}, {"PROFSHIM_NVTX_CHAIN", "1"}},
          .preload = false};

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.out;
  EXPECT_TRUE(says(outcome, "/opt/other.so receives the NVTX ranges, too"));
}

TEST(Doctor, ExaminesTheProgramBehindTheLauncher) {
  const Outcome outcome =
      doctor({"--", "mpirun", "--mca", "btl", "self", "-n", "2", "-x", "A=1", "env", "B=2", built("demo/heat"), "40"});

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.out << outcome.err;
  EXPECT_TRUE(says(outcome, "build/demo/heat"));
  EXPECT_TRUE(says(outcome, "Open MPI"));
  EXPECT_TRUE(says(outcome, "MPI_Allreduce"));
  EXPECT_TRUE(says(outcome, "NVTX"));
}

TEST(Doctor, KnowsMpich) {
  const Outcome outcome = doctor({"--", built("tests/apps_ending/mpich/ending")});

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.out << outcome.err;
  EXPECT_TRUE(says(outcome, "MPICH"));
}

TEST(Doctor, AStaticProgramCannotBeRecorded) {
  const ScratchFolder scratch;

  const Outcome outcome = doctor({"--", compiled(scratch, "static", "-static")});

  EXPECT_EQ(outcome.ending(), "exit 1");
  EXPECT_TRUE(says(outcome, "statically linked"));
}

TEST(Doctor, ASetUserIdProgramCannotBeRecorded) {
  const ScratchFolder scratch;
  const std::string program = compiled(scratch, "setuid", "");
  ASSERT_EQ(chmod(program.c_str(), 04755), 0);

  const Outcome outcome = doctor({"--", program});

  EXPECT_EQ(outcome.ending(), "exit 1");
  EXPECT_TRUE(says(outcome, "LD_PRELOAD"));
}

TEST(Doctor, AProgramWithoutMpiNeverBecomesARank) {
  const ScratchFolder scratch;

  const Outcome outcome = doctor({"--", compiled(scratch, "plain", "")});

  EXPECT_EQ(outcome.ending(), "exit 1");
  EXPECT_TRUE(says(outcome, "not linked"));
}

TEST(Doctor, ReportsMpiLinkedIntoTheProgram) {
  const ScratchFolder scratch;
  const std::string text =
      "int MPI_Init(int *a, char ***b) { (void)a; (void)b; return 0; }\nint main(void) { return MPI_Init(0, 0); }\n";

  const Outcome outcome = doctor({"--", compiled(scratch, "inside", "", text)});

  EXPECT_EQ(outcome.ending(), "exit 1");
  EXPECT_TRUE(says(outcome, "statically linked into the program"));
}

TEST(Doctor, ExaminesTheInterpreterOfAScript) {
  const ScratchFolder scratch;
  const std::string script = scratch.write("train.py", "#!/usr/bin/python3\nfrom mpi4py import MPI\n");
  ASSERT_EQ(chmod(script.c_str(), 0755), 0);

  const Outcome direct = doctor({"--", script});
  const Outcome behind_torchrun = doctor({"--", "torchrun", "--nproc-per-node", "4", script});

  EXPECT_TRUE(says(direct, "depends on what the program imports"));
  EXPECT_TRUE(says(direct, "mentions mpi4py"));
  if (on_path("torchrun")) {
    EXPECT_TRUE(says(behind_torchrun, "mentions mpi4py"));
  } else {
    EXPECT_EQ(behind_torchrun.ending(), "exit 2");
  }
}

TEST(Doctor, LooksUpTheStepsOfTheSpec) {
  const ScratchFolder scratch;
  const std::string good =
      scratch.write("good.toml", "version = 1\n[steps]\nsource = \"symbol\"\npattern = \"heat_step\"\n");
  const std::string bad =
      scratch.write("bad.toml", "version = 1\n[steps]\nsource = \"symbol\"\npattern = \"heat_stepp\"\n");

  const Outcome found = doctor({"--spec", good, "--", built("demo/heat")});
  const Outcome missing = doctor({"--spec", bad, "--", built("demo/heat")});

  EXPECT_EQ(found.ending(), "exit 0") << found.out << found.err;
  EXPECT_TRUE(says(found, "heat_step in"));
  EXPECT_EQ(missing.ending(), "exit 1");
  EXPECT_TRUE(says(missing, "no function matches steps.pattern \"heat_stepp\""));
}

TEST(Doctor, LooksUpTheFunctionsOfPhases) {
  const ScratchFolder scratch;
  const std::string spec = scratch.write("phases.toml",
                                         "version = 1\n[[phase]]\nname = \"work\"\nsymbol = \"heat_step\"\n[[phase]]\n"
                                         "name = \"other\"\nsymbol = \"heat_stepp\"\n");

  const Outcome outcome = doctor({"--spec", spec, "--", built("demo/heat")});

  EXPECT_TRUE(says(outcome, "phase work")) << outcome.out;
  EXPECT_TRUE(says(outcome, "heat_step in"));
  EXPECT_TRUE(says(outcome, "no function matches symbol \"heat_stepp\""));
}

TEST(Doctor, WritesJson) {
  const Outcome outcome = doctor({"--json", "--", built("demo/heat")});

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(json_member(outcome.out, "program"), built("demo/heat"));
  EXPECT_NE(json_member(outcome.out, "notes").find("\"recorded\""), std::string::npos);
}

TEST(Doctor, AMissingProgramIsAnError) {
  const Outcome outcome = doctor({"--", "no-such-program-anywhere"});

  EXPECT_EQ(outcome.ending(), "exit 2");
  EXPECT_NE(outcome.err.find("no-such-program-anywhere"), std::string::npos);
}

TEST(Doctor, SearchesAFolderTwiceOnThePathOnce) {
  const ScratchFolder scratch;
  Job job = shell("mkdir bin; ln -s bin again; cp /bin/true bin/srun; PATH=$PWD/bin:$PWD/again:$PWD/bin " +
                  tool_path() + " doctor");
  job.folder = scratch.path();
  job.preload = false;

  const Outcome outcome = run(job);

  const std::size_t first = outcome.out.find("/srun");
  ASSERT_NE(first, std::string::npos) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.out.find("/srun", first + 1), std::string::npos) << outcome.out;
}

constexpr char kStubMpi[] = "int MPI_Init(int* c, char*** v) { (void)c; (void)v; return 0; }\n";
constexpr char kUserOfMpi[] = "int MPI_Init(int*, char***);\nint main(void) { return MPI_Init(0, 0); }\n";

TEST(Doctor, FindsALibraryInAFolderWithABlank) {
  const ScratchFolder scratch;
  const std::string library = compiled(scratch, "libmpi.so.40", "-shared -fPIC -Wl,-soname,libmpi.so.40", kStubMpi);
  const std::string program = compiled(scratch, "user", "-Wl,--no-as-needed " + library, kUserOfMpi);
  run(shell("mkdir '" + (scratch / "a b") + "' && mv " + library + " '" + (scratch / "a b") + "/'"));

  const Outcome outcome = run(Job{.command = {tool_path(), "doctor", "--", program},
                                  .environment = {{"LD_LIBRARY_PATH", scratch / "a b"}},
                                  .preload = false});

  EXPECT_TRUE(says(outcome, "/a b/libmpi.so.40"));
  EXPECT_EQ(outcome.out.find("will not become an MPI rank"), std::string::npos) << outcome.out;
}

TEST(Doctor, FindsALibraryThatIsNamedByItsPath) {
  const ScratchFolder scratch;
  const std::string library = compiled(scratch, "libmpi.so.40", "-shared -fPIC", kStubMpi);
  const std::string program = compiled(scratch, "user", "-Wl,--no-as-needed " + library, kUserOfMpi);

  EXPECT_TRUE(says(doctor({"--", program}), "Open MPI (" + library + ")"));
}

// An argument of a Python module may be a huge file or a pipe without a writer.
TEST(Doctor, ReadsNoDataOfAPythonModule) {
  const ScratchFolder scratch;
  const std::string python = "/usr/bin/python3";
  const std::string data = scratch.write("data.bin", "import mpi4py");

  const Outcome module = doctor({"--", python, "-m", "module", data});
  const Outcome script = doctor({"--", python, "-u", data});
  const Outcome pipe = run(shell("mkfifo " + (scratch / "pipe") + "; timeout 10 " + tool_path() + " doctor -- " +
                                 python + " " + (scratch / "pipe")));

  EXPECT_EQ(module.out.find("data.bin"), std::string::npos) << module.out;
  EXPECT_TRUE(says(script, "data.bin: mentions mpi4py"));
  EXPECT_NE(pipe.ending(), "exit 124");
}

// The mangled name is f(A<int, int>, A<S0_, S0_>, ...): each parameter is twice as long as the parameter before.
TEST(Doctor, LeavesANameThatExpandsToGigabytes) {
  const ScratchFolder scratch;
  std::string name = "_Z1f1AIiiE";
  for (const char i : std::string("0123456789ABCDEFGHIJKLMNOPQRSTUV")) {
    const std::string before = std::string("S") + i + "_";
    name += "S_I" + before + before + "E";
  }
  const std::string program =
      compiled(scratch, "bomb", "-rdynamic",
               "void f(void) __asm__(\"" + name + "\");\nvoid f(void) {}\nint main(void) { f(); return 0; }\n");
  const std::string spec = scratch.write("s.toml", "version = 1\n[steps]\nsource = \"symbol\"\npattern = \"f*\"\n");
  Job job = shell("timeout 10 " + tool_path() + " doctor --spec " + spec + " -- " + program);
  job.preload = false;

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 1") << outcome.err;  // doctor reports: the program is no rank
}

constexpr char kUserOfDlsym[] =
    "#define _GNU_SOURCE\n#include <dlfcn.h>\n"
    "int main(int c, char** v) { void* h = dlopen(v[c - 1], RTLD_NOW); return dlsym(h, \"MPI_Init\") != 0; }\n";

TEST(Doctor, TellsThatCallsFoundByDlsymAreRecorded) {
  const ScratchFolder scratch;
  const std::string program = compiled(scratch, "loader", "-O1", kUserOfDlsym);

  const Outcome outcome = doctor({"--", program});

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.out;
  EXPECT_TRUE(says(outcome, "if the program loads it with dlopen, its calls are recorded, by name and by dlsym"));
  EXPECT_TRUE(says(outcome, "RTLD_DEEPBIND"));
}

TEST(Doctor, TellsThatCallsFoundByDlsymAreNotRecordedIfThatIsSwitchedOff) {
  const ScratchFolder scratch;
  const std::string program = compiled(scratch, "loader", "-O1", kUserOfDlsym);

  const Outcome outcome = run(Job{
      .command = {tool_path(), "doctor", "--", program}, .environment = {{"PROFSHIM_DLSYM", "0"}}, .preload = false});

  EXPECT_EQ(outcome.ending(), "exit 1") << outcome.out;
  EXPECT_TRUE(says(outcome, "its calls by name are recorded"));
  EXPECT_TRUE(says(outcome, "that the program looks up by a handle (PROFSHIM_DLSYM is 0)"));
}

TEST(Doctor, TellsThatLibrariesOfOtherNamespacesAreNotSeen) {
  const ScratchFolder scratch;
  const std::string program =
      compiled(scratch, "loader", "-O1",
               "#define _GNU_SOURCE\n#include <dlfcn.h>\n"
               "int main(int c, char** v) { return dlmopen(LM_ID_NEWLM, v[c - 1], RTLD_NOW) != 0; }\n");

  const Outcome outcome = doctor({"--", program});

  EXPECT_EQ(outcome.ending(), "exit 1") << outcome.out;
  EXPECT_TRUE(says(outcome, "in libraries that the program opens by dlmopen"));
}

}  // namespace
}  // namespace profshim::e2e
