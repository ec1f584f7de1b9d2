// scripts/run_tests.sh on programs that only write GoogleTest's report.
#include <gtest/gtest.h>

#include <filesystem>

#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"

namespace profshim::e2e {
namespace {

const std::string kPasses = R"(<testcase name="Passes" result="completed" time="1.5" classname="Fake">
  <properties><property name="cpu_ms" value="500"/></properties></testcase>)";

std::string skipped_for(const std::string& reason) {
  return R"(<testcase name="IsSkipped" result="skipped" time="0" classname="Fake"><skipped message="fake.cpp:1&#x0A;)" +
         reason + R"(&#x0A;"/></testcase>)";
}

struct Ran {
  std::string out, last_line;
  int exit_status;
};

/// `cases` are the test cases of the report, or "" for none. The program ends with `status`.
Ran run_tests(const std::string& cases, int status = 0, const std::string& tests = "Fake.\n  Passes\n  IsSkipped\n") {
  const ScratchFolder scratch;
  scratch.write("tests", tests);
  scratch.write("report", "<testsuites><testsuite>" + cases + "</testsuite></testsuites>");
  const std::string program = scratch.write(
      "program", "#!/bin/sh\ncd " + scratch.path() +
                     "\nfor word; do case $word in\n--gtest_list_tests) cat tests; exit ;;\n"
                     "--gtest_output=xml:*) report=${word#*:} ;; esac; done\n" +
                     (cases.empty() ? "" : "cat report >\"$report\"\n") + "exit " + std::to_string(status) + "\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const Outcome outcome = run({.command = {PROFSHIM_SOURCE_DIR "/scripts/run_tests.sh", program},
                               .environment = {{"PROFSHIM_TEST_RESULTS", scratch / "results"}},
                               .preload = false});
  const std::size_t last = outcome.out.rfind('\n', outcome.out.size() - 2) + 1;
  return {outcome.out, outcome.out.substr(last, outcome.out.size() - 1 - last), outcome.exit_status};
}

TEST(RunTests, AllowedSkipIsCounted) {
  const Ran ran = run_tests(kPasses + skipped_for("/nowhere is not installed"));

  EXPECT_EQ(ran.last_line, "1 passed, 0 failed, 1 skipped") << ran.out;
  EXPECT_EQ(ran.exit_status, 0);
}

TEST(RunTests, SkipForAnUnknownReasonFails) {
  const Ran ran = run_tests(kPasses + skipped_for("it is Saturday"));

  EXPECT_EQ(ran.last_line, "1 passed, 1 failed") << ran.out;
  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_NE(ran.out.find("Fake.IsSkipped must not be skipped here: it is Saturday"), std::string::npos) << ran.out;
}

TEST(RunTests, SkipForAReasonThatDoesNotHoldOnThisMachineFails) {
  const Ran ran = run_tests(kPasses + skipped_for("/bin/sh is not installed"));

  EXPECT_EQ(ran.last_line, "1 passed, 1 failed") << ran.out;
  EXPECT_EQ(ran.exit_status, 1);
}

TEST(RunTests, ProgramWithoutAReportFails) {
  const Ran ran = run_tests("", 3);

  EXPECT_EQ(ran.last_line, "0 passed, 1 failed") << ran.out;
  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_NE(ran.out.find("ended with status 3: Fake.Passes:Fake.IsSkipped"), std::string::npos) << ran.out;
}

TEST(RunTests, CrashAfterTheReportFails) {
  const Ran ran = run_tests(kPasses, 3);

  EXPECT_EQ(ran.last_line, "1 passed, 1 failed") << ran.out;
}

TEST(RunTests, ProgramWithoutTestsFails) {
  const Ran ran = run_tests(kPasses, 0, "");

  EXPECT_EQ(ran.last_line, "0 passed, 1 failed") << ran.out;
  EXPECT_EQ(ran.exit_status, 1);
}

TEST(RunTests, TablesShowWaitingAndCpuTime) {
  const Ran ran = run_tests(kPasses + skipped_for("/nowhere is not installed"));

  EXPECT_NE(ran.out.find("1.5       0.5       1.0\n"), std::string::npos) << ran.out;
}

}  // namespace
}  // namespace profshim::e2e
