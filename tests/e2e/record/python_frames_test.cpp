// Python's frames, read in every interpreter of this machine.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>

#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"

namespace profshim::e2e {
namespace {

namespace fs = std::filesystem;

const std::string kSource = PROFSHIM_SOURCE_DIR;

std::vector<std::string> interpreters_of(const std::vector<int>& minors) {
  std::vector<std::string> found;
  std::set<std::string> known;
  const auto add = [&](const std::string& path) {
    std::error_code ignored;
    if (fs::exists(path, ignored) && known.insert(fs::canonical(path, ignored)).second) found.push_back(path);
  };
  std::vector<std::string> folders = {"/usr/bin", "/usr/local/bin"};
  const char* const home = std::getenv("HOME");
  std::error_code none;
  for (const auto& version :
       fs::directory_iterator(std::string(home != nullptr ? home : "") + "/.pyenv/versions", none))
    folders.push_back(version.path().string() + "/bin");
  for (const std::string& folder : folders) {
    for (const int minor : minors) add(folder + "/python3." + std::to_string(minor));
  }
  return found;
}

/// PROFSHIM_TEST_PYTHONS adds interpreters, separated by colons.
std::vector<std::string> interpreters() {
  auto found = interpreters_of({10, 11, 12, 13, 14});
  const char* const others = std::getenv("PROFSHIM_TEST_PYTHONS");
  std::istringstream named(others != nullptr ? others : "");
  for (std::string path; std::getline(named, path, ':');) found.push_back(path);
  return found;
}

std::string probe() { return PROFSHIM_BUILD_DIR "/tests/apps_stack/libstack_probe.so"; }

#define NEEDS_PROBE() \
  if (!fs::exists(probe())) GTEST_SKIP() << "a library with a sanitizer cannot be loaded by an ordinary interpreter"

Job probing(const std::string& interpreter, const char* script, const ScratchFolder& scratch) {
  return {.command = {interpreter, kSource + "/tests/apps_stack/" + script, probe(), scratch / "spool"},
          // dlopen() loads the library, which needs 3 KiB of static thread-local storage.
          .environment = {{"GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=16384"}},
          .preload = false};
}

/// Runs a script in every interpreter. It prints what differs.
void expect_equal_in_all(const char* script, const char* printed) {
  const auto pythons = interpreters();
  ASSERT_FALSE(pythons.empty());
  for (const std::string& python : pythons) {
    SCOPED_TRACE(python);
    const ScratchFolder scratch;

    const Outcome outcome = run(probing(python, script, scratch));

    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
    EXPECT_EQ(outcome.out, printed);
  }
}

TEST(PythonFrames, EqualThoseOfTheInterpreter) {
  NEEDS_PROBE();
  expect_equal_in_all("frames.py", "547 stacks compared\n");
}

TEST(PythonModules, AreThoseWhoseForwardIsOnTheStack) {
  NEEDS_PROBE();
  expect_equal_in_all("modules.py", "24 stacks compared\n");
}

TEST(PythonFrames, AreRefusedForAnUnknownVersion) {
  NEEDS_PROBE();
  const auto pythons = interpreters_of({6, 7, 8, 9});
  if (pythons.empty()) GTEST_SKIP() << "no such Python";
  for (const std::string& python : pythons) {
    SCOPED_TRACE(python);
    const ScratchFolder scratch;

    const Outcome outcome = run(probing(python, "frames.py", scratch));

    EXPECT_EQ(outcome.ending(), "exit 3") << outcome.err;
    EXPECT_NE(outcome.out.find("is not supported (supported: 3.10 to 3.14, final releases)"), std::string::npos)
        << outcome.out;
  }
}

TEST(PythonFrames, CanBeTakenByThreadsWhileTheInterpreterEnds) {
  NEEDS_PROBE();
  for (const std::string& python : interpreters()) {
    SCOPED_TRACE(python);
    for (int i = 0; i < 5; ++i) {
      const ScratchFolder scratch;

      const Outcome outcome = run(probing(python, "shutdown.py", scratch));

      EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
      EXPECT_EQ(outcome.out, "ends \n");
    }
  }
}

}  // namespace
}  // namespace profshim::e2e
