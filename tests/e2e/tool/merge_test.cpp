#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "e2e/consumers/readers.h"
#include "e2e/support/built_programs.h"
#include "e2e/support/merged.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/runner_hints.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {
namespace {

std::vector<std::string> record(const ScratchFolder& scratch, int ranks, const std::vector<std::string>& command) {
  Job job = mpirun(Mpi::kOpenMpi, ranks, command);
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces")));
  const Outcome outcome = run(job);
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  return traces_below(scratch / "traces");
}

RUNS_ALONE(Merge.AlignsShiftedClocks);

TEST(Merge, MergesFourRanksIntoOneTrace) {
  const ScratchFolder scratch;
  const auto paths = record(scratch, 4, {built("tests/apps/openmpi/ring_isend"), "20"});
  ASSERT_EQ(paths.size(), 4u);
  std::size_t events = 0;
  std::map<std::string, int> calls;
  for (const std::string& path : paths) {
    const SeenTrace trace = read_seen(path);
    events += trace.events.size();
    for (const auto& [name, count] : trace.counts()) calls[name] += count;
  }

  const std::string out = scratch / "all.0.pt.trace.json.gz";
  const SeenTrace all = merged(out, {scratch / "traces"});

  const auto found = arrows(all);
  EXPECT_EQ(all.events.size(), events + 2 * found.size());
  EXPECT_EQ(all.counts(), calls);
  std::map<std::int64_t, std::set<std::int64_t>> processes;  // by thread
  std::map<std::int64_t, std::string> names;
  for (const SeenEvent& e : all.events) {
    if (e.phase == "X" && e.pid != 0) processes[e.tid].insert(e.pid);
    if (e.phase == "M" && e.name == "process_name") names[e.pid] = e.args.at("name");
  }
  for (const auto& [tid, pids] : processes) EXPECT_EQ(pids.size(), 1u) << tid;
  ASSERT_EQ(names.size(), 4u);
  for (int rank = 0; rank < 4; ++rank)
    EXPECT_TRUE(names.at(rank * 1000 + 64).starts_with("rank " + std::to_string(rank) + ": ")) << rank;
  const Outcome verified = profshim({"verify", out});
  EXPECT_EQ(verified.ending(), "exit 0") << verified.out;
  for (const char* what : {"--mpi", "--table"}) {
    const Outcome apart = profshim({"summary", what, scratch / "traces"}), together = profshim({"summary", what, out});
    EXPECT_EQ(together.out, apart.out);
    EXPECT_EQ(together.ending(), "exit 0") << together.err;
  }
}

TEST(Merge, EveryMessageHasAnArrow) {
  const ScratchFolder scratch;
  record(scratch, 4, {built("tests/apps/openmpi/ring_isend"), "20"});
  Outcome said;

  const SeenTrace all = merged(scratch / "all.0.pt.trace.json", {scratch / "traces"}, &said);

  int sends = 0, messages = 0;
  for (const auto& [name, count] : all.counts()) sends += name == "MPI_Isend" || name == "MPI_Sendrecv" ? count : 0;
  for (const auto& [id, arrow] : arrows(all)) {
    ASSERT_TRUE(arrow.from != nullptr && arrow.to != nullptr) << id;
    if (arrow.from->name != "message") continue;
    ++messages;
    EXPECT_LE(arrow.from->ts_ns, arrow.to->ts_ns);
    const SeenEvent *const sent = slice_at(all, *arrow.from), *const received = slice_at(all, *arrow.to);
    ASSERT_NE(sent, nullptr) << id;
    ASSERT_NE(received, nullptr) << id;
    EXPECT_TRUE(sent->name == "MPI_Isend" || sent->name == "MPI_Sendrecv") << sent->name;
    const bool completes = received->name == "MPI_Sendrecv" || received->name.starts_with("MPI_Wait") ||
                           received->name.starts_with("MPI_Test");
    EXPECT_TRUE(completes) << received->name;
    EXPECT_EQ(arrow.to->pid / 1000, (arrow.from->pid / 1000 + 1) % 4);
  }
  EXPECT_GT(sends, 100);
  EXPECT_EQ(messages, sends) << said.out;
  EXPECT_EQ(all.property("messages_without_arrows"), "0");
}

TEST(Merge, EveryCollectiveHasArrowsFromItsLastMember) {
  const ScratchFolder scratch;
  record(scratch, 4, {built("tests/apps/openmpi/allreduce_loop"), "20"});

  const SeenTrace all = merged(scratch / "all.0.pt.trace.json", {scratch / "traces"});

  std::map<const SeenEvent*, int> from;
  for (const auto& [id, arrow] : arrows(all)) {
    ASSERT_EQ(arrow.from->name, "collective");
    const SeenEvent *const last = slice_at(all, *arrow.from), *const waited = slice_at(all, *arrow.to);
    ASSERT_TRUE(last != nullptr && waited != nullptr);
    EXPECT_EQ(last->name, waited->name);
    EXPECT_EQ(last->args.at("Seq"), waited->args.at("Seq"));
    EXPECT_NE(last->pid, waited->pid);
    EXPECT_GE(last->ts_ns, waited->ts_ns);
    ++from[last];
  }
  EXPECT_EQ(from.size(), 40u);  // broadcasts have no arrows: no rank waits for all
  for (const auto& [last, arrows] : from) EXPECT_EQ(arrows, 3) << last->name;
}

double median_us(std::vector<const SeenEvent*> calls) {
  const auto middle = calls.begin() + static_cast<std::ptrdiff_t>(calls.size() / 2);
  std::nth_element(calls.begin(), middle, calls.end(),
                   [](const SeenEvent* a, const SeenEvent* b) { return a->duration_ns < b->duration_ns; });
  return static_cast<double>((*middle)->duration_ns) / 1e3;
}

TEST(Merge, AlignsShiftedClocks) {
  const ScratchFolder scratch;
  const auto paths = record(scratch, 2, {built("tests/apps/openmpi/allreduce_loop"), "2000"});
  ASSERT_EQ(paths.size(), 2u);
  // On a busy machine, a rank leaves a collective late more often.
  const SeenTrace first = read_seen(paths[0]);
  const double most_us = std::max(20.0, median_us(first.calls("MPI_Allreduce")));
  std::mt19937_64 random(17);
  std::uniform_real_distribution<double> offset(-1e6, 1e6), drift(-50, 50);
  constexpr int kTrials = 40;
  int within_bound = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const double offset_us = offset(random), drift_ppm = drift(random);
    const Shift shift = write_shifted(paths[1], scratch / "shifted.pt.trace.json", offset_us, drift_ppm);

    const SeenTrace all = merged(scratch / "all.pt.trace.json", {paths[0], scratch / "shifted.pt.trace.json"});

    const Placed second = placed(all, 1, shift);
    EXPECT_EQ(second.clock, "collectives");
    EXPECT_LT(std::fabs(second.mistake_us), most_us) << offset_us << " " << drift_ppm;
    within_bound += std::fabs(second.mistake_us) <= second.error_us;
  }
  EXPECT_GE(within_bound, kTrials * 99 / 100);
}

TEST(Merge, TheSpecOfTheTracesChoosesTheClock) {
  const ScratchFolder scratch;
  Job job = mpirun(Mpi::kOpenMpi, 2, {built("tests/apps/openmpi/allreduce_loop"), "200"});
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces") +
                                                                               "[clock]\nsync = \"anchors\"\n"));
  EXPECT_EQ(run(job).ending(), "exit 0");
  const auto paths = traces_below(scratch / "traces");
  ASSERT_EQ(paths.size(), 2u);
  const std::string shifted = scratch / "shifted.pt.trace.json";
  write_shifted(paths[1], shifted, 1000, 0);

  const std::string out = scratch / "all.pt.trace.json";
  const Outcome of_spec = profshim({"merge", "-o", out, paths[0], shifted});
  EXPECT_NE(of_spec.out.find(" anchors "), std::string::npos) << of_spec.out << of_spec.err;
  const Outcome given = profshim({"merge", "--sync", "collective", "-o", out, paths[0], shifted});
  EXPECT_NE(given.out.find(" collectives "), std::string::npos) << given.out << given.err;
}

TEST(Merge, TracesOfOneHostKeepTheirTimes) {
  const ScratchFolder scratch;
  const auto paths = record(scratch, 2, {built("tests/apps/openmpi/allreduce_loop"), "200"});
  const SeenTrace all = merged(scratch / "all.pt.trace.json", paths);
  std::set<std::int64_t> before, after;
  for (const std::string& path : paths) {
    const SeenTrace trace = read_seen(path);
    for (const SeenEvent* e : trace.calls("MPI_Allreduce")) before.insert(e->ts_ns);
  }
  for (const SeenEvent* e : all.calls("MPI_Allreduce")) after.insert(e->ts_ns);
  EXPECT_EQ(after, before);
}

TEST(Merge, RpcRequestsHaveArrows) {
  NEEDS_RPC();
  const ScratchFolder scratch;
  ASSERT_EQ(run(torch_job(scratch, Launch::kTwoRanks, "rpc/rpc_calls.py", "steps.source=none")).ending(), "exit 0");

  const SeenTrace all = merged(scratch / "all.pt.trace.json", {scratch / "traces"});

  std::set<std::string> called;
  for (const auto& [id, arrow] : arrows(all)) {
    if (arrow.from->name != "rpc") continue;
    const SeenEvent *const sent = slice_at(all, *arrow.from), *const served = slice_at(all, *arrow.to);
    ASSERT_TRUE(sent != nullptr && served != nullptr);
    EXPECT_EQ(served->name, sent->name + "#remote_op");
    called.insert(sent->name);
  }
  EXPECT_TRUE(called.contains("rpc_call#plus(worker0 -> worker1)"));
  EXPECT_TRUE(called.contains("rpc_backward(worker0 -> worker1)"));
}

TEST(Merge, ReadersAcceptTheMergedTrace) {
  const ScratchFolder scratch;
  record(scratch, 2, {built("tests/apps/openmpi/ring_isend"), "5"});
  merged(scratch / "all.0.pt.trace.json", {scratch / "traces"});
  const Outcome strict = ask_reader("strict_json.py", {scratch / "all.0.pt.trace.json"});
  EXPECT_EQ(strict.ending(), "exit 0") << strict.out << strict.err;
}

TEST(Merge, RefusesIncompatibleTracesInOneLine) {
  const ScratchFolder scratch;
  const auto paths = record(scratch, 2, {built("tests/apps/openmpi/allreduce_loop"), "3"});
  const std::string out = scratch / "all.pt.trace.json", none = scratch.write("none.json", "{\"traceEvents\": []}");
  const std::string no_json = scratch.write("no.json", "hello"), cut = scratch / "cut.json.gz";
  {
    std::ofstream gz(cut, std::ios::binary);
    gz << "\x1f\x8b\x08";
  }
  const std::string copy = scratch / "copy.pt.trace.json";
  std::filesystem::copy_file(paths[0], copy);
  // Without baseTimeNanoseconds, times have an arbitrary origin.
  const std::string no_clock = scratch.write(
      "clock.json", R"({"traceEvents": [{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":5.0,"dur":1.0}]})");
  const struct {
    std::vector<std::string> arguments;
    const char* says;
  } kCases[] = {
      {{paths[0]}, "only one trace was given"},
      {{paths[0], paths[0]}, "only one trace was given"},
      {{paths[0], copy}, "both of rank 0"},
      {{paths[0], none}, "no events"},
      {{paths[0], no_json}, "no.json"},
      {{paths[0], cut}, "cut.json.gz"},
      {{paths[0], scratch / "nowhere.json"}, "nowhere.json"},
      {{paths[0], no_clock}, "--assume-clock"},
  };
  for (const auto& row : kCases) {
    std::vector<std::string> arguments = {"merge", "-o", out};
    arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
    const Outcome outcome = profshim(arguments);
    EXPECT_EQ(outcome.ending(), "exit 2") << row.says;
    EXPECT_NE(outcome.err.find(row.says), std::string::npos) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(out));
  }
  EXPECT_EQ(profshim({"merge", "-o", out, paths[0], no_clock, "--assume-clock"}).ending(), "exit 0");
}

TEST(Merge, MergesTheReadablePartOfATruncatedFile) {
  const ScratchFolder scratch;
  const auto paths = record(scratch, 2, {built("tests/apps/openmpi/allreduce_loop"), "3"});
  const std::string whole = text_of_file(paths[1]), out = scratch / "all.pt.trace.json";
  const std::string cut = scratch.write("cut.json", whole.substr(0, whole.size() * 3 / 4));

  const Outcome outcome = profshim({"merge", "-q", "-o", out, paths[0], cut});

  EXPECT_EQ(outcome.ending(), "exit 2");
  EXPECT_EQ(outcome.err, "profshim merge: " + cut + ": the file ends early; the events before its end are merged\n");
  EXPECT_TRUE(read_seen(out).readable);
}

}  // namespace
}  // namespace profshim::e2e
