#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <regex>

#include "e2e/support/built_programs.h"
#include "e2e/support/machine/locales.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

constexpr const char* kSpec = R"(version = 1
[profile]
log_level = "info"
[ranks]
select = "all"
[steps]
source = "none"
[limits]
window_seconds = 1234.5
[system]
interval_seconds = 0.0125
[output]
folder = "traces"
gzip = false
)";

Job job_in(Mpi mpi, const std::string& how, const std::string& locale, const ScratchFolder& scratch) {
  Job job = mpirun(mpi, 1, {built("tests/apps_locale/" + to_string(mpi) + "/mpi_calls"), how, locale});
  job.folder = scratch.path();
  job.environment.push_back(in_locale(locale)[1]);
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", kSpec));
  return job;
}

// UCX, which Debian's MPICH uses, compares "diag" with "DIAG" without case, so that no job starts in Turkish.
bool starts_in(Mpi mpi, const std::string& how, const std::string& locale) {
  return mpi != Mpi::kMpich || locale != "tr_TR.UTF-8" || how == "switch";
}

void expect_valid_json_below(const std::string& folder) {
  int files = 0;
  for (const std::string& file : files_below(folder)) {
    if (!file.ends_with(".json")) continue;
    ++files;
    rapidjson::Document json;
    json.Parse<rapidjson::kParseValidateEncodingFlag>(text_of_file(folder + "/" + file).c_str());
    EXPECT_FALSE(json.HasParseError()) << file << ": byte " << json.GetErrorOffset();
  }
  EXPECT_EQ(files, 3) << "a trace, a summary and a manifest";
}

void expect_numbers(const SeenTrace& trace, int allreduces) {
  EXPECT_TRUE(trace.readable) << trace.error;
  EXPECT_EQ(trace.calls("MPI_Allreduce").size(), static_cast<std::size_t>(allreduces));
  const std::string spec = trace.property("spec");
  EXPECT_NE(spec.find("window_seconds = 1234.5\n"), std::string::npos) << spec;
  EXPECT_NE(spec.find("interval_seconds = 0.0125\n"), std::string::npos) << spec;
  const double rate = std::stod(json_member(trace.property("clock"), "ticks_per_ns"));
  EXPECT_GT(rate, 0.001);
  EXPECT_LE(rate, 1000);
}

// The library's lines are ASCII here; a decimal comma stands between digits.
void expect_plain_lines(const Outcome& outcome) {
  const std::regex not_plain("[0-9],[0-9]|[^ -~]");
  EXPECT_FALSE(outcome.shim_lines().empty());
  for (const std::string& line : outcome.shim_lines()) EXPECT_FALSE(std::regex_search(line, not_plain)) << line;
}

class LocaleOfAJob : public testing::TestWithParam<std::pair<const char*, int>> {};

TEST_P(LocaleOfAJob, ChangesNoFileAndStaysTheJobs) {
  const auto [how, allreduces] = GetParam();
  for (const Mpi mpi : installed_mpis()) {
    for (const std::string locale : kOtherLocales) {
      if (!starts_in(mpi, how, locale)) continue;
      SCOPED_TRACE(to_string(mpi) + " " + locale);
      const ScratchFolder scratch;

      const Both both = run_both(job_in(mpi, how, locale, scratch));

      expect_same(both);
      expect_plain_lines(both.with);
      expect_valid_json_below(scratch / "traces");
      const auto traces = read_folder(scratch / "traces");
      ASSERT_EQ(traces.size(), 1u) << both.with.err;
      expect_numbers(traces[0], allreduces);
      EXPECT_EQ(profshim({"verify", scratch / "traces"}).ending(), "exit 0");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(How, LocaleOfAJob,
                         testing::Values(std::pair("global", 120), std::pair("stream", 120), std::pair("thread", 160),
                                         std::pair("switch", 120)),
                         [](const auto& row) { return row.param.first; });

// A file name that is no UTF-8 there, and a message of the C library that is not ASCII: "Répertoire" begins with one.
TEST(LocaleOfAnError, LeavesTheManifestValid) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;
    Job job = job_in(mpi, "global", "fr_FR.ISO-8859-1", scratch);
    scratch.write("occupied", "");
    job.environment.emplace_back("PROFSHIM_SET", "output.folder=occupied/below");

    const Outcome outcome = run(job);

    EXPECT_EQ(outcome.ending(), "exit 0");
    expect_plain_lines(outcome);
    EXPECT_NE(outcome.err.find("Not a directory"), std::string::npos) << outcome.err;
  }
}

// In Turkish, "I" is not the capital of "i".
TEST(LocaleOfTheEnvironment, ChangesNoWord) {
  for (const std::string value : {"0", "FALSE", "No", "OFF"}) {
    const ScratchFolder scratch;
    Job job = job_in(installed_mpis().front(), "global", "tr_TR.UTF-8", scratch);
    job.environment.emplace_back("LC_ALL", "tr_TR.UTF-8");
    job.environment.emplace_back("PROFSHIM", value);
    job.environment.emplace_back("LD_PRELOAD", set_locale_library() + ":" + shim_path());

    EXPECT_EQ(run(job).ending(), "exit 0");

    EXPECT_TRUE(traces_below(scratch.path()).empty()) << value;
  }
}

}  // namespace
}  // namespace profshim::e2e
