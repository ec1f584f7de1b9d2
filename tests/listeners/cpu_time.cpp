// Adds the property "cpu_ms" to each test in the XML report: CPU time of the test and of the processes that it waited
// for. scripts/run_tests.sh prints it. A process that outlives its parent is not counted.
#include <gtest/gtest.h>
#include <sys/resource.h>

namespace profshim::test {
namespace {

double milliseconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
}

double cpu_ms() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    sum += milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
  }
  return sum;
}

class CpuTime : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override { start_ms_ = cpu_ms(); }
  void OnTestEnd(const testing::TestInfo&) override {
    testing::Test::RecordProperty("cpu_ms", static_cast<int>(cpu_ms() - start_ms_));
  }
  double start_ms_ = 0;
};

[[maybe_unused]] const bool kPrepared = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new CpuTime);
  return true;
}();

}  // namespace
}  // namespace profshim::test
