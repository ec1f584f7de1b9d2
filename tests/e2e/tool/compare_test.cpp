#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <regex>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/runner_hints.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "unit/trace/sample_trace.h"

namespace profshim::e2e {
namespace {

void stay_on_two_cpus() {
  cpu_set_t allowed, two;
  CPU_ZERO(&two);
  sched_getaffinity(0, sizeof allowed, &allowed);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&two) < 2; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &two);
  }
  sched_setaffinity(0, sizeof two, &two);
}

/// Keeps the CPUs of stay_on_two_cpus() busy.
class Neighbors {
 public:
  explicit Neighbors(int count) {
    for (int i = 0; i < count; ++i) {
      const pid_t pid = fork();
      if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        stay_on_two_cpus();
        for (;;) asm volatile("");
      }
      pids_.push_back(pid);
    }
  }
  ~Neighbors() {
    for (const pid_t pid : pids_) kill(pid, SIGKILL);
    for (const pid_t pid : pids_) waitpid(pid, nullptr, 0);
  }
  Neighbors(const Neighbors&) = delete;
  Neighbors& operator=(const Neighbors&) = delete;

 private:
  std::vector<pid_t> pids_;
};

std::string record(const ScratchFolder& scratch, const std::string& name, int extra = 0, int microseconds = 3000,
                   int ranks = 2, int rounds = 0) {
  const std::string folder = scratch / name;
  Job job = mpirun(Mpi::kOpenMpi, ranks,
                   {built("tests/apps/openmpi/steps_loop"), "26", std::to_string(microseconds), std::to_string(extra),
                    std::to_string(rounds)});
  job.folder = scratch.path();
  if (rounds > 0) job.before_exec = stay_on_two_cpus;
  job.environment.emplace_back(
      "PROFSHIM_SPEC",
      scratch.write(name + ".toml",
                    "version = 1\n[ranks]\nselect = \"all\"\n[steps]\nsource = \"collective\"\npattern = "
                    "\"MPI_Barrier\"\n[schedule]\nskip_first = 2\nwarmup = 1\nactive = 20\n[output]\nfolder = \"" +
                        folder + "\"\n"));
  const Outcome outcome = run(job);
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(traces_below(folder).size(), static_cast<std::size_t>(ranks));
  return folder;
}

RUNS_ALONE(Compare.Finds*);
RUNS_ALONE(Compare.NeighborsOnTheMachineFailNoRun);
RUNS_ALONE(Compare.WithoutStepsTheWholeWindowCounts);

TEST(Compare, FindsOneMoreReductionInEachStep) {
  const ScratchFolder scratch;
  const std::string base = record(scratch, "base"), more = record(scratch, "more", 1);

  const Outcome text = profshim({"compare", base, more});
  const Outcome json = profshim(
      {"compare", base, more, "--json", "--junit", scratch / "report.xml", "--markdown", scratch / "report.md"});

  EXPECT_EQ(text.ending(), "exit 1") << text.err;
  // The widths of the columns depend on the measured times.
  const std::regex row("REGRESSION +call +MPI_Allreduce +1 -> 2 +0-1 +20 of 20 steps\n");
  EXPECT_TRUE(std::regex_search(text.out, row)) << text.out;
  EXPECT_EQ(json.ending(), "exit 1") << json.err;
  rapidjson::Document document;
  document.Parse(json.out.c_str());
  ASSERT_TRUE(document.IsObject()) << json.out;
  EXPECT_TRUE(document["failed"].GetBool());
  const auto& worst = document["changes"][0];
  EXPECT_STREQ(worst["verdict"].GetString(), "regression");
  EXPECT_STREQ(worst["name"].GetString(), "MPI_Allreduce");
  EXPECT_EQ(worst["before"].GetDouble(), 1);
  EXPECT_EQ(worst["after"].GetDouble(), 2);
  const std::string markdown = text_of_file(scratch / "report.md");
  EXPECT_NE(markdown.find("| **regression** | call | `MPI_Allreduce` | 1 -> 2 | 0-1 |"), std::string::npos) << markdown;
  const Outcome parsed =
      run(shell("python3 -c 'import sys, xml.etree.ElementTree as t; r = t.parse(sys.argv[1]).getroot(); "
                "c = list(r.iter(\"testcase\")); assert len(c) == int(r.get(\"tests\")); "
                "f = list(r.iter(\"failure\")); assert len(f) == int(r.get(\"failures\")) >= 1; "
                "print([x.get(\"name\") for x in c if x.find(\"failure\") is not None][0])' " +
                (scratch / "report.xml")));
  EXPECT_EQ(parsed.out, "MPI_Allreduce\n") << parsed.err << text_of_file(scratch / "report.xml");
}

TEST(Compare, FindsNoDifferenceInTenRunsOfOneProgram) {
  const ScratchFolder scratch;
  const std::string first = record(scratch, "run0");
  for (int i = 1; i < 10; ++i) {
    const std::string again = record(scratch, "run" + std::to_string(i));

    const Outcome outcome = profshim({"compare", first, again});

    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.out << outcome.err;
  }
}

TEST(Compare, FindsSlowerSteps) {
  const ScratchFolder scratch;
  const std::string base = record(scratch, "base", 0, 2000), slow = record(scratch, "slow", 0, 150000);

  const Outcome outcome = profshim({"compare", base, slow});

  EXPECT_EQ(outcome.ending(), "exit 1") << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("REGRESSION  time  step time"), std::string::npos) << outcome.out;
}

TEST(Compare, NeighborsOnTheMachineFailNoRun) {
  const ScratchFolder scratch;
  const std::string base = record(scratch, "base", 0, 0, 2, 400);
  std::string busy[3];
  {
    const Neighbors neighbors(4);
    for (int i = 0; i < 3; ++i) busy[i] = record(scratch, "busy" + std::to_string(i), 0, 0, 2, 400);
  }

  for (const std::string& folder : busy) {
    const Outcome outcome = profshim({"compare", base, folder});
    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.out << outcome.err;
  }
}

TEST(Compare, StoredBaselineGivesTheSameResultAsItsRun) {
  const ScratchFolder scratch;
  const std::string base = record(scratch, "base"), more = record(scratch, "more", 1);
  const std::string stored = scratch / "base.json";

  const Outcome update = profshim({"compare", "--update-baseline", stored, base});

  EXPECT_EQ(update.ending(), "exit 0") << update.err;
  EXPECT_EQ(profshim({"compare", stored, base}).ending(), "exit 0");
  EXPECT_EQ(profshim({"compare", stored, more}).out, profshim({"compare", base, more}).out);
  const Outcome mixed = profshim({"compare", "--update-baseline", stored, base, more});
  EXPECT_EQ(mixed.ending(), "exit 2");
  EXPECT_NE(mixed.err.find("MPI_Allreduce"), std::string::npos) << mixed.err;
}

TEST(Compare, ChecksRulesOfASpecWithoutABase) {
  const ScratchFolder scratch;
  const std::string folder = record(scratch, "run", 1);
  const auto check = [&](const std::string& rules) {
    return profshim({"compare", "--spec", scratch.write("ci.toml", "version = 1\n" + rules), folder});
  };
  const std::string rule = "[[check.rule]]\nmetric = \"calls_per_step\"\nname = \"MPI_Allreduce\"\n";

  const Outcome fine = check("[check]\nmin_traces = 2\nranks = \"all\"\ncomplete = true\n" + rule + "max = 2\n");
  const Outcome broken = check(rule + "max = 1\n");
  const Outcome few = check("[check]\nmin_traces = 8\n");
  const Outcome wrong = check("[[check.rule]]\nmetric = \"calls_per_stp\"\nmax = 1\n");

  EXPECT_EQ(fine.ending(), "exit 0") << fine.out << fine.err;
  EXPECT_EQ(broken.ending(), "exit 1") << broken.out << broken.err;
  EXPECT_NE(broken.out.find("ci.toml:2: 2 is more than max = 1"), std::string::npos) << broken.out;
  EXPECT_EQ(few.ending(), "exit 1") << few.out;
  EXPECT_EQ(wrong.ending(), "exit 2");
  EXPECT_EQ(wrong.err.rfind(scratch / "ci.toml:3:10: check.rule: ", 0), 0u) << wrong.err;
}

TEST(Compare, WithoutStepsTheWholeWindowCounts) {
  const ScratchFolder scratch;
  const auto record_all = [&](const std::string& name, const std::string& steps) {
    Job job = mpirun(Mpi::kOpenMpi, 2, {built("tests/apps/openmpi/allreduce_loop"), steps});
    job.folder = scratch.path();
    job.environment.emplace_back("PROFSHIM_SPEC", scratch.write(name + ".toml", record_all_spec(scratch / name)));
    EXPECT_EQ(run(job).ending(), "exit 0");
    return scratch / name;
  };
  const std::string base = record_all("base", "10"), same = record_all("same", "10"), more = record_all("more", "11");

  EXPECT_EQ(profshim({"compare", base, same}).ending(), "exit 0") << profshim({"compare", base, same}).out;
  const Outcome outcome = profshim({"compare", base, more});

  EXPECT_EQ(outcome.ending(), "exit 1");
  EXPECT_NE(outcome.out.find("MPI_Allreduce  10 -> 11"), std::string::npos) << outcome.out;
}

void expect_refused(const std::vector<std::string>& paths, const std::string& why) {
  std::vector<std::string> arguments = {"compare"};
  arguments.insert(arguments.end(), paths.begin(), paths.end());

  const Outcome outcome = profshim(arguments);

  EXPECT_EQ(outcome.ending(), "exit 2") << why;
  EXPECT_EQ(outcome.out, "") << why;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_NE(outcome.err.find(why), std::string::npos) << outcome.err;
}

TEST(Compare, SaysInOneLineWhatCannotBeCompared) {
  const ScratchFolder scratch;
  const std::string whole = test::sample_trace();
  const std::string good = scratch.write("good.json", whole);
  std::string packed;
  const auto sink = gzip_sink(std::make_unique<test::MemorySink>(packed), 1, 0);
  sink->write(whole.data(), whole.size());
  sink->close();
  test::SampleOptions later{.first_step = 100}, larger{.world_size = 8}, second{.rank = 1};
  const auto write_run = [&](const std::string& name, const test::SampleOptions& options) {
    return scratch.write(name, test::sample_trace(options));
  };
  const auto of_run = [&](const test::SampleOptions& options, const std::string& run) {
    std::string text = test::sample_trace(options);
    text.insert(text.find("\"truncated\""), "\"run_name\": \"" + run + "\", ");
    return scratch.write(run + ".json", text);
  };
  std::string other_process = whole;
  for (std::size_t at = 0; (at = other_process.find("4711", at)) != std::string::npos;)
    other_process.replace(at, 4, "4712");

  EXPECT_EQ(profshim({"compare", good, good}).ending(), "exit 0") << profshim({"compare", good, good}).err;
  expect_refused({good, scratch / "none.json"}, "no such file");
  expect_refused({good, scratch.write("text.json", "hello\n")}, "text.json: ");
  expect_refused({good, scratch.write("events.json", "{\"traceEvents\": []}")}, "no events");
  expect_refused({good, scratch.write("cut.json.gz", packed.substr(0, packed.size() - 40))}, "cut.json.gz: ");
  expect_refused({good, scratch.write("cut.json", whole.substr(0, whole.size() / 2))}, "cut off");
  expect_refused({good, write_run("later.json", later)}, "no step of rank 0 in common");
  expect_refused({good, write_run("larger.json", larger)}, "of a job of 4 ranks");
  expect_refused({good, write_run("second.json", second)}, "has rank 0");
  expect_refused({good, good, scratch / "larger.json"}, "name the traces of one job");
  expect_refused({good, of_run({}, "one"), of_run(second, "other")}, "is of run one, ");
  expect_refused({good, good, scratch.write("process.json", other_process)}, "of different processes");
  expect_refused({good, scratch.write("base.json", "{\"profshim_baseline\": 1, \"runs\": [{}]}")}, "base.json: ");
  expect_refused({scratch / "base.json", good}, "--update-baseline");
  expect_refused({good}, "name BASE and NEW");
}

TEST(Compare, SaysWhatATraceWithoutDurationsHolds) {
  const ScratchFolder scratch;
  const std::string marks = scratch.write("a.json", R"({"traceEvents": [{"ph": "i", "ts": 1}, {"ph": "C", "ts": 2}]})");
  const std::string slice =
      scratch.write("b.json", R"({"traceEvents": [{"ph": "X", "name": "f", "cat": "cpu_op", "ts": 1, "dur": 2}]})");
  const std::string note = marks + ": none of its 2 events has a duration (1 instant, 1 counter value)";

  const Outcome same = profshim({"compare", marks, marks});
  const Outcome json = profshim({"compare", "--json", marks, marks});
  const Outcome gone = profshim({"compare", slice, marks});
  const Outcome fresh = profshim({"compare", marks, slice});
  const Outcome stored = profshim({"compare", "--update-baseline", scratch / "base.json", marks});

  EXPECT_EQ(same.ending(), "exit 0") << same.err;
  EXPECT_NE(same.out.find(note + "\n"), std::string::npos) << same.out;
  rapidjson::Document document;
  document.Parse(json.out.c_str());
  ASSERT_TRUE(document.IsObject() && document["notes"].Size() == 1) << json.out;
  EXPECT_EQ(document["notes"][0].GetString(), note);
  EXPECT_EQ(gone.ending(), "exit 1") << gone.err;
  EXPECT_NE(gone.out.find("gone"), std::string::npos) << gone.out;
  EXPECT_NE(gone.out.find(note), std::string::npos) << gone.out;
  EXPECT_EQ(fresh.ending(), "exit 1") << fresh.err;
  EXPECT_EQ(stored.ending(), "exit 0") << stored.err;
  EXPECT_EQ(stored.err, "profshim: " + note + "\n");
  EXPECT_EQ(profshim({"compare", scratch / "base.json", marks}).ending(), "exit 0");
}

}  // namespace
}  // namespace profshim::e2e
