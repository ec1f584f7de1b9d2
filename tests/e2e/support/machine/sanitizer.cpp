#include "sanitizer.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "e2e/support/scratch_folder.h"

namespace profshim::e2e {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
namespace {

namespace fs = std::filesystem;

// A test that cannot run with a sanitizer in every process.
struct Exception {
  const char* test;  // "Suite.Name" without the prefix of an instantiation
  const char* why;
};
const Exception kExceptions[] = {
    {"Unnoticed.ByTheProgram/address_space", "a sanitizer's shadow needs terabytes of address space"},
    {"Hygiene.AbortBeforeOurConstructorIsAnAbort", "a sanitizer's runtime is not up yet where this program aborts"},
    {"GpuWindow.MillionLaunchesStayWithinTheMemoryLimit", "a sanitizer keeps what has been freed"},
    {"TorchStacks.NameFunctionsAndLinesOfTheScript", "a sanitizer's runtime has unwinder functions of its own"},
    {"TorchStacks.AreNotTakenByDefault", "a sanitizer's runtime has unwinder functions of its own"},
    {"TorchStacks.NativeStacksNameFunctionsAndLeaveExceptionsAlone",
     "a sanitizer's runtime has unwinder functions of its own"},
    {"TorchMemory.EqualsThatOfTorchsProfiler/too_much", "a sanitizer's allocator reports what it cannot give"},
    {"TorchMemoryAlone.FailedAllocationsAreShown", "a sanitizer's allocator reports what it cannot give"},
    {"Environments.LeaveTheJobUnchangedAndLossesAreReported/ulimit_v_openmpi",
     "a sanitizer's shadow needs terabytes of address space"},
    {"Environments.LeaveTheJobUnchangedAndLossesAreReported/ulimit_v_mpich",
     "a sanitizer's shadow needs terabytes of address space"},
    {"Environments.LeaveTheJobUnchangedAndLossesAreReported/ulimit_v_small_openmpi",
     "a sanitizer's shadow needs terabytes of address space"},
    {"Environments.LeaveTheJobUnchangedAndLossesAreReported/ulimit_v_small_mpich",
     "a sanitizer's shadow needs terabytes of address space"},
    {"Environments.LeaveTheJobUnchangedAndLossesAreReported/ulimit_d_openmpi",
     "a sanitizer's shadow needs terabytes of address space"},
    {"Environments.LeaveTheJobUnchangedAndLossesAreReported/ulimit_d_mpich",
     "a sanitizer's shadow needs terabytes of address space"},
    {"Environments.LeaveTheJobUnchangedAndLossesAreReported/no_proc_openmpi", "a sanitizer's runtime reads /proc"},
    {"Environments.LeaveTheJobUnchangedAndLossesAreReported/no_proc_mpich", "a sanitizer's runtime reads /proc"},
    {"Seccomp.RefusedCallsLeaveTheJobUnchangedAndLossesAreReported/munmap_EPERM_openmpi",
     "a sanitizer's runtime needs munmap()"},
    {"Seccomp.RefusedCallsLeaveTheJobUnchangedAndLossesAreReported/munmap_EPERM_mpich",
     "a sanitizer's runtime needs munmap()"},
    {"Seccomp.RefusedCallsLeaveTheJobUnchangedAndLossesAreReported/munmap_ENOSYS_openmpi",
     "a sanitizer's runtime needs munmap()"},
    {"Seccomp.RefusedCallsLeaveTheJobUnchangedAndLossesAreReported/munmap_ENOSYS_mpich",
     "a sanitizer's runtime needs munmap()"},
    {"HostMemory.IsNeverExceeded/settings_0", "a sanitizer keeps what has been freed"},
    {"HostMemory.IsNeverExceeded/settings_1", "a sanitizer keeps what has been freed"},
    {"HostMemory.IsNeverExceeded/settings_2", "a sanitizer keeps what has been freed"},
    {"HostMemory.IsNeverExceeded/settings_3", "a sanitizer keeps what has been freed"},
};

std::string reports_folder() {
  static const ScratchFolder folder;
  return folder.path();
}

// A sanitizer must not change how the job ends, so it handles no signals and ignores leaks.
void set_options() {
  const std::string common = "log_path=" + reports_folder() +
                             "/report:handle_abort=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:"
                             "handle_sigtrap=0:use_sigaltstack=0:allow_user_segv_handler=1:exitcode=99";
  const std::string job = ":suppressions=" PROFSHIM_SOURCE_DIR "/tests/e2e/support/job_faults.supp";
  setenv("ASAN_OPTIONS", (common + job + ":detect_leaks=0:verify_asan_link_order=0").c_str(), 1);
  setenv("UBSAN_OPTIONS", (common + ":print_stacktrace=1").c_str(), 1);
  setenv("TSAN_OPTIONS", (common + ":halt_on_error=0:report_thread_leaks=0").c_str(), 1);
}

std::string take_reports() {
  std::string reports;
  for (const auto& entry : fs::directory_iterator(reports_folder())) {
    reports += entry.path().filename().string() + ":\n" + text_of_file(entry.path()) + "\n";
    fs::remove(entry.path());
  }
  return reports;
}

class Sanitized : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& info) override {
    const std::string suite = info.test_suite_name();
    const std::string test =
        suite.substr(suite.find('/') == std::string::npos ? 0 : suite.find('/') + 1) + "." + info.name();
    for (const Exception& exception : kExceptions) {
      if (test != exception.test) continue;
      std::printf("   skipped %s: %s\n", test.c_str(), exception.why);
      GTEST_SKIP() << exception.why;
    }
  }
  void OnTestEnd(const testing::TestInfo&) override {
    if (const std::string reports = take_reports(); !reports.empty()) ADD_FAILURE() << reports;
  }
};

[[maybe_unused]] const bool kPrepared = [] {
  set_options();
  testing::UnitTest::GetInstance()->listeners().Append(new Sanitized);
  return true;
}();

}  // namespace

std::string sanitizer_preload() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const auto slash = line.find('/');
    if (slash == std::string::npos) continue;
    for (const char* runtime : {"/libasan.so", "/libtsan.so"})
      if (line.find(runtime, slash) != std::string::npos) return line.substr(slash) + ":";
  }
  return "";
}

#else

std::string sanitizer_preload() { return ""; }

#endif

}  // namespace profshim::e2e
